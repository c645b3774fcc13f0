"""Every sample log lands on its items, and the joined scores give what the log states."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.results.join import Joined, JoinOptions
from benchprism.records.results.joining.metric_choice import Wanted

from .conftest import DATA, AddItems, JoinLogs, rows

LOGS = DATA / "logs"
HF = "lm_eval/out_hf/models__tiny-gpt2-s1/samples_{}_2026-11-29T15-12-12.704052.jsonl"
OLD = "lm_eval/out_v045/samples_{}_2026-11-29T15-51-22.623731.jsonl"
EEE = "every_eval_ever/data/{}/models/tiny-gpt2-s1/{}_samples.jsonl"
LIGHT = "lighteval/details/tiny-model/2026-11-29T15-29-21.204682/details_{}.parquet"


def mean(joined: Joined) -> float:
    """The mean over items of the mean over trials, by plain loops."""
    trials: dict[str, list[float]] = defaultdict(list)
    for row in rows(joined):
        if row["score"] is not None:
            trials[row["item_id"]].append(row["score"])
    means = [sum(own) / len(own) for own in trials.values()]
    return sum(means) / len(means)


# log, benchmark, items, how they are found, the mean that the log's own results state
SAMPLES = [
    (HF.format("toy_mc"), "toy_mc", 8, "content", 0.125),
    (OLD.format("toy_mc"), "toy_mc", 8, "content", 0.125),
    (HF.format("toy_gen"), "toy_gen", 4, "content", 0.0),
    (HF.format("toysubj_biology"), "toy_mc", 2, "content", 1.0),
    (HF.format("toysubj_math"), "toy_mc", 2, "content", 0.5),
    ("lm_eval/out_samples", "toy_mc", 2, "content", 0.0),
    ("inspect/2026-11-29T15-16-13-00-00_toy-mc_7h6DiWwkGBWKzdPAqwfhnZ.eval",
     "toy_mc", 8, "content", 0.875),
    ("inspect/2026-11-29T15-16-24-00-00_toy-gen_KWogxtQ3oH6XyztRD9Hpva.eval",
     "toy_gen", 4, "content", 0.75),
    ("inspect/2026-11-29T15-16-14-00-00_toy-multi_UDyxnXvsMH6zkxJ6Db7Mzi.eval",
     "toy_gen", 4, "content", 1.0),
    ("inspect/mmlu-summary-choices.eval", "mmlu", 1, "content", 0.0),
    ("evalscope/20261129_154042/reviews/alpha/general_mcq_toy.jsonl",
     "toy_mc", 8, "content", 0.3125),
    ("evalscope/qwen-plus/reviews/qwen-plus/gsm8k_main.jsonl", "gsm8k", 10, "content", 1.0),
    (EEE.format("toy_gen", "c7813b4b-08c7-4de9-8646-b4ecacc2a0ea"), "toy_gen", 4, "content", 0.0),
    (EEE.format("toysubj_math", "e2c653d2-d8d9-48c3-936d-40c6aa62162b"),
     "toy_mc", 2, "content", 0.5),
    (LIGHT.format("composed:mc|0_2026-11-29T15-29-21.204682"), "toy_mc", 8, "content", 0.125),
    ("helm/mmlu-subject=philosophy,model=openai_gpt2", "mmlu", 9, "content", 1 / 9),
]  # fmt: skip


@pytest.mark.parametrize(("log", "benchmark", "items", "how", "stated"), SAMPLES)
def test_a_sample_log_joins_and_gives_its_stated_score(
    log: str, benchmark: str, items: int, how: str, stated: float,
    project_items: AddItems, join_logs: JoinLogs,
) -> None:  # fmt: skip
    own = project_items("toy_mc", "toy_gen", "mmlu", "gsm8k")
    joined = join_logs(own, LOGS / log)
    (counts,) = joined.report.benchmarks
    assert (counts.benchmark, counts.items) == (benchmark, items)
    assert counts.counts.read == counts.counts.joined == len(rows(joined))
    assert joined.report.found_by[benchmark].get(how, 0) >= items
    assert mean(joined) == pytest.approx(stated, abs=1e-9)
    assert not joined.report.has_faults or joined.report.findings  # a score of another scale


def test_rows_keep_where_they_are_from(project_items: AddItems, join_logs: JoinLogs) -> None:
    joined = join_logs(project_items("toy_mc"), LOGS / HF.format("toysubj_biology"))
    assert rows(joined) == [
        {
            "benchmark": "toy_mc",
            "item_id": f"toy_mc/biology/bio-{number}",
            "model": "models/tiny-gpt2-s1",
            "score": 1.0,
            "trial": 0,
            "metric": "acc",
            "filter": "none",
            "run": "2026-11-29T15-12-12.704052",
            "source_format": "lm-eval",
        }
        for number in (0, 1)
    ]


def test_trials_are_kept(project_items: AddItems, join_logs: JoinLogs) -> None:
    log = LOGS / "inspect" / "2026-11-29T15-16-13-00-00_toy-mc_7h6DiWwkGBWKzdPAqwfhnZ.eval"
    trials = {
        (row["item_id"], row["trial"]) for row in rows(join_logs(project_items("toy_mc"), log))
    }
    assert len(trials) == 16
    assert {trial for _, trial in trials} == {0, 1}


def test_metric_and_filter_are_the_headline_unless_others_are_asked_for(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    items = project_items("toy_mc", "toy_gen")
    folder = LOGS / "lm_eval" / "out_hf"
    (choice, *_) = join_logs(items, folder).report.choices
    assert (choice.task.name, *choice.pair) == ("toy_gen", "exact_match", "strict-match")
    assert choice.others == (("exact_match", "flexible-extract"),)
    wanted = Wanted({"": "acc_norm"}, {"toy_gen": "flexible-extract"})
    chosen = join_logs(items, folder, options=JoinOptions(wanted)).report.choices
    assert {one.task.name: tuple(one.pair) for one in chosen} == {
        "toy_gen": ("exact_match", "flexible-extract"),
        "toy_mc": ("acc_norm", "none"),
        "toysubj_biology": ("acc", "none"),
        "toysubj_math": ("acc", "none"),
    }


def test_a_metric_off_any_known_scale_is_refused(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    log = LOGS / "inspect" / "2026-11-29T15-16-14-00-00_toy-multi_UDyxnXvsMH6zkxJ6Db7Mzi.eval"
    options = JoinOptions(Wanted({"": "length"}))
    joined = join_logs(project_items("toy_gen"), log, options=options)
    assert not joined.tables
    (refusal,) = joined.report.refused
    assert "4 values of 'length' on a scale that is not known" in str(refusal)
    assert "--metric toy_multi=match" in str(refusal)


def test_runs_without_scores_are_refused(project_items: AddItems, join_logs: JoinLogs) -> None:
    joined = join_logs(project_items("toy_gen"), LOGS / "lm_eval" / "out_po")
    assert not joined.tables
    assert [str(one).partition(":")[0] for one in joined.report.refused] == ["toy_gen (lm-eval)"]


def test_too_small_a_share_is_refused_unless_told(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    """Two of the log's ten HellaSwag items are in the project."""
    items = project_items("hellaswag")
    log = LOGS / "helm" / "commonsense-dataset=hellaswag,model=eleutherai_pythia-1b-v0"
    joined = join_logs(items, log)
    assert not joined.tables
    (below,) = joined.report.below_share
    assert (below.joined, below.read) == (2, 10)
    assert len(joined.report.examples["hellaswag (helm)"]) == 3
    told = join_logs(items, log, options=JoinOptions(min_joined=0.0))
    assert len(rows(told)) == 2
    (counts,) = told.report.models
    assert (counts.counts.read, counts.counts.joined, counts.counts.not_joined) == (10, 2, 8)


def test_a_log_whose_items_are_not_in_the_project(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    joined = join_logs(project_items("mmlu"), LOGS / "lm_eval" / "math")
    (below,) = joined.report.below_share
    assert (below.task, below.joined, below.read) == ("math_perturbed_full (lm-eval)", 0, 4)
    assert joined.report.has_faults
    assert not joined.tables


def test_eq_bench_goes_by_number_and_may_fall_below_zero(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    items = project_items(eq_bench=DATA / "items" / "eq_bench.json")
    numbers = set(items.rows)
    options = JoinOptions(min_joined=0.0)
    joined = join_logs(items, LOGS / "eq_bench", options=options)
    assert {row["item_id"].rpartition("/")[2] for row in rows(joined)} == numbers
    scores = {row["item_id"]: row["score"] for row in rows(joined)}
    assert scores["eq_bench/validation/1"] == pytest.approx(-0.16567769, abs=1e-8)


def test_ifbench_lands_on_its_items_under_another_name(
    project_items: AddItems, join_logs: JoinLogs
) -> None:
    joined = join_logs(project_items("ifbench"), LOGS / "ifbench")
    (counts,) = joined.report.benchmarks
    assert (counts.benchmark, counts.counts.joined) == ("ifbench", 8)


def test_all_logs_at_once(project_items: AddItems, join_logs: JoinLogs) -> None:
    """Formats do not disturb each other, and nothing is raised."""
    items = project_items("toy_mc", "toy_gen", "mmlu", "gsm8k", "ifbench")
    report = join_logs(items, LOGS).report
    counts: dict[str, Any] = {row.benchmark: row.counts for row in report.benchmarks}
    assert counts["mmlu"].joined == 10
    assert counts["gsm8k"].joined == 10
    for own in counts.values():
        assert own.read == own.joined + own.not_joined + own.duplicated + own.conflicting


def test_damaged_logs_cost_themselves_alone(
    project_items: AddItems, join_logs: JoinLogs, tmp_path: Path
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    name = Path(HF.format("toy_mc")).name
    text = (LOGS / HF.format("toy_mc")).read_text(encoding="utf-8")
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name.replace("toy_mc", "toy_broken")).write_text(text[:-400], encoding="utf-8")
    joined = join_logs(project_items("toy_mc"), folder)
    assert any(finding.kind == "truncated" for finding in joined.report.findings)
    assert joined.report.has_faults
    tasks = {choice.task.name for choice in joined.report.choices}
    assert tasks == {"toy_mc", "toy_broken"}
    assert len({row["item_id"] for row in rows(joined)}) == 8
