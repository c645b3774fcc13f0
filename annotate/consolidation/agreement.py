"""How far annotators agree on the attributes of the same items."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ...metrics.bootstrap.resampling import stream
from ...metrics.raters.agreement import Agreement
from ...metrics.raters.kappa import cohen_kappa, fleiss_kappa
from ...metrics.raters.krippendorff import krippendorff_alpha
from ...metrics.raters.label_sets import LabelAgreement, label_set_alpha, per_label_alpha
from ...metrics.raters.patterns import UNBOUNDED
from ...prompts.catalogue import Attribute, AttributeType, Value
from ..ledger.panel import kind_of, rater_of
from .rating_matrix import RatingMatrix

Distance = Literal["ordinal", "nominal", "masi"]
Coefficient = Literal["alpha", "cohen_kappa", "weighted_kappa", "fleiss_kappa"]

DISTANCES: dict[AttributeType, Distance] = {
    "level": "ordinal",
    "label": "nominal",
    "boolean": "nominal",
    "labels": "masi",
}
"""How much a disagreement weighs in alpha."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Annotators that are compared with each other."""

    between: Literal["models", "people", "passes", "annotators"]
    """What they are; ``annotators`` when they were asked for by name."""
    annotators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made."""

    seed: int = 0
    replicates: int = 1000
    level: float = 0.95

    def stream(self, *key: str) -> np.random.Generator:
        """The random numbers for one estimate: they depend on nothing but the seed and its key."""
        return stream(self.seed, "/".join(key), 0)


@dataclass(frozen=True, slots=True, eq=False)
class AttributeAgreement:
    """How far some annotators agree on one attribute."""

    attribute: Attribute
    values: tuple[Value, ...]
    """What the prevalences are of, in order; for several labels at once, the labels."""
    coefficients: Mapping[Coefficient, Agreement]
    """Those that the attribute's type has, each with raw agreement and prevalence. Alpha takes the
    distance of the type (``DISTANCES``), weighted kappa squares the distance of levels, and to the
    others one disagreement is like another. What is undefined carries its reason."""
    by_label: LabelAgreement | None
    """Of several labels at once, alpha of each label by itself."""

    @property
    def alpha(self) -> Agreement:
        """Krippendorff's alpha, which every type has."""
        return self.coefficients["alpha"]


def comparisons(annotators: Sequence[str]) -> list[Comparison]:
    """Find what is worth comparing: models and people by first passes, and the passes of each.

    >>> [found.annotators for found in comparisons(["llm:a", "llm:b", "llm:b#2", "human:c"])]
    [('llm:a', 'llm:b'), ('llm:b', 'llm:b#2')]
    """
    passes: dict[str, list[str]] = {}
    for name in sorted(annotators, key=lambda name: (rater_of(name), len(name), name)):
        passes.setdefault(rater_of(name), []).append(name)
    first = [own[0] for own in passes.values()]
    found = [
        Comparison("models", tuple(name for name in first if kind_of(name) == "llm")),
        Comparison("people", tuple(name for name in first if kind_of(name) == "human")),
        *(Comparison("passes", tuple(own)) for own in passes.values()),
    ]
    return [comparison for comparison in found if len(comparison.annotators) > 1]


def attribute_agreement(matrix: RatingMatrix, resampling: Resampling) -> AttributeAgreement:
    """Estimate how far all annotators of a matrix agree.

    Args:
        matrix: What they say of one attribute.
        resampling: How intervals are made.
    """
    if matrix.attribute.type == "labels":
        return _on_label_sets(matrix, resampling)
    ordinal = matrix.attribute.type == "level"
    codes, values = matrix.codes, len(matrix.values)
    level, replicates = resampling.level, resampling.replicates
    alpha = partial(krippendorff_alpha, codes, values=values, level=level, replicates=replicates)
    fleiss = partial(fleiss_kappa, codes, values=values, level=level, replicates=replicates)
    cohen = partial(cohen_kappa, codes, values=values, level=level, replicates=replicates)

    def rng(name: Coefficient) -> np.random.Generator:
        return resampling.stream(matrix.attribute.id, name)

    found: dict[Coefficient, Agreement] = {
        "alpha": alpha(scale="ordinal" if ordinal else "nominal", rng=rng("alpha")),
        "fleiss_kappa": fleiss(rng=rng("fleiss_kappa")),
    }
    if len(matrix.annotators) == 2:
        found["cohen_kappa"] = cohen(rng=rng("cohen_kappa"))
        if ordinal:
            found["weighted_kappa"] = cohen(weights="quadratic", rng=rng("weighted_kappa"))
    else:
        found["cohen_kappa"] = _not_of_two(found["fleiss_kappa"], len(matrix.annotators))
        if ordinal:
            found["weighted_kappa"] = found["cohen_kappa"]
    return AttributeAgreement(matrix.attribute, matrix.values, found, None)


def _on_label_sets(matrix: RatingMatrix, resampling: Resampling) -> AttributeAgreement:
    sets, name = matrix.label_sets(), matrix.attribute.id
    level, replicates = resampling.level, resampling.replicates
    alpha = label_set_alpha(
        sets,
        distance="masi",
        rng=resampling.stream(name, "alpha"),
        level=level,
        replicates=replicates,
    )
    by_label = per_label_alpha(
        sets, rng=resampling.stream(name, "by_label"), level=level, replicates=replicates
    )
    labels = tuple(str(label) for label in matrix.attribute.values)
    return AttributeAgreement(matrix.attribute, labels, {"alpha": alpha}, by_label)


def _not_of_two(other: Agreement, annotators: int) -> Agreement:
    reason = f"Cohen's kappa is of two annotators, and there are {annotators}"
    return replace(other, estimate=math.nan, interval=UNBOUNDED, reason=reason)
