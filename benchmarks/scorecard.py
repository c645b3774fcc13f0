"""How fast the scorecard is, against the loop that numpy and scipy invite one to write.

Both resample 30,000 items of 15 benchmarks and work out accuracy, CBRC, DS and CAD. The loop is
timed on a few replicates and scaled; its answers are compared on the same draws. What no way around
is known of, the matrix products of weights and scores, is timed as well, on one thread. Ratios are
of processor time, which feels the machine's other work less than the clock does.

Run: python benchmarks/scorecard.py [--replicates 1000] [--threads 2]
     python benchmarks/scorecard.py --models 5000 [--domains 3]
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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchprism.metrics.bootstrap.draws import draw_bootstrap
from benchprism.metrics.bootstrap.over_items import ItemSample, bootstrap_items
from benchprism.metrics.bootstrap.resampling import BLOCK, stream
from benchprism.metrics.consistency import peer_matrix
from benchprism.metrics.evidence import ItemScores, item_table
from benchprism.metrics.scorecard import Model
from benchprism.metrics.standings import Statistics

SIZES = [12032, 5761, 2000, 1324, 1319, 1267, 1221, 1172, 980, 817, 756, 541, 448, 198, 164]
FAMILY = 6
CROWD = 400
"""Models of which the loop takes hours."""

Right = NDArray[np.int8]


def simulated(models: int, rng: np.random.Generator) -> list[Right]:
    """Right and wrong by a two-parameter model with guessing."""
    strength = np.tile(np.linspace(-1, 1, FAMILY), models // FAMILY + 1)[:models]
    strength = (strength + rng.normal(0, 0.5, models)).astype(np.float32)
    scores = []
    for size in SIZES:
        own = strength + rng.normal(0, 0.3, models).astype(np.float32)
        right = np.empty((size, models), dtype=np.int8)
        for item in right:
            slope, place = rng.lognormal(0, 0.35), rng.normal(0, 1.3)
            chance = 0.25 + 0.75 / (1 + np.exp(np.float32(-slope) * (own - np.float32(place))))
            item[:] = rng.random(models, dtype=np.float32) < chance
        scores.append(right)
    return scores


@dataclass(frozen=True)
class Case:
    """Benchmarks to score."""

    scores: Sequence[Right]
    domains: Sequence[str]

    @property
    def models(self) -> list[Model]:
        """As many as there are columns, in families of six sizes."""
        number = self.scores[0].shape[1]
        return [Model(f"m{i:04}", f"f{i // FAMILY}", i % FAMILY) for i in range(number)]

    @property
    def peers(self) -> NDArray[np.bool_]:
        """Benchmarks of one domain."""
        return peer_matrix(self.domains)

    def lay_out(self) -> ItemSample:
        """Count inversions and lay out the columns."""
        models = self.models
        names = tuple(model.name for model in models)
        given = [
            ItemScores(f"b{i:02}", domain, names, own)
            for i, (domain, own) in enumerate(zip(self.domains, self.scores, strict=True))
        ]
        return ItemSample(tuple(item_table(own, models).columns for own in given), len(models))


def loop(drawn: Sequence[Right], peers: NDArray[np.bool_]) -> list[list[float]]:
    """One replicate: CBRC, DS and CAD of each benchmark, pair by pair."""
    tau = np.zeros((len(drawn), len(drawn)))
    accuracies = [scores.mean(axis=0, dtype=np.float64) for scores in drawn]
    for i, j in itertools.combinations(range(len(drawn)), 2):
        if peers[i, j]:
            tau[i, j] = tau[j, i] = kendalltau(accuracies[i], accuracies[j]).statistic
    spread, aligned = [], []
    for scores, own in zip(drawn, accuracies, strict=True):
        counts, gap = scores.sum(axis=0), math.floor(0.02 * len(scores) + 1e-9)
        far = [abs(int(a) - int(b)) > gap for a, b in itertools.combinations(counts, 2)]
        spread.append(own.std() / own.mean() * math.sqrt(sum(far) / len(far)))
        inverted = compared = 0
        for start in range(0, scores.shape[1], FAMILY):
            members = range(start, min(start + FAMILY, scores.shape[1]))
            for weaker, stronger in itertools.combinations(members, 2):
                inverted += int(((scores[:, weaker] == 1) & (scores[:, stronger] == 0)).sum())
                compared += len(scores)
        aligned.append(math.exp(-12 * inverted / compared))
    return [list(tau.sum(axis=1) / peers.sum(axis=1)), spread, aligned]


def timed(work: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """The least wall and the least processor seconds of several runs."""
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def looped(case: Case, sample: ItemSample, fast: Statistics, replicates: int) -> float:
    """Processor seconds of the loop for a replicate; its answers are those of the scorecard."""
    draws = [draw_bootstrap(own, stream(0, own.key, 0), BLOCK) for own in sample.benchmarks]
    seconds = []
    for k in range(replicates):
        start = time.process_time()
        drawn = [
            own[np.repeat(np.arange(len(own)), draw.weights[k].astype(int))]
            for own, draw in zip(case.scores, draws, strict=True)
        ]
        found = loop(drawn, case.peers)
        seconds.append(time.process_time() - start)
        wanted = fast.cbrc[k], fast.ds[k], fast.cad[k]
        worst = max(np.abs(np.subtract(a, b)).max() for a, b in zip(found, wanted, strict=True))
        if worst > 1e-9:
            raise SystemExit(f"the loop's answers differ by {worst}")
    return min(seconds)


def products(case: Case) -> float:
    """Processor seconds of the matrix products of a block of replicates, and of nothing else."""
    seconds = 0.0
    for own in case.scores:
        weights = np.ones((BLOCK, len(own)), dtype=np.float32)
        for start in range(0, own.shape[1], 512):
            columns = own[:, start : start + 512].astype(np.float32)
            seconds += timed(lambda a=weights, b=columns: a @ b)[1]  # type: ignore[misc]
    return seconds


def memory() -> float:
    """Peak resident memory in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Time all and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=50)
    parser.add_argument("--domains", type=int, default=1, help="with equally many benchmarks each")
    parser.add_argument("--replicates", type=int, default=1000, help=f"at least {BLOCK}")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    replicates, threads = options.replicates, options.threads
    crowd = options.models >= CROWD
    domains = [f"d{i % options.domains}" for i in range(len(SIZES))]
    case = Case(simulated(options.models, np.random.default_rng(0)), domains)
    data = memory()

    def bootstrap(sample: ItemSample, threads: int) -> Statistics:
        return bootstrap_items(sample, case.peers, replicates=replicates, seed=0, threads=threads)

    repeats = 1 if crowd else 3
    _, laid_out = timed(case.lay_out, repeats)
    sample = case.lay_out()
    _, one = timed(lambda: bootstrap(sample, 1), repeats)
    several, several_cpu = timed(lambda: bootstrap(sample, threads), repeats)
    peak = memory()
    block = products(case) * replicates / BLOCK
    plain = 0.0
    if not crowd:
        plain = looped(case, sample, bootstrap(sample, 1), 3) * replicates
    print(
        f"{options.models} models, {sum(SIZES)} items, {len(SIZES)} benchmarks in "
        f"{options.domains} domains, {replicates} replicates"
    )
    times = f"{plain / (one + laid_out):.0f} times as fast as the loop"
    lines = {
        "processor: loop over numpy and scipy": (plain, "from 3 replicates, scaled"),
        "processor: matrix products alone": (block, ""),
        "processor: inversions and layout": (laid_out, ""),
        "processor: bootstrap on 1 thread": (one, f"{one / block:.1f} times the products"),
        "processor: both together": (one + laid_out, times),
        f"processor: bootstrap on {threads} threads": (
            several_cpu,
            f"{several_cpu / one:.2f} of 1",
        ),
        f"wall: bootstrap on {threads} threads": (several, ""),
    }
    for label, (seconds, remark) in lines.items():
        if seconds and not (crowd and "both together" in label):
            print(f"{label:40}{seconds:8.2f} s  {remark}")
    print(f"{'peak memory':40}{peak:8.0f} MiB, of which {data:.0f} with the data alone")


if __name__ == "__main__":
    main()
