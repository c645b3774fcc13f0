from __future__ import annotations

import json
from dataclasses import replace

import pytest

from benchprism.report.assemble import Holdings, assemble
from benchprism.report.content import Report
from benchprism.report.data import plain
from benchprism.report.findings import findings
from benchprism.report.tables import TextTable, tables


@pytest.fixture
def report(holdings: Holdings) -> Report:
    return assemble(holdings)


def named(report: Report, start: str) -> TextTable:
    return next(table for table in tables(report) if table.title.startswith(start))


def test_each_row_has_a_cell_for_each_column(report: Report) -> None:
    for table in tables(report):
        assert {len(row) for row in table.rows} == {len(table.columns)}


def test_items_are_counted(report: Report) -> None:
    rows = named(report, "Items").rows
    assert rows[0][:4] == ("riddles", "3", "2", "1 refused")
    assert rows[1][:6] == ("sums", "12", "11", "1 not asked", "12", "4")


def test_the_commonest_value_and_its_share(report: Report) -> None:
    table = named(report, "Profile")
    cells = {row[0]: row[1:] for row in table.rows}
    assert table.columns == ("attribute", "riddles", "sums")
    assert cells["Depth"] == ("1 100%", "0 55%")
    assert cells["Negation"] == ("yes 100%", "–")
    assert cells["Domain"] == ("play of words 100%", "maths 100%")


def test_what_accuracy_hides(report: Report) -> None:
    (row,) = [r for r in named(report, "What accuracy hides").rows if r[1] == "Depth"]
    assert row[:5] == ("sums", "Depth", "11", "56%", "0: 83%  2: 23%")
    assert row[5] == "60"


def test_a_replay_is_named_in_the_titles(report: Report) -> None:
    assert "(replay)" in named(report, "Profile").title
    asked = replace(report, annotators=())
    assert not any("replay" in table.title for table in tables(asked))


def test_findings_tell_the_clearest_division(report: Report) -> None:
    first = findings(report)[0]
    assert first.number == "83% → 23%"
    assert first.sentence.startswith("sums: an accuracy of 56% hides 83% on items with depth 0")
    assert "83% on items with depth 0 (n = 6) and 23% on those with 2 (n = 5)" in first.sentence
    assert first.replayed


def test_the_data_are_the_same_numbers(report: Report) -> None:
    data = plain(report)
    json.dumps(data)
    (sums,) = data["heterogeneity"]
    (depth,) = [d for d in sums["divisions"] if d["attribute"] == "depth"]
    assert [s["items"] for s in depth["strata"]] == [6, 5]
    assert data["profile"][1]["attributes"][0]["values"][0]["count"] == 6
    assert data["replayed"] is True
    assert data["sources"][0]["failures"] == {"refused": 1}
