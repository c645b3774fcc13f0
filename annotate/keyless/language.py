"""Tell English from other languages, by script and by function words."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Language = Literal["english", "other"]

_ENGLISH = re.compile(
    r"\b(?:"
    r"a|about|after|an|and|are|as|at|be|because|been|before|by|can|could|did|do|does"
    r"|following|for|from|had|has|have|he|her|his|how|if|in|into|is|it|its|most|not|of|on"
    r"|one|or|she|should|than|that|the|their|then|there|these|they|this|those|to|was|were"
    r"|what|when|where|which|while|who|why|will|with|would|you|your"
    r")\b"
)
_OTHERS = re.compile(
    r"\b(?:"
    r"adalah|att|au|auf|aux|avec|bir|bu|che|como|con|cuál|da|dan|dans|dari|das|de|del"
    r"|della|delle|dem|den|der|des|det|di|dos|du|een|ei|ein|eine|einen|el|em|er|es|est"
    r"|että|für|gli|het|ikke|il|inte|ist|itu|için|ja|jak|je|jest|la|las|le|les|los|mit|na"
    r"|ne|nel|nicht|nie|niet|non|não|och|og|op|os|para|pas|por|pour|på|qual|quale|que|quel"
    r"|quelle|qui|qué|sich|się|som|sono|sur|til|uma|un|una|und|une|van|ve|von|voor|wat"
    r"|welche|welcher|welke|wird|yang|zijn|zu|är|è|é"
    r")\b"
)
_FEWEST = 3
"""Fewer letters of another script, or function words, than this decide nothing."""


def language_of(text: str) -> Language | None:
    """Say whether a text is English.

    Returns:
        ``other`` when most letters are not Latin, or when function words of other languages
        outnumber the English ones; ``english`` when English ones are at least twice as many; none
        for texts that are too short, such as formulas, names and code.
    """
    letters = [character for character in text if character.isalpha()]
    foreign = sum(not unicodedata.name(letter, "").startswith("LATIN") for letter in letters)
    if foreign >= _FEWEST and 2 * foreign > len(letters):
        return "other"
    english, others = (len(words.findall(text.casefold())) for words in (_ENGLISH, _OTHERS))
    if max(english, others) < _FEWEST:
        return None
    if english >= 2 * others:
        return "english"
    return "other" if others > english else None
