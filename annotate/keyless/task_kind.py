"""Rule for ``task_kind``: only the kinds that show in an item's form."""

from __future__ import annotations

import re

from .calculation import requires_calculation
from .wording import Wording

_BLANK = re.compile(r"(?<!\w)_+(?!\w)")
_HOW_TO = re.compile(r"\[(?:header|title|step)\]")
_FRAGMENT = re.compile(r"[a-z\])]{2}[.!?]\s+[a-z][\w']*(?:,? [\w']+){0,4},?\Z")
_OPENS = re.compile(
    r"\A\W*(?:(?:in|on|at|by|for|to|from|of|with|under|during) )?"
    r"(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|has"
    r"|have|should|would|will)\b",
    re.IGNORECASE,
)
_OTHER_TASK = re.compile(
    r"\b(?:more|less|fewer|most|least|larger|smaller|better|worse|higher|lower|\w+est|than|compare\w*"
    r"|order|rank|example of|classified|category|type of|kind of|passage|paragraph)\b",
    re.IGNORECASE,
)


def task_kind(wording: Wording) -> str | None:
    """Decide by form.

    Returns:
        ``code`` for program code; ``coreference`` for a blank and two options that both occur in
        the sentence; ``completion`` for a text that breaks off in mid-sentence after other
        sentences; ``calculation`` where that rule says so; ``question_answering`` for a plain
        interrogative sentence; none otherwise.
    """
    text = wording.question.strip()
    if wording.has_code:
        return "code"
    if _is_coreference(wording, text):
        return "coreference"
    if wording.choices and (_HOW_TO.search(text) or _FRAGMENT.search(text)):
        return "completion"
    if requires_calculation(wording):
        return "calculation"
    return "question_answering" if _is_plain_question(wording) else None


def _is_coreference(wording: Wording, text: str) -> bool:
    options = [choice.strip().casefold() for choice in wording.choices]
    return (
        len(options) == 2
        and len(_BLANK.findall(text)) == 1
        and all(option in text.casefold() for option in options)
    )


def _is_plain_question(wording: Wording) -> bool:
    asked = wording.asked.strip()
    return (
        not wording.context
        and asked.endswith("?")
        and requires_calculation(wording) is False
        and bool(_OPENS.search(asked))
        and not _OTHER_TASK.search(asked)
        and not _BLANK.search(asked)
    )
