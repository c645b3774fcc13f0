"""What a report says: everything that the page and the terminal show, and nothing of how."""

from __future__ import annotations

from dataclasses import dataclass

from benchprism.annotate.ledger.standing import ValueCount
from benchprism.annotate.review.judging.gate import Judgement
from benchprism.metrics.scorecard import Scorecard
from benchprism.prompts.catalogue import Catalogue
from benchprism.report.confidence import AttributeConfidence
from benchprism.report.declined import Declined
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
from benchprism.report.missing import OK, EndCount, Ends
from benchprism.report.profile import BenchmarkProfile
from benchprism.report.subsets import SubsetView

METRICS = ("cbrc", "ds", "cad", "bqs")
"""The benchmark metrics, as a scorecard names them."""


@dataclass(frozen=True, slots=True)
class AnnotatorNote:
    """Where annotations come from."""

    name: str
    """As in the ledger: ``llm:...``, ``human:...``."""
    values: int
    """Values it gave."""
    replayed: bool
    """Its replies were recorded earlier and are replayed."""


@dataclass(frozen=True, slots=True)
class SourceNote:
    """Where the items of a benchmark come from, and what became of them."""

    benchmark: str
    dataset: str
    revision: str
    licence: str
    items: int
    annotated: int
    failures: tuple[tuple[str, int], ...]
    """Items without any value, by how asking for most of theirs ended."""
    scored: int
    """Items with a result of at least one model."""
    models: int


@dataclass(frozen=True, slots=True)
class FaultNote:
    """One kind of fault among the items of a benchmark."""

    benchmark: str
    fault: str
    items: int
    examples: tuple[str, ...]
    """Some of the item ids."""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report."""

    project: str
    catalogue: Catalogue
    annotators: tuple[AnnotatorNote, ...]
    sources: tuple[SourceNote, ...]
    profiles: tuple[BenchmarkProfile, ...]
    heterogeneity: tuple[BenchmarkHeterogeneity, ...]
    subsets: tuple[SubsetView, ...]
    scores: Scorecard
    """Without benchmarks where there are no results."""
    ends: Ends
    """What became of each value that the catalogue asks for."""
    verdicts: tuple[ValueCount, ...]
    """How each annotator's latest verdicts ended, whatever others said."""
    declined: Declined
    confidence: tuple[AttributeConfidence, ...]
    notes: tuple[str, ...]
    """Where values could not be consolidated as the project asks."""
    faults: tuple[FaultNote, ...]
    models: int
    """Models with a result on any benchmark."""
    seed: int
    calibration: tuple[Judgement, ...] = ()
    """What people's review says of attributes as hard criteria, what is not usable first."""

    @property
    def replayed(self) -> bool:
        """Tell whether any annotation is a replay."""
        return any(annotator.replayed for annotator in self.annotators)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What has to be said of missing values, a clause each."""
        return (*self.declined.notes, *self.notes)

    def said_by(self, annotator: str) -> tuple[EndCount, ...]:
        """Count how the latest verdicts of one annotator ended."""
        return tuple(
            EndCount(count.attribute, count.benchmark, count.status, count.values)
            for count in self.verdicts
            if count.annotator == annotator
        )

    @property
    def lacking(self) -> tuple[str, ...]:
        """The annotators that left values open, where there are several annotators."""
        open_ = {count.annotator for count in self.verdicts if count.status != OK}
        several = len(self.annotators) > 1
        return tuple(one.name for one in self.annotators if several and one.name in open_)

    @property
    def alike(self) -> bool:
        """Tell whether all attributes lack the same items: those that nobody was asked about."""
        return self.ends.missing == self.ends.untouched

    @property
    def annotated(self) -> int:
        """Items with a value of at least one attribute."""
        return sum(profile.annotated for profile in self.profiles)

    @property
    def attributes(self) -> int:
        """Attributes of the catalogue."""
        return sum(1 for _ in self.catalogue)
