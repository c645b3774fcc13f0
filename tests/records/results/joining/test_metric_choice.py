from __future__ import annotations

import numpy as np
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.joining.collected import (
    CollectedRun,
    Docs,
    Pair,
    Rows,
    Status,
    Task,
)
from benchprism.records.results.joining.metric_choice import (
    Choice,
    Refusal,
    Wanted,
    choose_metrics,
    lacking,
)
from benchprism.records.results.logs import LogRun

ACC, NORM = Pair("acc", "none"), Pair("acc_norm", "none")
STRICT, FLEXIBLE = Pair("em", "strict"), Pair("em", "flexible")


def run(
    headline: Pair | None, *scored: tuple[Pair, float | None], task: str = "t", raw: bool = False
) -> CollectedRun:
    """A run with one row for each pair; ``raw`` rows have a number on an unknown scale."""
    pairs = tuple(dict.fromkeys(pair for pair, _ in scored))
    scores = np.array([np.nan if score is None else score for _, score in scored])
    missing = Status.OFF_SCALE if raw else Status.UNSCORED
    count = len(scored)
    rows = Rows(
        doc=np.arange(count, dtype=np.int32),
        model=np.zeros(count, dtype=np.int32),
        pair=np.array([pairs.index(pair) for pair, _ in scored], dtype=np.int16),
        trial=np.zeros(count, dtype=np.int32),
        score=scores,
        status=np.where(np.isnan(scores), missing, Status.SCORED).astype(np.int8),
    )
    none = np.zeros(count, dtype=np.int32)
    docs = Docs(none, none, none, ("",))
    metric, kept = headline or (None, "")
    return CollectedRun(LogRun("r", "m", task, "lm-eval", "f", metric=metric, filter=kept),
                        rows, docs, pairs)  # fmt: skip


def choose(*runs: CollectedRun, wanted: Wanted | None = None) -> Choice | Refusal:
    (found,) = choose_metrics(runs, wanted or Wanted())
    return found


@pytest.mark.parametrize(
    ("wanted", "pair", "why"),
    [
        (Wanted(), STRICT, "the log's headline"),
        (Wanted(filters={"": "flexible"}), FLEXIBLE, "as asked"),
        (Wanted(metrics={"": "acc"}), ACC, "as asked"),
        (Wanted(metrics={"t": "acc"}), ACC, "as asked"),
        (Wanted(metrics={"": "em"}), STRICT, "the log's headline"),
    ],
)
def test_the_headline_or_what_is_asked_for(wanted: Wanted, pair: Pair, why: str) -> None:
    found = choose(run(STRICT, (ACC, 1.0), (STRICT, 0.0), (FLEXIBLE, 1.0)), wanted=wanted)
    assert isinstance(found, Choice)
    assert (found.pair, found.why) == (pair, why)
    assert set(found.others) == {ACC, STRICT, FLEXIBLE} - {pair}


def test_a_task_has_one_metric_over_all_its_runs() -> None:
    """The headline of most; a run whose log states another is read by it."""
    runs = [run(ACC, (ACC, 1.0), (NORM, 0.0)), run(NORM, (ACC, 1.0), (NORM, 0.0))]
    found = choose(*runs, run(NORM, (NORM, 1.0)))
    assert isinstance(found, Choice)
    assert found.pair == NORM


def test_runs_without_the_chosen_metric_are_named() -> None:
    runs = [run(ACC, (ACC, 1.0)), run(ACC, (ACC, 1.0)), run(NORM, (NORM, 1.0))]
    (choice,) = choose_metrics(runs, Wanted())
    assert isinstance(choice, Choice)
    (refusal,) = lacking(runs, {choice.task: choice})
    assert "f has no acc none; wanted the same metric" in str(refusal)


def test_without_a_headline_the_first_metric_and_no_filter() -> None:
    found = choose(run(None, (Pair("em", "x"), 1.0), (Pair("em", "none"), 1.0)))
    assert isinstance(found, Choice)
    assert found.pair == Pair("em", "none")


def test_a_metric_for_some_tasks_leaves_the_others_alone() -> None:
    runs = [run(ACC, (ACC, 1.0), (NORM, 1.0)), run(STRICT, (STRICT, 1.0), task="u")]
    found = choose_metrics(runs, Wanted({"": "acc_norm"}))
    assert [one.pair for one in found if isinstance(one, Choice)] == [NORM, STRICT]


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (Wanted({"": "acc_norn"}), "--metric 'acc_norn'; wanted a metric that the logs have"),
        (Wanted({"t": "f1"}), "--metric 'f1'"),
        (Wanted({"tt": "acc"}), "--metric tt=acc; wanted a task of the logs; did you mean 't'?"),
        (Wanted(filters={"": "lax"}), "--filter 'lax'"),
    ],
)
def test_what_is_nowhere_is_one_sentence(wanted: Wanted, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        choose(run(ACC, (ACC, 1.0), (NORM, 1.0)), wanted=wanted)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (run(ACC, (Pair("", ""), None)), "no scores"),
        (run(ACC, (ACC, None), (NORM, 1.0)), "no score of 'acc' (1 unscored or errored)"),
        (run(ACC, (ACC, None), raw=True), "1 values of 'acc' on a scale that is not known"),
        (run(ACC, (ACC, 1.2)), "values of 'acc' that are 1.2 to 1.2 on its scale"),
        (run(ACC, (ACC, -0.2), (NORM, 1.0)), "--metric t=acc_norm, or add --penalties"),
    ],
)
def test_unusable_metrics_are_refused(given: CollectedRun, sentence: str) -> None:
    found = choose(given)
    assert isinstance(found, Refusal)
    assert sentence in str(found)
    assert found.task == Task("lm-eval", "t")


def test_scores_below_zero_where_points_come_off() -> None:
    assert isinstance(choose(run(ACC, (ACC, -0.2)), wanted=Wanted(penalties=True)), Choice)
    pair = Pair("eqbench", "none")
    assert isinstance(choose(run(pair, (pair, -0.2))), Choice)
