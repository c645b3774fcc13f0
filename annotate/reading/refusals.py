"""Refusals that are written as text: heard only where a text can hardly mean anything else."""

from __future__ import annotations

import re

_LONGEST = 1000
_OPENING = (
    r"(?:I['’]?m (?:very |really |so )?sorry|(?:I )?apologi[sz]e|sorry|unfortunately|as an AI)"
)
_UNABLE = (
    r"I (?:can(?:not|['’]?t)|won['’]?t|will not|must decline|have to decline|decline"
    r"|am (?:unable|not able|not allowed)|['’]m (?:unable|not able|not allowed))"
    r"|I['’]m (?:unable|not able|not allowed)|unable"
)
_TASK = (
    r"(?:assist|help|comply|answer|annotate|rate|judge|evaluate|process|provide|discuss|engage"
    r"|continue|fulfil+|complete|create|generate|produce|respond|do (?:that|this)|participate)"
)
_REFUSAL = re.compile(
    rf"\W*(?:{_OPENING}\b[^.!?\n]{{0,60}}?)?\b(?:{_UNABLE})\b[^.!?\n]{{0,40}}?\b{_TASK}\b"
    r"|[^.!?\n]{0,80}\b(?:against|violates?) (?:my|our|the) (?:guidelines|(?:content )?polic)",
    re.IGNORECASE,
)


def sounds_like_a_refusal(text: str) -> bool:
    """Tell whether a text without any object begins by declining the task.

    >>> sounds_like_a_refusal("I'm sorry, but I can't assist with that.")
    True
    >>> sounds_like_a_refusal("The item is one that I cannot find fault with.")
    False
    """
    return len(text) < _LONGEST and "{" not in text and _REFUSAL.match(text) is not None
