"""Bootstrap over items and models: what the numbers would be with other items and other models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..alignment import DECAY
from ..consistency import Ties
from ..counting.pair_columns import PairColumns
from ..standings import Statistics, measure, stacked
from .draws import Draw
from .model_draws import different_pairs, draw_models, repeated
from .over_items import ItemSample, resampled
from .resampling import stream

_KEY = "\0both"  # no benchmark has this name


def bootstrap_both(
    sample: ItemSample,
    pairs: Sequence[PairColumns],
    peers: NDArray[np.bool_],
    *,
    replicates: int,
    seed: int,
    ties: Ties = "tau-b",
    decay: float = DECAY,
    threads: int = 1,
) -> Statistics:
    """The numbers of all benchmarks on resampled items for resampled models, (K, B) each.

    In each replicate the items are drawn as in ``item_bootstrap``, and the models as in
    ``model_bootstrap``: for all benchmarks together, none compared with itself.

    Args:
        sample: the items of B benchmarks.
        pairs: the pairs of models of each, whose inversions are counted.
        peers: (B, B), as in ``standings.measure``.
        replicates: K.
        seed: of the random numbers.
        ties: as in ``consistency.kendall_tau``.
        decay: as in ``alignment.capability_alignment``.
        threads: blocks of replicates worked on at once.
    """
    present = np.zeros((len(sample.benchmarks), sample.models), dtype=bool)
    for row, benchmark in enumerate(sample.benchmarks):
        present[row, benchmark.places] = True

    def work(draws: Sequence[Draw], number: int) -> Statistics:
        weights = draw_models(stream(seed, _KEY, number), present, len(draws[0].weights))
        rates = [
            own.rates(draw, weights[:, benchmark.places])
            for own, draw, benchmark in zip(pairs, draws, sample.benchmarks, strict=True)
        ]
        standings = sample.weighted(draws).ranked(ties)
        drawn = standings.drawn(repeated(weights), different_pairs(weights, present))
        drawn = replace(drawn, inversion_rates=np.stack(rates, axis=1))
        return measure(drawn, peers, ties=ties, decay=decay)

    found = resampled(sample, work, replicates=replicates, seed=seed, purpose=_KEY, threads=threads)
    return stacked(found)
