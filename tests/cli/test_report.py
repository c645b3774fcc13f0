"""The command ``report`` on a small project: the page, the tables, the data."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.cli.main import main
from benchprism.records.items.record import content_hash

CATALOGUE = """
catalogue: small
version: 1
dimensions:
  - id: demands
    title: Demands
    attributes:
      - {id: depth, type: level, question: "How deep?", levels: {0: none, 1: some}}
      - {id: group, type: label, question: "Which?", labels: [even, odd]}
"""
QUESTIONS = [f"What is {row} plus {row}? <script>alert({row})</script>" for row in range(12)]
Command = Callable[..., str]


@pytest.fixture
def benchprism(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in the project's folder, without an error; what it prints on stdout."""
    (tmp_path / "benchprism.yaml").write_text("project: tiny\ncatalogue: small.yaml\n")
    (tmp_path / "small.yaml").write_text(CATALOGUE)
    (tmp_path / "models.yaml").write_text("models:\n  strong: {family: F, size: 2}\n")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["benchprism", *arguments])
        capsys.readouterr()
        with suppress(SystemExit):
            main()
        output = capsys.readouterr()
        assert "benchprism: " not in output.err
        return output.out

    return run


@pytest.fixture
def sums(benchprism: Command, tmp_path: Path) -> None:
    """Twelve sums; six have depth 1. Everybody solves the others, 'strong' two of the six."""
    rows = [{"question": q, "answer": str(2 * n)} for n, q in enumerate(QUESTIONS)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    benchprism("items", "add", "sums", "--from", "sums.jsonl", "--map", "question=question",
               "--map", "answer=answer", "--answer", "free")  # fmt: skip


@pytest.fixture
def annotated(benchprism: Command, sums: None, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "recorded.gz", "wt", encoding="utf-8") as file:
        for row, question in enumerate(QUESTIONS):
            values = {"depth": int(row >= 6), "group": ["even", "odd"][row % 2]}
            reply = {"values": values, "doubt": [], "note": "n"}
            recording = {"content_hash": content_hash(question, "", []), "passes": {"a": reply}}
            file.write(json.dumps(recording) + "\n")
    benchprism("annotate", "--replay", "recorded.gz")


@pytest.fixture
def scored(benchprism: Command, annotated: None, tmp_path: Path) -> None:
    lines = ["benchmark,item_id,model,score"]
    for row in range(12):
        lines += [f"sums,sums/{row},{model},{int(right)}" for model, right in (
            ("strong", row < 8), ("weak", row < 6), ("other", row < 6),
        )]  # fmt: skip
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    benchprism("results", "add", "scores.csv")


def data(benchprism: Command) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(benchprism("report", "--json"))
    return found


def test_items_alone_make_a_report(benchprism: Command, sums: None) -> None:
    found = data(benchprism)
    assert found["sources"][0]["items"] == 12
    assert found["sources"][0]["failures"] == {"not asked": 12}
    assert found["heterogeneity"] == []
    assert found["scores"] == []


def test_the_page_is_one_well_formed_file(
    benchprism: Command, scored: None, tmp_path: Path
) -> None:
    out = benchprism("report", "--out", "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))
    assert "alert(3)" not in page.replace("&lt;script&gt;alert(3)", "")
    assert "What accuracy hides" in out
    assert "(replay)" in out


def test_the_numbers_are_those_worked_out_by_hand(benchprism: Command, scored: None) -> None:
    found = data(benchprism)
    (sums,) = found["heterogeneity"]
    depth = next(d for d in sums["divisions"] if d["attribute"] == "depth")
    assert [s["accuracy"]["mean"] for s in depth["strata"]] == pytest.approx([1, 2 / 18])
    assert sums["overall"]["mean"] == pytest.approx(20 / 36)
    assert depth["spread"]["spread"] == pytest.approx(16 / 18)
    assert depth["clear"]
    group = next(d for d in sums["divisions"] if d["attribute"] == "group")
    assert group["spread"]["spread"] == pytest.approx(0)
    assert not group["clear"]
    assert found["replayed"]
    assert found["annotators"] == [{"name": "llm:replay:reader-a", "values": 24, "replayed": True}]
    (row,) = found["scores"]
    assert row["accuracy"]["value"] == pytest.approx(20 / 36)


def test_a_refusal_is_counted_wherever_numbers_stand(
    benchprism: Command, annotated: None, tmp_path: Path
) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as ledger:
        ledger.execute(
            "UPDATE annotation SET value = NULL, status = 'refused' WHERE attribute = 'depth' AND"
            " reply_id IN (SELECT reply_id FROM reply WHERE item_id < 'sums/2')"
        )
    found = data(benchprism)
    refused = 4  # sums/0, sums/1, sums/10 and sums/11
    assert found["missing"]["by_end"] == {"refused": refused}
    assert found["missing"]["by_attribute"] == [
        {"name": "depth", "values": 12, "missing": refused, "by_end": {"refused": refused}}
    ]
    assert found["annotators"][0]["values"] == 24 - refused
    assert {s["source"] for c in found["confidence"] for s in c["sources"]} == {"none"}
    out = benchprism("report")
    assert "Missing values by attribute" in out


def test_a_subset_is_shown_beside_its_sources(
    benchprism: Command, scored: None, tmp_path: Path
) -> None:
    (tmp_path / "deep.yaml").write_text("name: deep\nfrom: all\nwhere: {all: [{depth: 1}]}\n")
    benchprism("compose", "deep.yaml")
    (subset,) = data(benchprism)["subsets"]
    assert (subset["items"], subset["shifts"][0]["after"]) == (6, 1.0)
    (origin,) = subset["origins"]
    assert origin["chosen"] == origin["excluded"] == 6
    assert origin["accuracy_after"] == pytest.approx(2 / 18)


def test_a_subset_that_is_not_there_is_one_sentence(
    benchprism: Command, sums: None, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["benchprism", "report", "--subset", "nope"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    assert "no subset 'nope'" in capsys.readouterr().err


def test_an_attribute_added_after_composing_is_missing(
    benchprism: Command, scored: None, tmp_path: Path
) -> None:
    (tmp_path / "deep.yaml").write_text("name: deep\nfrom: all\nwhere: {all: [{depth: 1}]}\n")
    benchprism("compose", "deep.yaml")
    added = "      - {id: needs_tool, type: boolean, question: 'A tool?'}\n"
    (tmp_path / "small.yaml").write_text(CATALOGUE + added)
    (subset,) = data(benchprism)["subsets"]
    assert [shift["attribute"] for shift in subset["shifts"]] == ["depth"]


def test_items_left_out_by_a_rule_are_not_called_unannotated(
    benchprism: Command, sums: None, tmp_path: Path
) -> None:
    # Nothing is annotated; of the numbers from 0 to 11 three have the digit 1.
    where = "where: {all: [{question: {contains: '1'}}, {word_count: {min: 1}}]}"
    (tmp_path / "ones.yaml").write_text(f"name: ones\nfrom: all\n{where}\n")
    benchprism("compose", "ones.yaml")
    (origin,) = data(benchprism)["subsets"][0]["origins"]
    assert (origin["not_annotated"], origin["excluded"], origin["chosen"]) == (0, 9, 3)
    rows = [line.split() for line in benchprism("report").splitlines()]
    assert ["ones", "3", "0", "9"] in [row[:4] for row in rows]
    page = (tmp_path / "reports" / "report.html").read_text(encoding="utf-8")
    cells = "".join(f'<td class="number">{cell}</td>' for cell in (12, 0, 9))
    assert f'<th scope="row">sums</th>{cells}' in page


def refusal(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What a command that exits with 2 prints on stderr."""
    monkeypatch.setattr(sys, "argv", ["benchprism", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    return capsys.readouterr().err


def test_a_page_replaces_nothing_but_a_page(
    benchprism: Command, sums: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "link.html").symlink_to("benchprism.yaml")
    os.mkfifo(tmp_path / "pipe.html")
    before = (tmp_path / "benchprism.yaml").read_bytes()
    for out in (".", "", "benchprism.yaml", "items/sums.parquet", "/dev/null", "page",
                "folder.html", "link.html", "pipe.html"):  # fmt: skip
        said = refusal(["report", "--out", out], monkeypatch, capsys)
        assert said.startswith("benchprism: the page cannot go to ")
        assert said.count("\n") == 1
    assert (tmp_path / "benchprism.yaml").read_bytes() == before
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "pipe.html").is_fifo()
    for out in ("new/PAGE.HTM", "new/PAGE.HTM"):
        benchprism("report", "--out", out)
    assert (tmp_path / "new" / "PAGE.HTM").is_file()


def test_a_damaged_subset_is_one_sentence(
    benchprism: Command, annotated: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "deep.yaml").write_text("name: deep\nfrom: all\nwhere: {all: [{depth: 1}]}\n")
    other = pa.BufferOutputStream()
    pq.write_table(pa.table({"x": [1]}), other)
    table = other.getvalue().to_pybytes()
    damages = [("lock.json", b"[]"), ("lock.json", b"{}"), ("lock.json", b'{"format": 2}'),
               ("items.parquet", table), ("excluded.parquet", table)]  # fmt: skip
    for name, damage in damages:
        benchprism("compose", "deep.yaml")
        whole = (tmp_path / "subsets" / "deep" / name).read_bytes()
        (tmp_path / "subsets" / "deep" / name).write_bytes(damage)
        said = refusal(["report"], monkeypatch, capsys)
        assert name in said
        assert "compose it again" in said
        assert said.count("\n") == 1
        (tmp_path / "subsets" / "deep" / name).write_bytes(whole)


def test_the_same_project_gives_the_same_bytes(
    benchprism: Command, scored: None, tmp_path: Path
) -> None:
    pages = []
    for name in ("one.html", "two.html"):
        benchprism("report", "--out", name)
        pages.append((tmp_path / name).read_bytes())
    assert pages[0] == pages[1]
