"""Divisions: a benchmark's accuracy in the strata of each attribute, the clearest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.items.strata import Spread, holm, mean_intervals, spreads_of_means
from benchprism.report.strata import Strata

Floats = NDArray[np.float64]
CLEAR = 0.05
"""A division is clear when its p-value, adjusted for all attributes looked at, is below this."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A mean over items with its 95 % interval; NaN where there is none."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Stratum:
    """The items of a benchmark that share a value of an attribute."""

    name: str
    meaning: str
    """The value's definition; may be empty."""
    items: int
    accuracy: Accuracy
    """Mean over the items of the item's mean score over models."""


@dataclass(frozen=True, slots=True)
class Division:
    """A benchmark divided by one attribute."""

    attribute: str
    title: str
    computed: bool
    """The attribute is computed from the text, not annotated."""
    items: int
    """Items in the strata compared."""
    left_out: int
    """Items with a value in a stratum too small to compare."""
    overall: Accuracy
    strata: tuple[Stratum, ...]
    spread: Spread
    adjusted: float
    """The spread's p-value, adjusted for all divisions of the benchmark."""

    @property
    def clear(self) -> bool:
        """Tell whether the spread is more than chance gives, all attributes considered."""
        return self.adjusted < CLEAR

    @property
    def easiest(self) -> int:
        """Position of the stratum with the highest accuracy."""
        return max(range(len(self.strata)), key=lambda k: self.strata[k].accuracy.mean)

    @property
    def hardest(self) -> int:
        """Position of the stratum with the lowest accuracy."""
        return min(range(len(self.strata)), key=lambda k: (self.strata[k].accuracy.mean, -k))


def ranked_divisions(
    grouped: Sequence[Strata], ease: Floats, rng: np.random.Generator
) -> list[tuple[Strata, Division]]:
    """Describe a benchmark's divisions, the clearest first.

    Args:
        grouped: the scored items by each attribute.
        ease: the mean over models of each scored item.
        rng: the source of random divisions to compare with.
    """
    spreads = _spreads(grouped, ease, rng)
    adjusted = holm(np.array([spread.p_value for spread in spreads], dtype=float))
    found = [
        (strata, _division(strata, spread, float(p), ease))
        for strata, spread, p in zip(grouped, spreads, adjusted, strict=True)
    ]
    return sorted(found, key=lambda pair: (pair[1].spread.p_value, -pair[1].spread.spread))


def _spreads(grouped: Sequence[Strata], ease: Floats, rng: np.random.Generator) -> list[Spread]:
    """The spread of each division; divisions of the same items share their permutations."""
    alike: dict[bytes, list[int]] = {}
    for position, strata in enumerate(grouped):
        alike.setdefault(strata.known.tobytes(), []).append(position)
    spreads: dict[int, Spread] = {}
    for positions in alike.values():
        known = grouped[positions[0]].known
        codes = np.stack([grouped[position].codes[known] for position in positions], axis=1)
        found = spreads_of_means(ease[known], codes, rng=rng)
        spreads.update(zip(positions, found, strict=True))
    return [spreads[position] for position in range(len(grouped))]


def _division(strata: Strata, spread: Spread, adjusted: float, ease: Floats) -> Division:
    inside = strata.codes >= 0
    parts = [ease[strata.codes == k, None] for k in range(len(strata.values))]
    return Division(
        attribute=strata.attribute,
        title=strata.title,
        computed=strata.computed,
        items=int(inside.sum()),
        left_out=strata.left_out,
        overall=accuracies(ease[inside, None])[0],
        strata=tuple(
            Stratum(name, meaning, len(part), accuracies(part)[0])
            for (name, meaning), part in zip(strata.values, parts, strict=True)
        ),
        spread=spread,
        adjusted=adjusted,
    )


def accuracies(scores: Floats) -> list[Accuracy]:
    """The mean over items of each column of scores, with its interval."""
    found = mean_intervals(scores)
    columns = zip(found.means, found.low, found.high, strict=True)
    return [Accuracy(float(mean), float(low), float(high)) for mean, low, high in columns]
