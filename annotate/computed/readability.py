"""How hard a text is to read, from the length of its sentences and words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"[.!?]+(?=[\s\"')\]]|$)|\n\s*\n")
_ABBREVIATION = re.compile(r"\b(?:[A-Za-z]|Dr|Mr|Mrs|Ms|St|vs|etc|cf|al|No|Fig|Prof|Inc|Ltd|Jr)\Z")
_VOWELS = re.compile(r"[aeiouyàáâäæèéêëìíîïòóôöùúûü]+")
_TWO_VOWELS = re.compile(  # neighbours that are spoken apart: idea, science, usually, serious
    r"(?<![tscgq])i(?=[au]|o(?!n))|scie|(?<!fr)(?<![tc])ie(?=n)|(?<![qg])u(?=a)|ea\Z|crea(?=t)"
)
_SILENT_END = re.compile(
    r"[^aeiouylrw]e\Z|[aeiouy][lrw]es?\Z|[^aeiouytd]ed\Z|[^aeiouyscgzxhlrw]es\Z"
)


@dataclass(frozen=True, slots=True)
class Wording:
    """What readability is made of."""

    words: int
    sentences: int
    syllables: int

    @property
    def grade(self) -> float | None:
        """The Flesch-Kincaid grade, 0.39 words/sentence + 11.8 syllables/word - 15.59.

        School years that a reader of English needs; undefined (none) for a text without words. It
        says nothing of formulas and program code.

        Source: Kincaid, Fishburne, Rogers and Chissom, Navy Research Branch Report 8-75 (1975).
        """
        if not self.words or not self.sentences:
            return None
        length = self.words / self.sentences
        return 0.39 * length + 11.8 * self.syllables / self.words - 15.59


def wording(text: str) -> Wording:
    """Count words, sentences and syllables.

    Numbers and symbols are no words. A text with words has at least one sentence.

    >>> wording("Dr. Lee saw it. Was it a little table?")
    Wording(words=9, sentences=2, syllables=11)
    """
    words = _WORD.findall(text)
    return Wording(len(words), _sentences(text) if words else 0, sum(map(syllables, words)))


@lru_cache(maxsize=200_000)
def syllables(word: str) -> int:
    """Count the syllables of an English word by its groups of vowels; a silent ending is none.

    A rule, not a dictionary: it errs in some words (``business``), little over a text.

    >>> [syllables(word) for word in ("table", "make", "jumped", "wanted", "science", "idea")]
    [2, 1, 1, 2, 2, 3]
    """
    lowered = word.lower()
    groups = len(_VOWELS.findall(lowered))
    silent = groups > 1 and _SILENT_END.search(lowered) is not None
    return max(1, groups + len(_TWO_VOWELS.findall(lowered)) - silent)


def _sentences(text: str) -> int:
    """Count the parts between ends of sentences that hold a word."""
    count = start = 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text, start, end.start()):
            count += _WORD.search(text, start, end.start()) is not None
            start = end.end()
    return count + (_WORD.search(text, start) is not None)
