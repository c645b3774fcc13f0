"""Rule for ``uses_negation``: does the task turn on not, except, least or false?"""

from __future__ import annotations

import re

from .wording import Wording

_SHOUTED = re.compile(r"\b(?:NOT|EXCEPT|LEAST|FALSE|INCORRECT|UNTRUE)\b")
_LOGIC = re.compile(r"\b(?:AND|OR|NAND|XOR)\b|\bNOT gate|\bNOT \(")
_AUXILIARY = r"(?:is|are|was|were|do|does|did|would|could|can|should|has|have|had|will|may|might)"
_PICKED = (
    r"\b(?:which(?: one)?(?: of)?(?: the| these| those)?(?: following)?"
    r"(?: (?!(?:that|why|because|if|when|who|how|you)\b|explain|probab|chance)[\w'/-]+){0,7}?"
    r"|what)"
)
_EXCEPTION = re.compile(
    rf"{_PICKED} (?:{_AUXILIARY} (?:not|false|incorrect|untrue|least)\b|cannot\b|{_AUXILIARY}n't\b)"
    r"|\bexcept(?: for)?\W*\Z|\b(?:all|each) of (?:the following|these)\b.{0,500}\bexcept\b"
    r"|\bleast (?:likely|probable|appropriate|accurate|effective|consistent|suitable|plausible)\b",
    re.IGNORECASE | re.DOTALL,
)
_ANY = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|except|exception|exclud\w+|unless"
    r"|false|incorrect|untrue|wrong|unlike|cannot|lack\w*|fail\w*|least)\b|n't\b",
    re.IGNORECASE,
)


def uses_negation(wording: Wording) -> bool | None:
    """Decide by the form of the question.

    Returns:
        True for an exception question (``Which is NOT``, ``all of the following EXCEPT``, ``least
        likely``); false when the sentence that asks holds no negative word; none otherwise, since
        a rule cannot tell a negation in passing from one that decides.
    """
    shouted = _SHOUTED.search(wording.prose) and not wording.prose.isupper()
    if shouted and not _LOGIC.search(wording.prose):
        return True
    if not wording.prose.endswith(".") and _EXCEPTION.search(wording.asked):
        return True
    return None if _ANY.search(wording.asked) else False
