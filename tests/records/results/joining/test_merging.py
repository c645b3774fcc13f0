from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from benchprism.records.results.joining.collected import Pair, Status, Task
from benchprism.records.results.joining.merging import Merged, merge, reconcile
from benchprism.records.results.joining.reruns import last_runs
from benchprism.records.results.joining.segments import Segment
from benchprism.records.results.logs import LogRun

Row = tuple[int, int, float]


def segment(
    *rows: Row, model: int = 0, task: str = "t", run: str = "r", file: str = "f"
) -> Segment:
    """Rows are item, trial and score; item -1 is unknown."""
    scores = np.array([row[2] for row in rows], dtype=np.float64)
    return Segment(
        run=LogRun(run, "m", task, "lm-eval", file),
        task=Task("lm-eval", task),
        model=model,
        subset="",
        pair=Pair("acc", "none"),
        benchmark="b",
        examples=(),
        items=np.array([row[0] for row in rows], dtype=np.int32),
        trials=np.array([row[1] for row in rows], dtype=np.int32),
        scores=scores,
        status=np.where(np.isnan(scores), Status.UNSCORED, Status.SCORED).astype(np.int8),
    )


def kept(part: Merged) -> list[Row]:
    own = part.kept
    found = zip(own.items.tolist(), own.trials.tolist(), own.scores.tolist(), strict=True)
    return sorted(found)


def test_each_item_and_trial_is_kept_once() -> None:
    part = merge(segment((5, 0, 1.0), (-1, 0, 1.0), (5, 1, 0.0), (5, 0, 1.0), (7, 0, 0.0)))
    assert kept(part) == [(5, 0, 1.0), (5, 1, 0.0), (7, 0, 0.0)]
    assert (part.unknown, part.duplicated, part.conflicting) == (1, 1, 0)
    assert part.share == 3 / 4


def test_contradictions_are_left_out_and_named() -> None:
    part = merge(segment((5, 0, 1.0), (5, 0, 0.0), (5, 0, 1.0), (7, 0, 1.0)))
    assert kept(part) == [(7, 0, 1.0)]
    assert part.conflicting == 3
    assert [(one.item, one.scores) for one in part.examples] == [(5, (0.0, 1.0))]


def test_a_missing_score_gives_way_to_one_that_is_there() -> None:
    part = merge(segment((5, 0, math.nan), (5, 0, 0.0)))
    assert kept(part) == [(5, 0, 0.0)]
    assert part.duplicated == 1
    only_missing = merge(segment((5, 0, math.nan), (5, 0, math.nan)))
    assert len(only_missing.kept) == 1


def test_segments_of_a_model_are_united() -> None:
    parts = [merge(segment((0, 0, 1.0), (1, 0, 0.0))), merge(segment((1, 0, 0.0), (2, 0, 1.0)))]
    reconcile(parts, 3)
    assert [kept(part) for part in parts] == [[(0, 0, 1.0), (1, 0, 0.0)], [(2, 0, 1.0)]]
    assert [part.duplicated for part in parts] == [0, 1]


def test_a_contradicting_segment_is_left_out_whole() -> None:
    """Keeping the items on which both agree would choose items by their scores."""
    small = merge(segment((1, 0, 1.0), (2, 0, 1.0), task="other"))
    large = merge(segment((0, 0, 1.0), (1, 0, 0.0), (2, 0, 1.0)))
    reconcile([small, large], 3)
    assert (len(large.kept), len(small.kept), small.conflicting) == (3, 0, 2)
    (example,) = small.examples
    assert (example.item, example.scores) == (1, (0.0, 1.0))
    assert example.sources == ("t (lm-eval)", "other (lm-eval)")


def test_models_do_not_meet() -> None:
    parts = [merge(segment((0, 0, 1.0))), merge(segment((0, 0, 0.0), model=1))]
    reconcile(parts, 1)
    assert [len(part.kept) for part in parts] == [1, 1]


def test_trials_are_compared_by_their_mean() -> None:
    parts = [merge(segment((0, 0, 1.0), (0, 1, 0.0))), merge(segment((0, 0, 0.5), task="u"))]
    reconcile(parts, 1)
    assert parts[1].duplicated == 1


def test_the_last_run_with_the_most_scores_counts() -> None:
    early = segment((0, 0, 1.0), (1, 0, 1.0), run="2026-01-01T00-00-00", file="z")
    late = segment((0, 0, 0.0), (1, 0, 0.0), run="2026-03-01T00-00-00", file="b")
    cut = segment((0, 0, 0.0), (1, 0, math.nan), run="2026-04-01T00-00-00", file="a")
    (used,), (rerun,) = last_runs([cut, late, early])
    assert used is late
    assert (rerun.runs, rerun.used, rerun.is_last) == (3, "2026-03-01T00-00-00", False)


def test_runs_without_a_time_are_in_the_order_of_their_files() -> None:
    first, second = segment((0, 0, 1.0), run="a"), segment((0, 0, 0.0), run="b")
    (used,), (rerun,) = last_runs([first, second])
    assert used is second
    assert rerun.is_last


def test_other_numbers_of_examples_are_said() -> None:
    first, second = segment((0, 0, 1.0)), segment((0, 0, 0.0))
    shots = [replace(own, run=replace(own.run, n_shot=n)) for own, n in ((first, 0), (second, 5))]
    _, (rerun,) = last_runs(shots)
    assert rerun.shots == (0, 5)


def test_other_tasks_and_models_are_no_reruns() -> None:
    given = [segment((0, 0, 1.0)), segment((0, 0, 1.0), task="u"), segment((0, 0, 1.0), model=1)]
    found, reruns = last_runs(given)
    assert len(found) == 3
    assert not reruns
