"""Where annotators decline: the dimensions and benchmarks whose missing values are no accident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchprism.annotate.standing import ValueCount, declined_notes
from benchprism.prompts.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class Declined:
    """Where what is missing is not missing at random."""

    notes: tuple[str, ...] = ()
    """All that is to be said of it."""
    attributes: tuple[tuple[str, str], ...] = ()
    """Id of each attribute of such a dimension, with what is to be said."""
    benchmarks: tuple[tuple[str, str], ...] = ()
    """Each such benchmark, likewise."""

    def attribute(self, attribute: str) -> str:
        """What is to be said beside numbers of an attribute; empty when nothing is."""
        return dict(self.attributes).get(attribute, "")

    def benchmark(self, benchmark: str) -> str:
        """What is to be said beside numbers of a benchmark; empty when nothing is."""
        return dict(self.benchmarks).get(benchmark, "")


def declined(values: Sequence[ValueCount], catalogue: Catalogue) -> Declined:
    """Find where refused and filtered values cluster; see ``declined_notes``."""
    notes = declined_notes(values, catalogue)
    benchmarks = sorted({count.benchmark for count in values})
    return Declined(
        tuple(notes),
        tuple(
            (attribute.id, said)
            for dimension in catalogue.dimensions
            if (said := _about(notes, f"in the dimension {dimension.title!r} and"))
            for attribute in dimension.attributes
        ),
        tuple(
            (name, said)
            for name in benchmarks
            if (said := _about(notes, f"in the benchmark {name!r} and"))
        ),
    )


def _about(notes: Sequence[str], place: str) -> str:
    return "; ".join(note for note in notes if place in note)
