from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.items.record import content_hash
from benchprism.records.results.logs.inspect_archive import MEMBER_LIMIT

from .conftest import Reader, WriteJson

MC = "inspect/2026-11-29T15-16-13-00-00_toy-mc_7h6DiWwkGBWKzdPAqwfhnZ.eval"
MULTI = "inspect/2026-11-29T15-16-14-00-00_toy-multi_UDyxnXvsMH6zkxJ6Db7Mzi.eval"


def sample(number: int, **fields: Any) -> dict[str, Any]:
    score = {"match": {"value": "C", "answer": "4"}}
    return {"id": number, "epoch": 1, "input": "2+2?", "target": "4", "scores": score, **fields}


def header(**fields: Any) -> dict[str, Any]:
    score = {"name": "match", "scorer": "match", "metrics": {"accuracy": {"value": 1.0}}}
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "sums", "model": "openai/gpt", "run_id": "r"},
        "results": {"scores": [score]},
        **fields,
    }


def archive(path: Path, members: Mapping[str, object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            file.writestr(name, json.dumps(value))
    return path


def test_zstandard_epochs_and_choices(data: Path, read: Reader) -> None:
    reading = read("inspect", data / MC)
    run = reading.run
    assert (run.model, run.benchmark, run.version) == ("mockllm/alpha", "toy_mc", "0.3.285")
    assert (run.metric, run.filter) == ("choice", "choice")
    assert sorted({(row["doc_id"], row["trial"]) for row in reading.rows})[:3] == [
        ("astro-0", 0),
        ("astro-0", 1),
        ("astro-1", 0),
    ]
    row = reading.rows[0]
    assert (row["doc_id"], row["choice_index"], row["response"]) == ("astro-0", 1, "ANSWER: B")
    choices = ["Venus", "Mercury", "Mars", "Earth"]
    assert row["item_hashes"] == [content_hash("Which planet is closest to the Sun?", "", choices)]


def test_each_scorer_and_each_key_of_a_scorer_is_a_metric(data: Path, read: Reader) -> None:
    reading = read("inspect", data / MULTI)
    assert {(row["metric"], row["filter"]) for row in reading.rows} == {
        ("match", "match"),
        ("correct", "dict_scorer"),
        ("length", "dict_scorer"),
        ("float_scorer", "float_scorer"),
    }
    assert reading.scores("float_scorer") == [0.5] * 4
    assert reading.scores("length") == [None] * 4
    assert reading.kinds == ["scale"]


@pytest.mark.parametrize(
    ("value", "score", "status"),
    [
        ("C", 1.0, "scored"),
        ("I", 0.0, "scored"),
        ("P", 0.5, "scored"),
        ("N", 0.0, "scored"),
        (True, 1.0, "scored"),
        ("no", 0.0, "scored"),
        ("0.25", 0.25, "scored"),
        (float("nan"), None, "unscored"),
        (None, None, "unscored"),
        ("perhaps", None, "unscored"),
    ],
)
def test_values(
    value: object, score: float | None, status: str, read: Reader, write_json: WriteJson
) -> None:
    log = header(samples=[sample(1, scores={"match": {"value": value}})])
    (row,) = read("inspect", write_json("log.json", log)).rows
    assert (row["score"], row["status"]) == (score, status)


def test_a_text_that_is_no_grade_is_shown(read: Reader, write_json: WriteJson) -> None:
    log = header(samples=[sample(1, scores={"match": {"value": "perhaps"}})])
    (finding,) = read("inspect", write_json("log.json", log)).findings
    assert finding.kind == "values"
    assert "'perhaps'" in finding.found


def test_an_errored_sample_is_not_wrong(read: Reader, write_json: WriteJson) -> None:
    error = {"message": "time out", "traceback": "..."}
    log = header(samples=[sample(1), sample(2, scores={}, error=error), sample(3, scores={})])
    rows = read("inspect", write_json("log.json", log)).rows
    assert [row["status"] for row in rows] == ["scored", "errored", "unscored"]
    assert [row["score"] for row in rows] == [1.0, None, None]
    assert [row["metric"] for row in rows] == ["match"] * 3


def test_a_list_of_values_is_a_metric_for_each_place(read: Reader, write_json: WriteJson) -> None:
    log = header(samples=[sample(1, scores={"parts": {"value": ["C", "I"]}})], results=None)
    rows = read("inspect", write_json("log.json", log)).rows
    assert [(row["metric"], row["score"]) for row in rows] == [("parts/0", 1.0), ("parts/1", 0.0)]


def test_an_unfinished_run_is_read_and_said(read: Reader, tmp_path: Path) -> None:
    start = {"version": 2, "eval": header()["eval"], "plan": {}}
    members = {"_journal/start.json": start, "samples/1_epoch_1.json": sample(1)}
    reading = read("inspect", archive(tmp_path / "log.eval", members))
    assert reading.scores() == [1.0]
    assert reading.kinds == ["unfinished"]
    assert (reading.run.metric, reading.run.filter) == ("match", "match")


def test_a_zip_bomb_is_refused_before_it_is_unpacked(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    members = {"header.json": header(), "samples/1_epoch_1.json": sample(1)}
    archive(path, members)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("samples/2_epoch_1.json", b" " * 10_000)
    # The size that the archive states for the last member: 10,000 bytes become 300 million.
    size, huge = (10_000).to_bytes(4, "little"), (300_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(size, huge))
    reading = read("inspect", path)
    assert reading.scores() == [1.0]
    (finding,) = reading.findings
    assert finding.kind == "too_large"
    assert f"at most {MEMBER_LIMIT:,} bytes" in str(finding)


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_a_cut_archive_is_a_finding(keep: float, data: Path, read: Reader, tmp_path: Path) -> None:
    whole = (data / MC).read_bytes()
    path = tmp_path / "log.eval"
    path.write_bytes(whole[: int(len(whole) * keep)])
    reading = read("inspect", path)
    assert not reading.batches
    assert reading.kinds == ["truncated"]


def test_a_damaged_member_costs_itself_alone(data: Path, read: Reader, tmp_path: Path) -> None:
    whole = bytearray((data / MC).read_bytes())
    with zipfile.ZipFile(data / MC) as file:
        info = file.getinfo("samples/bio-0_epoch_1.json")
    start = info.header_offset + 30 + len(info.filename)
    whole[start + 20 : start + 400] = bytes(380)
    path = tmp_path / "log.eval"
    path.write_bytes(whole)
    reading = read("inspect", path)
    assert len(reading.rows) == 15
    assert "bio-0_epoch_1" in str(reading.findings[0])


def test_old_and_odd_logs(data: Path, read: Reader) -> None:
    tools = read("inspect", data / "inspect/log_tool_call_error.json")
    assert [row["status"] for row in tools.rows] == ["unscored"]
    cancelled = read("inspect", data / "inspect/2025-05-12T20-28-13-04-00_no-samples.json")
    assert cancelled.kinds == ["unfinished", "aggregates"]
    assert read("inspect", data / "inspect/log_with_nan.txt").kinds == ["aggregates"]
    (finding,) = read("inspect", data / "inspect/log_invalid.txt").findings
    assert (finding.kind, finding.line) == ("truncated", 2)


def test_messages_with_several_parts(read: Reader, write_json: WriteJson) -> None:
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image", "image": "..."}]
    asked = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": parts}]
    log = header(samples=[sample(1, input=asked, metadata={"item_id": "zoo/7"})])
    (row,) = read("inspect", write_json("log.json", log)).rows
    assert (row["question"], row["source_id"]) == ("What is it?", "zoo/7")


def test_a_member_that_is_not_as_it_was_packed_is_not_read(
    data: Path, read: Reader, tmp_path: Path
) -> None:
    """Of each sample's checksum one bit is turned; the header's is left alone."""
    content = bytearray((data / MC).read_bytes())
    with zipfile.ZipFile(data / MC) as file:
        samples = {one.filename for one in file.infolist() if one.filename.startswith("samples/")}
    at = 0
    while (at := content.find(b"PK\x01\x02", at)) >= 0:
        length = int.from_bytes(content[at + 28 : at + 30], "little")
        if content[at + 46 : at + 46 + length].decode() in samples:
            content[at + 16] ^= 1
        at += 4
    path = tmp_path / "a.eval"
    path.write_bytes(content)
    reading = read("inspect", path)
    assert not reading.rows
    assert reading.kinds.count("truncated") == len(samples)
    assert "Bad CRC-32" in reading.findings[0].found


@pytest.mark.parametrize(("version", "kinds"), [(2, []), (None, []), (99, ["version"])])
def test_an_unknown_version_is_said(
    read: Reader, tmp_path: Path, version: int | None, kinds: list[str]
) -> None:
    members = {"header.json": header(version=version), "samples/1.json": sample(1)}
    reading = read("inspect", archive(tmp_path / "a.eval", members))
    assert reading.kinds == kinds
    assert reading.scores() == [1.0]


def test_a_sample_that_is_not_there_is_said(
    read: Reader, write_json: WriteJson, tmp_path: Path
) -> None:
    results = {**header()["results"], "total_samples": 2}
    full = archive(
        tmp_path / "full.eval",
        {"header.json": header(results=results), "samples/1.json": sample(1),
         "samples/2.json": sample(2)},
    )  # fmt: skip
    assert read("inspect", full).kinds == []
    less = write_json("less.json", header(results=results, samples=[sample(1)]))
    (finding,) = read("inspect", less).findings
    assert finding.found == "1 of its samples"
    assert finding.wanted == "all 2 that the log's results count"


def test_what_is_missing_in_a_header_is_named(read: Reader, tmp_path: Path) -> None:
    members = {"header.json": {"version": 2, "status": "success", "eval": {"task": "t"}}}
    reading = read("inspect", archive(tmp_path / "a.eval", members))
    assert "not laid out as inspect (no 'model')" in reading.findings[0].found
