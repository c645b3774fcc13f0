"""Rule for ``requires_calculation``: numbers given, a quantity asked for."""

from __future__ import annotations

import re

from .wording import Wording

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"\b(?:1[0-9]{3}|20[0-9]{2})s?\b")
_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    r"|fifty|hundred|thousand|million|half|third|quarter|twice|double|triple|dozen|percent)\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\bhow (?:many|much|far|long|fast|old|tall|big|large|heavy|high|deep|wide)\b"
    r"|\b(?:calculate|compute|evaluate|solve|simplify|estimate|find|determine|approximate\w*)\b"
    r"|\bwhat(?:'s| is| are| was| were| will| would| did| does)\b"
    r"|\bwhat (?:\w+ )?(?:percent\w*|fraction|number|amount|distance|price|speed|score|age)\b"
    r"|\b(?:is|are|equals?|=)\W*\Z",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"[=^√∑∫π±×÷]|\$[^$]+\$|\\[a-z]+|\d\s*[-+*/]\s*\d|\bsqrt\b")
_ARITHMETIC = re.compile(
    r"\b(?:calculat\w+|comput\w+|sum|average|total|percent\w*|probabilit\w+|ratio|equations?"
    r"|how many|how much|how long|how far|how old|number|integers?)\b",
    re.IGNORECASE,
)


def requires_calculation(wording: Wording) -> bool | None:
    """Decide by numbers and by what is asked for.

    Returns:
        True when the question gives at least two numbers, asks for a quantity, and its options, if
        it has any, are numbers or formulas; false when nothing in it is a number, a formula or a
        word of arithmetic; none otherwise, and for program code.
    """
    if wording.has_code:
        return None
    given = len(_NUMBER.findall(wording.prose)) + len(_NUMBER_WORD.findall(wording.prose))
    if given >= 2 and _QUANTITY.search(wording.prose) and _answers_are_numbers(wording):
        return True
    text = _YEAR.sub("", " ".join([wording.prose, *wording.choices]))
    traces = (_NUMBER, _NUMBER_WORD, _FORMULA, _ARITHMETIC)
    found = wording.has_inline_options or any(trace.search(text) for trace in traces)
    return None if found else False


def _answers_are_numbers(wording: Wording) -> bool:
    """Whether every option is a number or a formula; true without options."""
    return not wording.has_inline_options and all(
        sum(map(str.isalpha, _FORMULA.sub("", choice))) <= 8 and _NUMBER.search(choice)
        for choice in wording.choices
    )
