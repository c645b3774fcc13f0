from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.compose.explaining.ranking import ranking_change
from benchprism.records.results.matrix import Outcomes

NAMES = ("a", "b", "c")


def outcomes(
    benchmark: str, scores: list[list[float]], models: tuple[str, ...] = NAMES
) -> Outcomes:
    ids = tuple(f"{benchmark}/{n}" for n in range(len(scores)))
    return Outcomes(benchmark, ids, models, np.array(scores, dtype=float))


ARC = outcomes("arc", [[1, 1, 0], [1, 0, 0], [0, 0, 1], [1, 1, 1]])
GSM = outcomes("gsm", [[0, 1, 1], [0, 0, 1]])


def test_ranks_and_tau_by_hand() -> None:
    before, after = ["arc/0", "arc/1"], ["arc/0", "arc/2", "gsm/0", "gsm/1"]
    found = ranking_change([ARC, GSM], before, after, replicates=0)
    # before: a 2/2, b 1/2, c 0/2; after: a 1/4, b 2/4, c 3/4
    assert [(m.model, m.accuracy_before, m.accuracy_after) for m in found.models] == [
        ("a", 1, 0.25), ("b", 0.5, 0.5), ("c", 0, 0.75),
    ]  # fmt: skip
    assert [(m.rank_before, m.rank_after) for m in found.models] == [(1, 3), (2, 2), (3, 1)]
    assert found.tau == -1
    assert (found.items_before, found.items_after) == (2, 4)
    assert not found.interval.defined


def test_equal_models_share_the_better_rank() -> None:
    found = ranking_change([ARC], ["arc/0"], ["arc/3"], replicates=0)
    assert {m.model: (m.rank_before, m.rank_after) for m in found.models} == {
        "a": (1, 1), "b": (1, 1), "c": (3, 1),
    }  # fmt: skip
    assert math.isnan(found.tau)  # all alike on arc/3


def test_the_same_items_rank_the_same_in_every_replicate() -> None:
    rng = np.random.default_rng(0)
    many = outcomes("m", (rng.random((200, 3)) < [0.7, 0.5, 0.3]).tolist())
    found = ranking_change([many], many.item_ids, many.item_ids, seed=1)
    assert found.tau == 1
    assert (found.interval.low, found.interval.high) == (1, 1)
    assert all((m.change.low, m.change.high) == (0, 0) for m in found.models)


def test_a_change_within_noise_has_an_interval_that_holds_none() -> None:
    rng = np.random.default_rng(2)
    alike = outcomes("m", (rng.random((400, 3)) < [0.52, 0.5, 0.1]).tolist())
    first, second = alike.item_ids[:200], alike.item_ids[200:]
    found = {m.model: m for m in ranking_change([alike], first, second, seed=1).models}
    assert found["a"].change.low <= 0 <= found["a"].change.high
    assert found["a"].change.low < found["a"].change.high
    assert (found["c"].change.low, found["c"].change.high) == (0, 0)


def test_the_numbers_depend_on_the_seed_and_on_nothing_else() -> None:
    rng = np.random.default_rng(3)
    one, two = (outcomes(b, (rng.random((60, 3)) < 0.5).tolist()) for b in ("x", "y"))
    ids = [*one.item_ids[:30], *two.item_ids[:40]], [*one.item_ids[20:], *two.item_ids]
    found = ranking_change([one, two], *ids, seed=4, replicates=200)
    again = ranking_change([two, one], *ids, seed=4, replicates=200)
    assert found == again
    assert found != ranking_change([one, two], *ids, seed=5, replicates=200)


def test_models_that_lack_a_benchmark_are_left_out() -> None:
    half = outcomes("gsm", [[0, 1], [0, 0]], ("a", "c"))
    found = ranking_change([ARC, half], ["arc/0"], ["gsm/0"], replicates=0)
    assert [m.model for m in found.models] == ["a", "c"]
    assert ranking_change([ARC, half], ["arc/0"], ["arc/1"], replicates=0).models[1].model == "b"


@pytest.mark.parametrize("ids", [([], ["arc/0"]), (["law/0"], ["law/1"])])
def test_without_results_there_is_no_ranking(ids: tuple[list[str], list[str]]) -> None:
    found = ranking_change([ARC], *ids)
    assert math.isnan(found.tau)
    assert found.items_before == 0
