"""Parquet details: lighteval new and old, and the leaderboard's two archives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.items.record import content_hash

from .conftest import Reader, WriteJson, WriteLines

TIME = "2026-11-29T15-29-21.204682"
MC = f"lighteval/details/tiny-model/{TIME}/details_composed:mc|0_{TIME}.parquet"


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_rows_are_in_the_order_of_doc_id_not_of_the_file(data: Path, read: Reader) -> None:
    reading = read("lighteval", data / MC)
    assert (reading.run.model, reading.run.benchmark) == ("runs/tiny-model", "composed:mc")
    assert (reading.run.metric, reading.run.n_shot) == ("acc", 0)
    row = reading.rows[0]
    assert (row["doc_id"], row["source_id"]) == ("3", "chem-0")
    # log-probabilities -12.11, -12.12, -6.08, -12.04
    assert row["choice_index"] == 2
    wanted = content_hash("What is the chemical symbol of sodium?", "", ["So", "Na", "S", "N"])
    assert row["item_hashes"][0] == wanted


def test_a_score_of_another_task_s_average_is_not_stated(data: Path, read: Reader) -> None:
    """The results file gives this task ``em`` 0.0, which none of its rows has."""
    assert [score.metric for score in read("lighteval", data / MC).run.stated] == ["acc"]


def test_flat_details(read: Reader, tmp_path: Path, write_json: WriteJson) -> None:
    name = "lighteval|arc:challenge|25|0"
    folder = tmp_path / "out/details/org/model/2024-05-01T10-00-00.000000"
    rows = [
        {
            "example": "Question: Which is a planet?\nAnswer:",
            "full_prompt": "...",
            "predictions": [[-3.0, 0.0], [-1.0, 1.0]],
            "choices": [" Mars", " Moon"],
            "gold_index": [0],
            "metrics": {"acc": 0, "acc_norm": 1},
        },
        {
            "example": "Question: Which is a moon?\nAnswer:",
            "full_prompt": "...",
            "predictions": [[-1.0, 0.0], [-2.0, 1.0]],
            "choices": [" Io", " Mars"],
            "gold_index": [0],
            "metrics": {"acc": 1, "acc_norm": 1},
        },
    ]
    path = write_parquet(folder / f"details_{name}_2024-05-01T10-00-00.000000.parquet", rows)
    write_json(
        "out/results/org/model/results_2024-05-01T10-00-00.000000.json",
        {
            "config_general": {"model_name": "org/model"},
            "results": {name: {"acc": 0.5, "acc_stderr": 0.5, "acc_norm": 1.0}},
        },
    )
    reading = read("lighteval", path)
    assert (reading.run.benchmark, reading.run.n_shot) == ("arc:challenge", 25)
    assert reading.means() == {("acc", ""): 0.5, ("acc_norm", ""): 1.0}
    assert not list(reading.sums().findings())
    assert [row["choice_index"] for row in reading.rows[::2]] == [1, 0]
    wanted = content_hash("Which is a planet?", "", ["Mars", "Moon"])
    assert reading.rows[0]["item_hashes"][0] == wanted


@pytest.mark.parametrize("in_columns", [True, False])
def test_the_first_archive_of_the_leaderboard(
    in_columns: bool, read: Reader, tmp_path: Path, write_json: WriteJson
) -> None:
    time = "2023-07-19T15:58:12.174583"
    repository = "details_org__model-7b"
    scores = {"acc": 0.0, "acc_norm": 1.0}
    row = {
        "example": "Mercury_7175875",
        "query": "Question: Which is a planet?\nAnswer:",
        "predictions": [-3.0, -1.0],
        "choices": ["Mars", "Moon"],
        "gold": 0,
        **(scores if in_columns else {"metrics": scores}),
    }
    name = "harness|arc:challenge|25"
    path = write_parquet(tmp_path / repository / time / f"details_{name}_{time}.parquet", [row])
    write_json(
        f"{repository}/results_{time}.json",
        {"results": {name: {"acc": 0.0, "acc_stderr": 0.1, "acc_norm": 1.0}}},
    )
    reading = read("leaderboard", path)
    assert (reading.run.model, reading.run.benchmark) == ("org/model-7b", "arc:challenge")
    assert (reading.run.metric, reading.run.n_shot) == ("acc_norm", 25)
    assert reading.means() == {("acc", ""): 0.0, ("acc_norm", ""): 1.0}
    assert not list(reading.sums().findings())
    first = reading.rows[0]
    assert (first["doc_id"], first["source_id"], first["choice_index"]) == (
        "0",
        "Mercury_7175875",
        1,
    )


def test_the_second_archive_of_the_leaderboard(read: Reader, write_lines: WriteLines) -> None:
    row = {
        "doc_id": 0,
        "doc": {"prompt": "Write three words.", "key": 1000},
        "target": "",
        "resps": [["one two three"]],
        "filtered_resps": ["one two three"],
        "prompt_level_strict_acc": True,
        "inst_level_strict_acc": [True, False],
    }
    folder = "org__model-7b-details"
    name = "samples_leaderboard_ifeval_2024-06-17T23-52-29.872133.json"
    reading = read("leaderboard", write_lines(f"{folder}/{name}", [row]))
    assert (reading.run.model, reading.run.benchmark) == ("org/model-7b", "leaderboard_ifeval")
    assert reading.scores() == [1.0, 0.5]
    assert reading.rows[0]["source_id"] == "1000"


def test_damaged_parquet(data: Path, read: Reader, tmp_path: Path) -> None:
    path = tmp_path / f"details_composed:mc|0_{TIME}.parquet"
    path.write_bytes((data / MC).read_bytes()[:-100])
    reading = read("lighteval", path)
    assert not reading.batches
    assert reading.kinds == ["truncated"]


def test_rows_without_a_metric_are_misfits(read: Reader, tmp_path: Path) -> None:
    doc = json.dumps({"id": "1"})
    path = tmp_path / "details_t|0.parquet"
    write_parquet(path, [{"doc": doc, "metric": "none", "model_response": {"text": ["x"]}}] * 3)
    assert read("lighteval", path).kinds == ["layout"] * 2
