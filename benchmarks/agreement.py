"""Alpha with its bootstrap against a loop that computes alpha anew for each resample.

20 attributes x 30,000 items x 3 raters, 1,000 replicates each. The loop is measured on a few
replicates and scaled. It is the ``krippendorff`` package where that is installed, and always the
plain numpy code below, which counts values per item as the package does. Times are of the CPU.

Run: python benchmarks/agreement.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchprism.metrics.raters.agreement import Agreement, pairable_patterns, unordered
from benchprism.metrics.raters.krippendorff import Scale, alpha_statistic, krippendorff_alpha
from benchprism.metrics.raters.patterns import replicated

ATTRIBUTES, ITEMS, RATERS, LEVELS, REPLICATES = 20, 30_000, 3, 5, 1_000
LOOPED = 5
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")
Ratings = NDArray[np.int64]
Loop = Callable[[Ratings, Scale], float]


def tables_of_ratings() -> list[Ratings]:
    """Ratings of levels, right but for some that are a level off, and a few missing."""
    rng = np.random.default_rng(0)
    tables = []
    for attribute in range(ATTRIBUTES):
        truth = rng.integers(0, LEVELS, ITEMS)[:, None]
        off = np.clip(truth + rng.integers(-1, 2, (ITEMS, RATERS)), 0, LEVELS - 1)
        ratings = np.where(rng.random(off.shape) < 0.1 + 0.02 * attribute, off, truth)
        ratings[rng.random(off.shape) < 0.03] = -1
        tables.append(ratings)
    return tables


def plain_alpha(ratings: Ratings, scale: Scale) -> float:
    """Alpha by its definition: a coincidence matrix over items, then distances."""
    counts = (ratings[:, :, None] == np.arange(LEVELS)).sum(axis=1)
    number = counts.sum(axis=1)
    counts, number = counts[number > 1], number[number > 1]
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(LEVELS)
    observed = (pairs / (number - 1)[:, None, None]).sum(axis=0)
    given = observed.sum(axis=0)
    places = np.arange(LEVELS) * 1.0
    if scale == "ordinal":
        places = np.cumsum(given) - given / 2
    distances = (places[:, None] - places) ** 2
    if scale == "nominal":
        distances = np.sign(distances)
    expected = (np.outer(given, given) - np.diag(given)) / (given.sum() - 1)
    return float(1 - (observed * distances).sum() / (expected * distances).sum())


def package_alpha() -> Loop | None:
    """The ``krippendorff`` package's alpha, if there is one."""
    try:
        import krippendorff  # type: ignore[import-not-found]
    except ImportError:
        return None
    domain = list(range(LEVELS))

    def alpha(ratings: Ratings, scale: Scale) -> float:
        table = np.where(ratings < 0, np.nan, ratings).T
        return float(krippendorff.alpha(table, level_of_measurement=scale, value_domain=domain))

    return alpha


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """The least CPU time of several runs."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        work()
        spent.append(time.process_time() - start)
    return min(spent)


def loop_seconds(loop: Loop, table: Ratings, scale: Scale) -> float:
    """CPU time of the whole loop, scaled from a few replicates."""
    rng = np.random.default_rng(1)

    def replicate() -> None:
        loop(table[rng.integers(0, ITEMS, ITEMS)], scale)

    return seconds(replicate, LOOPED) * REPLICATES * ATTRIBUTES


def largest_difference(loop: Loop, table: Ratings, scale: Scale) -> float:
    """Between replicates and the loop on the same draws."""
    found = pairable_patterns(unordered(table), LEVELS)
    drawn = replicated(
        found.items,
        alpha_statistic(found.counts(LEVELS), scale),
        rng=np.random.default_rng(2),
        replicates=LOOPED,
    )
    total = int(found.items.sum())
    draws = np.random.default_rng(2).multinomial(total, found.items / total, LOOPED)
    looped = [loop(np.repeat(found.rows, draw, axis=0), scale) for draw in draws]
    return float(np.abs(drawn - looped).max())


def all_intervals(tables: list[Ratings], scale: Scale) -> list[Agreement]:
    """Alpha and its interval for every attribute."""
    return [
        krippendorff_alpha(
            table,
            values=LEVELS,
            scale=scale,
            rng=np.random.default_rng(0),
            replicates=REPLICATES,
        )
        for table in tables
    ]


def main() -> None:
    """Print a line a scale and loop."""
    tables = tables_of_ratings()
    loops = {"plain numpy": plain_alpha, "krippendorff": package_alpha()}
    for scale in SCALES:
        own = seconds(partial(all_intervals, tables, scale), 3)
        for name, loop in loops.items():
            if loop is None:
                continue
            slow = loop_seconds(loop, tables[3], scale)
            print(
                f"{scale:9} own {own:.2f} s, {name} loop {slow:6.0f} s: {slow / own:6,.0f} times; "
                f"largest difference {largest_difference(loop, tables[3], scale):.0e}"
            )


if __name__ == "__main__":
    main()
