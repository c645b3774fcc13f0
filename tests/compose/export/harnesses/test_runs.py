"""The exported task files, run by the real harnesses; their logs come back to the items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.compose.export.harness.verify import LibraryReport, verify_export
from benchprism.compose.export.subset import data_file
from benchprism.records.errors import InputError
from benchprism.records.items.record import Item

WITHOUT_KEY = "own_open/test/2"


def joined(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Results read and joined, by benchmark."""
    return {row["benchmark"]: (row["read"], row["joined"]) for row in report["benchmarks"]}


def numbers(items: list[Item]) -> dict[str, tuple[int, int]]:
    names = [item.benchmark for item in items]
    return {name: (names.count(name),) * 2 for name in names}


def test_lm_eval_runs_the_group_and_its_results_join(
    harness: Any,
    exported: Any,
    nasty: list[Item],
    tmp_path: Path,
    add_results: Callable[..., dict[str, Any]],
) -> None:
    made = exported(nasty)
    ran = harness(
        "-m", "lm_eval", "run", "--model", "dummy", "--model_args", "model=acme/dummy",
        "--tasks", "mixed", "--include_path", made.folder / "harness",
        "--output_path", tmp_path / "logs", "--log_samples",
    )  # fmt: skip

    assert "missing in" not in ran.stderr  # every average is over tasks that have its metric
    report = add_results(tmp_path / "logs", nasty)
    keyed = [item for item in nasty if item.item_id != WITHOUT_KEY]
    assert joined(report) == numbers(keyed)
    assert {how for found in report["found_by"].values() for how in found} == {"id"}


def test_inspect_runs_the_task_file_and_its_results_join(
    harness: Any,
    exported: Any,
    nasty: list[Item],
    tmp_path: Path,
    add_results: Callable[..., dict[str, Any]],
) -> None:
    made = exported(nasty)
    harness(
        "-m", "inspect_ai", "eval", f"{made.folder}/harness/inspect_task.py@benchmark",
        "--model", "mockllm/model", "--log-dir", tmp_path / "logs", "--display", "none",
    )  # fmt: skip

    report = add_results(tmp_path / "logs", nasty)
    judged = [i for i in nasty if i.benchmark != "eq_bench" and i.item_id != WITHOUT_KEY]
    assert joined(report) == numbers(judged)
    assert {how for found in report["found_by"].values() for how in found} == {"id"}


def by_library(reports: list[LibraryReport]) -> dict[str, LibraryReport]:
    return {report.library: report for report in reports}


def test_verify_proves_an_export_and_finds_what_was_changed(
    harness: Any, exported: Any, nasty: list[Item]
) -> None:
    made = exported(nasty)
    found = by_library(verify_export(made.folder, made.subset.items, python=harness.python))

    assert [report.version is not None for report in found.values()] == [True] * 3
    assert [report.differences for report in found.values()] == [()] * 3
    assert all(report.holds for report in found.values())
    lm_eval = found["lm_eval"].benchmarks
    assert sum(counts.items for counts in lm_eval.values()) == len(nasty) - 1
    assert sum(counts.joined or 0 for counts in lm_eval.values()) == len(nasty) - 1
    assert lm_eval["own_open"].left_out == 1
    assert found["inspect_ai"].benchmarks["eq_bench"].left_out == 1
    without_code = found["inspect_ai"].without_code
    chosen = [item for item in nasty if item.kind == "multiple_choice"]
    assert sum(counts.rendered for counts in without_code.values()) == len(chosen)

    path = made.folder / data_file("multiple_choice")
    rows = pq.read_table(path)
    changed = rows.to_pylist()
    at = next(n for n, row in enumerate(changed) if row["item_id"] == "arc_easy/test/0")
    changed[at] |= {"answer_index": 1, "question": "124"}
    pq.write_table(pa.Table.from_pylist(changed, schema=rows.schema), path)

    found = by_library(verify_export(made.folder, made.subset.items, python=harness.python))
    assert not any(report.holds for report in found.values())
    arc = found["lm_eval"].benchmarks["arc_easy"]
    assert (arc.items, arc.rendered, arc.keyed, arc.joined) == (3, 2, 2, 3)
    assert found["lm_eval"].benchmarks["mmlu"].holds
    assert found["datasets"].differences == (
        "arc_easy/test/0: the file's texts are not the subset's",
    )


def test_verify_says_which_library_is_absent(exported: Any, nasty: list[Item]) -> None:
    made = exported(nasty[:3])
    found = by_library(verify_export(made.folder, made.subset.items))
    assert found["datasets"].holds
    assert [found[name].is_absent for name in ("datasets", "lm_eval", "inspect_ai")] == [
        False, True, True,
    ]  # fmt: skip


def test_verify_wants_texts_and_a_python(exported: Any, nasty: list[Item], tmp_path: Path) -> None:
    made = exported(nasty[:3])
    with pytest.raises(InputError, match="--python"):
        verify_export(made.folder, made.subset.items, python=tmp_path)
    made = exported(nasty[:3], ids_only=True)
    with pytest.raises(InputError, match="without --ids-only"):
        verify_export(made.folder, made.subset.items)


OWN_TASK = """
task: mmlu_anatomy
custom_dataset: !function rows.load
test_split: test
output_type: multiple_choice
doc_to_text: question
doc_to_choice: ["A", "B"]
doc_to_target: answer
metric_list: [{metric: acc, aggregation: mean, higher_is_better: true}]
"""
OWN_ROWS = """
import datasets
def load(**_):
    rows = [{"question": f"{n}?", "answer": 0} for n in range(9)]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
"""


def test_lm_eval_takes_the_selection_of_an_export_without_texts(
    harness: Any, exported: Any, nasty: list[Item], tmp_path: Path
) -> None:
    made = exported([item for item in nasty if item.subset == "anatomy"], ids_only=True)
    selection = made.folder / "harness" / "samples.json"
    assert json.loads(selection.read_text()) == {"mmlu_anatomy": [2, 7]}
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mmlu_anatomy.yaml").write_text(OWN_TASK)
    (tmp_path / "own" / "rows.py").write_text(OWN_ROWS)

    harness(
        "-m", "lm_eval", "run", "--model", "dummy", "--model_args", "model=acme/dummy",
        "--tasks", "mmlu_anatomy", "--include_path", tmp_path / "own", "--samples", selection,
        "--output_path", tmp_path / "logs", "--log_samples",
    )  # fmt: skip

    [logged] = (tmp_path / "logs").rglob("samples_*.jsonl")
    samples = [json.loads(line) for line in logged.read_text().splitlines()]
    assert [(one["doc_id"], one["doc"]["question"]) for one in samples] == [(2, "2?"), (7, "7?")]
