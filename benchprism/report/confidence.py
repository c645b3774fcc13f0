"""How sure the values are, and what says so."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from benchprism.annotate.consolidation.confidence import UNDOUBTED
from benchprism.prompts.catalogue import Attribute, Catalogue

SOURCES = ("agreement", "tie", "probability", "posterior", "stated", "none")
"""What a confidence may be, as ``ConfidenceSource`` has it."""


@dataclass(frozen=True, slots=True)
class SourceConfidence:
    """The values of one attribute whose confidence has one source."""

    source: str
    values: int
    mean: float
    """Mean confidence; NaN where the source gives no number that means anything on average."""
    doubted: int | None
    """Values that their annotator hesitated about; None unless it says so itself."""


@dataclass(frozen=True, slots=True)
class AttributeConfidence:
    """How sure the values of one attribute are."""

    attribute: str
    title: str
    values: int
    sources: tuple[SourceConfidence, ...]
    """Those that occur."""

    def __getitem__(self, source: str) -> SourceConfidence | None:
        return next((found for found in self.sources if found.source == source), None)


def confidences(table: pa.Table, catalogue: Catalogue) -> tuple[AttributeConfidence, ...]:
    """Describe the confidence of every attribute that has values."""
    return tuple(
        AttributeConfidence(attribute.id, attribute.name, sum(s.values for s in sources), sources)
        for attribute in catalogue
        if (sources := _sources(table, attribute))
    )


def _sources(table: pa.Table, attribute: Attribute) -> tuple[SourceConfidence, ...]:
    known = table.filter(pc.is_valid(table[attribute.id]))
    sources = pc.fill_null(known[f"{attribute.id}.confidence_source"], "none")
    confidence = known[f"{attribute.id}.confidence"]
    return tuple(
        _source(source, confidence.filter(pc.equal(sources, source)))
        for source in SOURCES
        if pc.sum(pc.equal(sources, source)).as_py()
    )


def _source(source: str, confidence: pa.ChunkedArray) -> SourceConfidence:
    if source == "stated":
        doubted = pc.sum(pc.less(confidence, UNDOUBTED)).as_py()
        return SourceConfidence(source, len(confidence), math.nan, doubted)
    mean = pc.mean(confidence).as_py()
    return SourceConfidence(source, len(confidence), math.nan if mean is None else mean, None)
