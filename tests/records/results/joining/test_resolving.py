"""Items with the same content are told apart by subset, then by row, then by order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.join import JoinOptions
from benchprism.records.results.joining.items import ProjectItems

from ..conftest import ITEMS, AddItems, JoinLogs, rows

STAMP = "2026-01-01T00-00-00.000001"


def question(text: str, subject: str) -> dict[str, Any]:
    return {"question": text, "choices": ["a", "b"], "answer": 0, "subject": subject}


WriteLog = Callable[..., Path]


@pytest.fixture
def write_log(tmp_path: Path) -> WriteLog:
    """Write a samples file of lm-eval: a question, and what the model scored."""

    def write(
        task: str, docs: Sequence[tuple[dict[str, Any], object]], *, stamp: str = STAMP
    ) -> Path:
        folder = tmp_path / "acme__model-7b"
        folder.mkdir(exist_ok=True)
        path = folder / f"samples_{task}_{stamp}.jsonl"
        lines = [
            json.dumps(
                {"doc_id": at, "doc": doc, "target": "0", "arguments": {}, "resps": [],
                 "filtered_resps": [], "filter": "none", "metrics": ["acc"], "acc": score}
            )
            for at, (doc, score) in enumerate(docs)
        ]  # fmt: skip
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture
def mmlu(project_items: AddItems, tmp_path: Path) -> ProjectItems:
    """One question in two subjects, and twice within one of them."""
    docs = [question(text, subject) for text, subject in
            (("same", "law"), ("own", "law"), ("same", "art"), ("same", "art"))]  # fmt: skip
    path = tmp_path / "mmlu.jsonl"
    path.write_text("".join(f"{json.dumps(doc)}\n" for doc in docs), encoding="utf-8")
    return project_items(mmlu=path)


def scores(found: list[dict[str, Any]]) -> dict[str, float | None]:
    return {row["item_id"].removeprefix("mmlu/"): row["score"] for row in found}


def test_the_subset_then_the_row(
    mmlu: ProjectItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    law = write_log("mmlu_law", [(question("same", "law"), 1.0), (question("own", "law"), 0.0)])
    art = write_log("mmlu_art", [(question("same", "art"), 0.0), (question("same", "art"), 1.0)])
    assert scores(rows(join_logs(mmlu, law, art))) == {
        "law/test/0": 1.0, "law/test/1": 0.0, "art/test/0": 0.0, "art/test/1": 1.0,
    }  # fmt: skip


def test_the_order_where_nothing_else_tells(
    mmlu: ProjectItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    docs = [(question("own", "art"), 1.0), (question("x", "x"), 1.0), (question("same", ""), 0.0),
            (question("same", ""), 1.0)]  # fmt: skip
    log = write_log("quiz", docs)
    joined = join_logs(mmlu, log, options=JoinOptions(min_joined=0.5))
    assert scores(rows(joined)) == {"law/test/1": 1.0, "law/test/0": 0.0, "art/test/0": 1.0}


def test_one_item_twice_in_a_log(
    mmlu: ProjectItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    own = question("own", "law")
    joined = join_logs(mmlu, write_log("law", [(own, 1.0), (own, 1.0)]))
    (counts,) = joined.report.models
    assert (counts.counts.joined, counts.counts.duplicated) == (1, 1)
    torn = join_logs(mmlu, write_log("law", [(own, 1.0), (own, 0.0)]))
    assert not torn.tables
    (conflict,) = torn.report.conflicts
    assert (conflict.item_id, conflict.scores) == ("mmlu/law/test/1", (0.0, 1.0))


def test_missing_scores_stay_missing(
    mmlu: ProjectItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    docs = [(question("same", "law"), None), (question("own", "law"), float("nan"))]
    art = [(question("same", "art"), "Infinity"), (question("same", "art"), 1.0)]
    joined = join_logs(mmlu, write_log("mmlu_law", docs), write_log("mmlu_art", art))
    assert scores(rows(joined)) == {"art/test/0": None, "art/test/1": 1.0}
    (counts,) = [row for row in joined.report.models if row.added]
    assert (counts.counts.joined, counts.counts.unscored) == (2, 1)
    assert "mmlu_law (lm-eval): no score of 'acc' (2 unscored or errored)" in str(
        joined.report.refused[0]
    )


def test_a_task_of_two_benchmarks_alike_has_to_be_told(
    project_items: AddItems, join_logs: JoinLogs, write_log: WriteLog, tmp_path: Path
) -> None:
    files = {name: tmp_path / f"{name}.jsonl" for name in ("mmlu", "toy_mc")}
    for path in files.values():
        row = {**question("same", "law"), "id": "1"}
        path.write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    items = project_items(**files)
    log = write_log("quiz", [(question("same", "law"), 1.0)])
    joined = join_logs(items, log)
    assert "items that are in 'mmlu' and in 'toy_mc' alike" in str(joined.report.refused[0])
    told = join_logs(items, log, options=JoinOptions(benchmark="toy_mc"))
    assert [row["benchmark"] for row in rows(told)] == ["toy_mc"]
    named = join_logs(items, write_log("mmlu", [(question("same", "law"), 1.0)]))
    assert [row["benchmark"] for row in rows(named)] == ["mmlu"]
    with pytest.raises(InputError, match="did you mean 'toy_mc'"):
        join_logs(items, log, options=JoinOptions(benchmark="toy_mcc"))


def test_a_second_run_of_the_task_counts(
    mmlu: ProjectItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    docs = [(question("same", "law"), 1.0), (question("own", "law"), 1.0)]
    write_log("mmlu_law", [(doc, 0.0) for doc, _ in docs])
    last = write_log("mmlu_law", docs, stamp="2026-02-01T00-00-00.000001")
    joined = join_logs(mmlu, last.parent)
    assert set(scores(rows(joined)).values()) == {1.0}
    ((_, rerun),) = joined.report.reruns
    assert (rerun.runs, rerun.is_last) == (2, True)


def test_errored_samples_are_missing_and_counted(
    mmlu: ProjectItems, join_logs: JoinLogs, tmp_path: Path
) -> None:
    """As Inspect logs them: no scores and an error, which is not a wrong answer."""
    samples = [
        {"id": at, "epoch": 1, "input": text, "choices": ["a", "b"], "target": "A",
         "scores": scores_, "error": error}
        for at, (text, scores_, error) in enumerate(
            [("own", {"choice": {"value": "C"}}, None), ("same", {}, {"message": "timeout"})]
        )
    ]  # fmt: skip
    log = {
        "version": 2, "status": "success",
        "eval": {"eval_id": "e", "task": "law", "model": "acme/m", "packages": {}},
        "results": {"scores": [{"name": "choice", "scorer": "choice", "metrics": {}}]},
        "samples": samples,
    }  # fmt: skip
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log), encoding="utf-8")
    joined = join_logs(mmlu, path)
    assert scores(rows(joined)) == {"law/test/1": 1.0, "law/test/0": None}
    (counts,) = joined.report.models
    assert (counts.counts.joined, counts.counts.errored, counts.counts.unscored) == (2, 1, 0)


def test_a_composed_task_lands_on_the_benchmarks_of_its_items(
    project_items: AddItems, join_logs: JoinLogs, write_log: WriteLog
) -> None:
    """Items that carry the project's ids are put where they are from."""
    items = project_items("toy_mc", "toy_gen")
    ids = ("toy_mc/astronomy/astro-0", "toy_gen/gen-0")
    docs = [({"item_id": own, "question": "as exported"}, 1.0) for own in ids]
    joined = join_logs(items, write_log("composed", docs))
    assert {row["item_id"]: row["benchmark"] for row in rows(joined)} == {
        ids[0]: "toy_mc", ids[1]: "toy_gen",
    }  # fmt: skip
    assert [row.benchmark for row in joined.report.models] == ["toy_gen", "toy_mc"]


def test_a_wide_table_names_its_items(
    project_items: AddItems, join_logs: JoinLogs, tmp_path: Path
) -> None:
    path = tmp_path / "toy_mc.csv"
    path.write_text("item_id,m,n\nastro-0,1,0\nbio-0,,1\n", encoding="utf-8")
    found = rows(join_logs(project_items("toy_mc"), path))
    assert [(row["item_id"], row["model"], row["score"]) for row in found] == [
        ("toy_mc/astronomy/astro-0", "m", 1.0),
        ("toy_mc/biology/bio-0", "m", None),
        ("toy_mc/astronomy/astro-0", "n", 0.0),
        ("toy_mc/biology/bio-0", "n", 1.0),
    ]
    other = tmp_path / "elsewhere.csv"
    other.write_text("item_id,m,n\n1,1,0\n2,1,1\n", encoding="utf-8")
    kept = join_logs(project_items("toy_mc"), other)
    assert {(row["benchmark"], row["item_id"]) for row in rows(kept)} == {
        ("elsewhere", "1"), ("elsewhere", "2"),
    }  # fmt: skip


def test_items_of_a_mixed_log_are_counted_for_their_own_benchmarks(
    project_items: AddItems, mmlu: ProjectItems, write_log: WriteLog, join_logs: JoinLogs
) -> None:
    lines = (ITEMS / "toy_mc.jsonl").read_text(encoding="utf-8").splitlines()
    toys = [json.loads(line) for line in lines[:3]]
    own = project_items("toy_mc")
    assert {*mmlu.benchmarks} < {*own.benchmarks}
    docs = [(question("own", "law"), 1.0), *((toy, 0.0) for toy in toys)]
    joined = join_logs(own, write_log("mixed", docs))
    assert joined.report.found_by == {"mmlu": {"content": 1}, "toy_mc": {"content": 3}}
