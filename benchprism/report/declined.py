"""Where annotators decline: the dimensions and benchmarks whose missing values are no accident."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchprism.annotate.ledger.standing import Cluster, ValueCount, declined_clusters
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
    """Find where refused and filtered values cluster; see ``declined_clusters``."""
    clusters = declined_clusters(values, catalogue)
    benchmarks = sorted({cluster.name for cluster in clusters if cluster.kind == "benchmark"})
    return Declined(
        tuple(map(str, clusters)),
        tuple(
            (attribute.id, said)
            for dimension in catalogue.dimensions
            if (said := _about(clusters, "dimension", dimension.id))
            for attribute in dimension.attributes
        ),
        tuple((name, _about(clusters, "benchmark", name)) for name in benchmarks),
    )


def _about(clusters: Sequence[Cluster], kind: str, name: str) -> str:
    return "; ".join(str(one) for one in clusters if (one.kind, one.name) == (kind, name))
