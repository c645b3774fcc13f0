"""How fast the scorecard is, against the loop that numpy and scipy invite one to write.

Both resample the items of 15 benchmarks for 50 models and work out accuracy, CBRC, DS and CAD. The
loop is timed on a few replicates and scaled; its answers are compared on the same draws. Processor
time is compared where one thread works, as it feels the machine's other work less.

Run: python benchmarks/scorecard.py [--replicates 1000] [--threads 2]
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import itertools
import math
import resource
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.evidence import ItemScores, item_table
from benchprism.metrics.item_bootstrap import ItemSample, bootstrap_items
from benchprism.metrics.resampling import BLOCK, bootstrap_weights, stream
from benchprism.metrics.scorecard import Model
from benchprism.metrics.standings import Statistics

SIZES = [12032, 5761, 2000, 1324, 1319, 1267, 1221, 1172, 980, 817, 756, 541, 448, 198, 164]
MODELS, FAMILY = 50, 6
LOOPED = 3


def simulated(rng: np.random.Generator) -> list[NDArray[np.float32]]:
    """Right and wrong by a two-parameter model with guessing."""
    strength = np.tile(np.linspace(-1, 1, FAMILY), MODELS // FAMILY + 1)[:MODELS]
    strength = strength + rng.normal(0, 0.5, MODELS)
    scores = []
    for size in SIZES:
        own = strength + rng.normal(0, 0.3, MODELS)
        slope, place = rng.lognormal(0, 0.35, (size, 1)), rng.normal(0, 1.3, (size, 1))
        chance = 0.25 + 0.75 / (1 + np.exp(-slope * (own - place)))
        scores.append((rng.random(chance.shape) < chance).astype(np.float32))
    return scores


def loop(drawn: Sequence[NDArray[np.float32]]) -> tuple[list[float], list[float], list[float]]:
    """One replicate: CBRC, DS and CAD of each benchmark, pair by pair."""
    tau = np.eye(len(drawn))
    accuracies = [scores.mean(axis=0, dtype=np.float64) for scores in drawn]
    for i, j in itertools.combinations(range(len(drawn)), 2):
        tau[i, j] = tau[j, i] = kendalltau(accuracies[i], accuracies[j]).statistic
    spread, aligned = [], []
    for scores, own in zip(drawn, accuracies, strict=True):
        counts, gap = scores.sum(axis=0), math.floor(0.02 * len(scores) + 1e-9)
        far = [abs(a - b) > gap for a, b in itertools.combinations(counts, 2)]
        spread.append(own.std() / own.mean() * math.sqrt(sum(far) / len(far)))
        inverted = compared = 0
        for start in range(0, MODELS, FAMILY):
            members = range(start, min(start + FAMILY, MODELS))
            for weaker, stronger in itertools.combinations(members, 2):
                inverted += int(((scores[:, weaker] == 1) & (scores[:, stronger] == 0)).sum())
                compared += len(scores)
        aligned.append(math.exp(-12 * inverted / compared))
    return list((tau.sum(axis=1) - 1) / (len(drawn) - 1)), spread, aligned


def timed(work: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """The least wall and the least processor seconds of several runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def looped(sample: ItemSample, scores: Sequence[NDArray[np.float32]], fast: Statistics) -> float:
    """Processor seconds of the loop for a replicate; its answers are those of the scorecard."""
    rows = [
        bootstrap_weights(stream(0, own.key, 0), own.items, BLOCK).astype(int)
        for own in sample.benchmarks
    ]
    seconds = []
    for k in range(LOOPED):
        start = time.process_time()
        drawn = [
            own[np.repeat(np.arange(len(own)), weights[k])]
            for own, weights in zip(scores, rows, strict=True)
        ]
        found = loop(drawn)
        seconds.append(time.process_time() - start)
        wanted = fast.cbrc[k], fast.ds[k], fast.cad[k]
        worst = max(np.abs(np.subtract(a, b)).max() for a, b in zip(found, wanted, strict=True))
        if worst > 1e-9:
            raise SystemExit(f"the loop's answers differ by {worst}")
    return min(seconds)


def main() -> None:
    """Time both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=1000, help=f"at least {BLOCK}")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    replicates, threads = options.replicates, options.threads
    models = [Model(f"m{i:02}", f"f{i // FAMILY}", i % FAMILY) for i in range(MODELS)]
    names = tuple(model.name for model in models)
    scores = simulated(np.random.default_rng(0))
    given = [ItemScores(f"b{i:02}", "d", names, own) for i, own in enumerate(scores)]
    peers = peer_matrix(["d"] * len(given))

    def lay_out() -> ItemSample:
        return ItemSample(tuple(item_table(own, models).columns for own in given), MODELS)

    def bootstrap(threads: int) -> Statistics:
        return bootstrap_items(lay_out(), peers, replicates=replicates, seed=0, threads=threads)

    sample = lay_out()
    _, one = timed(lambda: bootstrap(1))
    several, several_cpu = timed(lambda: bootstrap(threads))
    ones = [np.ones((BLOCK, own.items), np.float32) for own in sample.benchmarks]
    blocks = [(own.columns, row) for own, row in zip(sample.benchmarks, ones, strict=True)]
    _, products = timed(lambda: [row @ columns for columns, row in blocks], 5)
    products *= replicates / BLOCK
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    plain = looped(sample, scores, bootstrap(1)) * replicates
    print(f"{MODELS} models, {sum(SIZES)} items, {len(SIZES)} benchmarks, {replicates} replicates")
    lines = {
        "processor: loop over numpy and scipy": (plain, f"from {LOOPED} replicates, scaled"),
        "processor: scorecard on 1 thread": (one, f"{plain / one:.0f} times as fast as the loop"),
        "processor: its matrix products": (products, f"{one / products:.1f} times as fast again"),
        f"processor: scorecard on {threads} threads": (
            several_cpu,
            f"{several_cpu / one:.2f} of 1",
        ),
        f"wall: scorecard on {threads} threads": (several, f"{plain / several:.0f} times as fast"),
    }
    for label, (seconds, remark) in lines.items():
        print(f"{label:40}{seconds:8.2f} s  {remark}")
    print(f"{'peak memory':40}{memory:8.0f} MiB")


if __name__ == "__main__":
    main()
