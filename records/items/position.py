"""Options that speak of other options: they change their meaning when choices are shuffled."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PHRASE = re.compile(
    r"""
    ^\W*(?:[a-z]+\s+)?(?:all|none|any|both|neither|either|each|some|most|one|two|three|[0-9])\b
      (?:\s+[a-z]+){0,3}? \s+(?:of\s+)?(?:the\s+)?(?:above|foregoing|preceding)\b
    | \b(?:all|none|any|both|either|neither) \s+ (?:of\s+)?(?:the\s+)?above\W*$
    | ^\W*(?:all|none|any|both|neither|either|two|three|most|some) \s+ of \s+
      (?:these|those|them|the\s+following|the\s+(?:other\s+)?(?:options|choices|answers))
      (?:\s+ (?:options|choices|answers|statements|alternatives|are|is|apply|correct|true|false
      |right|wrong))* \W*$
    | ^\W*(?:both\s+)?(?:options|choices|answers)\s+\(?[a-j1-9]\)?(?:\s*,|\s+(?:and|or|nor)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LETTERS = re.compile(
    r"""
    ^\W*(?:(?i:both|neither|either|only)\s+)?
    \(?([A-J])\)? (?:\s*,\s*\(?[A-J]\)?)* ,?\s*(?:and|or|nor|&)\s* \(?([A-J])\)?
    (?:\s+(?i:only|above))? (?:\s+are\s+(?i:correct|true|false))? \W*$
    """,
    re.VERBOSE,
)


def position_dependent(choices: Iterable[str]) -> str | None:
    """Find the first option that speaks of other options, such as "All of the above".

    >>> position_dependent(["12", "15", "None of these"]), position_dependent(["A and B", "AB"])
    ('None of these', 'A and B')
    >>> position_dependent(["Vitamin A and E", "None", "all of these changes would help"]) is None
    True
    """
    return next((text for text in choices if _speaks_of_others(text)), None)


def _speaks_of_others(text: str) -> bool:
    return bool(_PHRASE.search(text) or _LETTERS.match(text))
