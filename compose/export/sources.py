"""What is known of the benchmarks that presets read: the paper to cite and the scoring rule."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from ...records.documents import StrictModel, parse_document
from ...records.items.record import ItemKind

Scoring = Literal[
    "letters",
    "letter_in_text",
    "options",
    "blank",
    "number",
    "mathematics",
    "exact",
    "literal",
    "f1",
    "instructions",
    "emotions",
]
"""How a benchmark judges an answer.

==================  ================================================================================
``letters``         the options stand under letters in the prompt; the likeliest letter counts
``letter_in_text``  the same prompt; the letter that a written answer ends with counts
``options``         the likeliest of the options' texts counts
``blank``           each option is put in place of ``_``; the likelier end of the sentence counts
``number``          the last number of a written answer
``mathematics``     a written answer that is mathematically equal
``exact``           a written answer that is the same text
``literal``         a written answer that is the same literal of Python
``f1``              the words that a written answer shares with an accepted one
``instructions``    whether a text follows instructions that are in the source's record
``emotions``        how near rated emotions are to those of the key
==================  ================================================================================
"""
OF_CHOICES: frozenset[Scoring] = frozenset({"letters", "letter_in_text", "options", "blank"})
"""Rules for items with choices; the others are for open questions."""
NEEDS_RECORD: frozenset[Scoring] = frozenset({"instructions", "emotions"})
"""Rules that judge by more of the source's own record than the key."""


class Paper(StrictModel):
    """The paper that a benchmark wants to be cited by."""

    key: str
    title: str
    author: str
    year: int
    arxiv: str

    @property
    def url(self) -> str:
        """Its page."""
        return f"https://arxiv.org/abs/{self.arxiv}"

    @property
    def bibtex(self) -> str:
        """Its entry in a bibliography."""
        return (
            f"@misc{{{self.key},\n"
            f"  title = {{{{{self.title}}}}},\n"
            f"  author = {{{self.author}}},\n"
            f"  year = {{{self.year}}},\n"
            f"  eprint = {{{self.arxiv}}},\n"
            "  archivePrefix = {arXiv},\n"
            f"  url = {{{self.url}}}\n"
            "}"
        )


class ScoringRule(StrictModel):
    """How answers are judged, and what the figure is called."""

    scoring: Scoring
    metric: str
    """The headline metric's name in lm-evaluation-harness."""


class KnownSource(ScoringRule):
    """What is known of one benchmark."""

    paper: Paper | None = None
    record: bool = False
    """Whether its items are asked with more of the source's own record than their texts."""


class _SourceFile(StrictModel):
    sources: dict[str, KnownSource]


@cache
def known_sources() -> Mapping[str, KnownSource]:
    """The benchmarks that presets read, by the preset's name."""
    text = files(__package__).joinpath("sources.yaml").read_text(encoding="utf-8")
    return parse_document(text, _SourceFile, name="sources.yaml").sources


def scoring_rule(preset: str | None, kind: ItemKind) -> ScoringRule:
    """The rule of a benchmark for items of one kind; without a preset what is usual for them."""
    found, choices = known_sources().get(preset or ""), kind == "multiple_choice"
    if found is not None and (found.scoring in OF_CHOICES) == choices:
        return found
    if choices:
        return ScoringRule(scoring="letters", metric="acc")
    return ScoringRule(scoring="exact", metric="exact_match")
