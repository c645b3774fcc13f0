"""What a report says: everything that the page and the terminal show, and nothing of how."""

from __future__ import annotations

from dataclasses import dataclass

from benchprism.metrics.scorecard import Scorecard
from benchprism.prompts.catalogue import Catalogue
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
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
    """Items without annotation, by the status of the last try."""
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
    faults: tuple[FaultNote, ...]
    models: int
    """Models with a result on any benchmark."""
    seed: int

    @property
    def replayed(self) -> bool:
        """Tell whether any annotation is a replay."""
        return any(annotator.replayed for annotator in self.annotators)

    @property
    def annotated(self) -> int:
        """Items with a value of at least one attribute."""
        return sum(profile.annotated for profile in self.profiles)

    @property
    def attributes(self) -> int:
        """Attributes of the catalogue."""
        return sum(1 for _ in self.catalogue)
