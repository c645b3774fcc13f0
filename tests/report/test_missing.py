"""Thirteen items that two annotators failed in every way, in a real ledger, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from benchprism.annotate.attribute_table import attribute_table
from benchprism.annotate.consolidation.consolidate import consolidation
from benchprism.annotate.consolidation.policy import ChoicePolicy, ConsolidationSettings
from benchprism.annotate.ledger.outcome import Reply, Status, Usage, Verdict
from benchprism.annotate.ledger.standing import standing
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.reading.parsing import HESITATED
from benchprism.prompts.catalogue import Catalogue, Value
from benchprism.records.documents import parse_document
from benchprism.records.items.record import Item, content_hash, items_table
from benchprism.report.assemble import Holdings, assemble
from benchprism.report.content import AnnotatorNote, Report
from benchprism.report.data import plain
from benchprism.report.missing import Tally, by_attribute, by_benchmark
from benchprism.report.page import render
from benchprism.report.remarks import remarks
from benchprism.report.said import awaited, last_said
from benchprism.report.tables import tables

CATALOGUE = """
catalogue: tiny
version: 1
dimensions:
  - id: thought
    title: Thought
    attributes:
      - {id: depth, type: level, question: "?", levels: {0: none, 1: some, 2: more}}
  - id: ethics
    title: Ethics
    attributes:
      - {id: harm, type: level, question: "?", levels: {0: none, 1: some}}
      - {id: bias, type: boolean, question: "?"}
"""
ENDS = ("refused", "filtered", "truncated", "invalid", "too_long", "abstained", "tie",
        "in a batch", "outdated", "not asked")  # fmt: skip


@pytest.fixture
def criteria() -> Catalogue:
    return parse_document(CATALOGUE, Catalogue, name="tiny")


@pytest.fixture
def items() -> pa.Table:
    names = [*(("alpha", row) for row in range(12)), ("beta", 0)]
    return items_table(_item(benchmark, row) for benchmark, row in names)


def _item(benchmark: str, row: int) -> Item:
    question = f"{benchmark} {row}"
    return Item(
        item_id=f"{benchmark}/{row}", benchmark=benchmark, subset="", split="", row=row,
        revision="r", question=question, context="", choices=(), answer_index=None,
        answer_text="7", accepted_answers=(), kind="generative", faults=(), source="{}",
        content_hash=content_hash(question, "", ()), choice_set_hash="",
    )  # fmt: skip


class Failed(NamedTuple):
    """In place of a value."""

    status: Status


class Writer:
    """Writes replies to a ledger, a second apart."""

    def __init__(self, ledger: Ledger, criteria: Catalogue) -> None:
        self._ledger, self._criteria, self._second = ledger, criteria, 0

    def add(
        self,
        annotator: str,
        item_id: str,
        given: Sequence[Value | Failed],
        *,
        content: str | None = None,
        confidence: Sequence[float | None] = (None, None, None),
        reason: str = "",
    ) -> None:
        """Add a reply that gives, or fails to give, depth, harm and bias."""
        self._second += 1
        verdicts = [
            Verdict(name, None, one.status)
            if isinstance(one, Failed)
            else Verdict(name, one, "ok", reason, sure)
            for name, one, sure in zip(("depth", "harm", "bias"), given, confidence, strict=True)
        ]
        failures = [v.status for v in verdicts if v.status not in {"ok", "abstained"}]
        question = item_id.replace("/", " ")
        reply = Reply(
            request_key=f"{annotator} {item_id}", item_id=item_id,
            content_hash=content_hash(question, "", ()) if content is None else content,
            annotator=annotator, model="m", prompt_hash="p", catalogue_hash=self._criteria.hash,
            status=failures[0] if failures else "ok", reason="", body="", usage=Usage(),
            price=None, time=f"2026-11-29T10:00:{self._second:02}.000001+00:00", seconds=0.1,
            attempts=1,
        )  # fmt: skip
        self._ledger.add([(reply, verdicts)])


@pytest.fixture
def ledger(tmp_path: Path, criteria: Catalogue) -> Path:
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, write=True) as opened:
        opened.remember(criteria)
        writer = Writer(opened, criteria)
        for row in range(5):
            reason = HESITATED if row == 0 else ""
            writer.add(
                "llm:a", f"alpha/{row}", [1, Failed("refused"), Failed("filtered")], reason=reason
            )
        writer.add("llm:a", "alpha/5", [Failed("truncated")] * 3)
        writer.add("llm:a", "alpha/6", [Failed("invalid"), 1, Failed("abstained")])
        writer.add("llm:a", "alpha/7", [1, 0, True])
        writer.add("llm:b", "alpha/7", [2, Failed("refused"), False])
        writer.add("llm:a", "alpha/8", [Failed("error")] * 3)
        writer.add("llm:b", "alpha/8", [0, 1, True], confidence=(0.9, 0.8, None))
        writer.add("llm:a", "alpha/9", [1, 1, True], content="an earlier text")
        writer.add("llm:a", "beta/0", [Failed("too_long")] * 3)
        opened.insert(
            batch=[("b", "llm:a", "m", "http://x", "", 1, None, "t")],
            batch_request=[
                ("b", "c", 0, "k", "alpha/10", "h", "generative", "", 0, 0, "p", "h"),
                ("b", "d", 0, "l", "alpha/5", "h", "generative", "ethics", 0, 0, "p", "h"),
            ],
        )
    return path


@pytest.fixture
def held(ledger: Path, items: pa.Table, criteria: Catalogue, holdings: Holdings) -> Holdings:
    settings = ConsolidationSettings(boolean=ChoicePolicy(ties="missing"))
    made = consolidation(ledger, criteria, items, settings)
    with Ledger(ledger) as opened:
        now = standing(opened)
    return replace(
        holdings,
        catalogue=criteria,
        table=attribute_table(items, made.values, criteria),
        annotators=[AnnotatorNote(name, 0, replayed=False) for name in ("llm:a", "llm:b")],
        verdicts=now.values,
        said=last_said(ledger),
        awaited=awaited(ledger),
        undecided=made.undecided,
        notes=made.notes,
        results=None,
        findings=[],
    )


@pytest.fixture
def report(held: Holdings) -> Report:
    return assemble(held)


def counted(tally: Tally) -> dict[str, tuple[int, dict[str, int]]]:
    return {
        row.name: (row.values, {e: n for e, n in zip(tally.ends, row.counts, strict=True) if n})
        for row in tally.rows
    }


def text_of(page: str) -> str:
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))
    return " ".join(" ".join(root.itertext()).split())


def test_each_value_is_counted_once_by_how_it_ended(report: Report) -> None:
    # There are 7 depths (0-4, 7, 8), 3 harms (6, 7, 8) and 1 bias (8): 11 of 3 x 13 values.
    ends = report.ends
    assert (ends.values, ends.missing, ends.untouched) == (39, 28, 3)
    assert ends.by_end == tuple(zip(ENDS, (5, 5, 3, 1, 3, 1, 1, 3, 3, 3), strict=True))


def test_missing_values_by_benchmark_and_by_attribute(report: Report) -> None:
    rest = {"in a batch": 1, "outdated": 1, "not asked": 1}
    every = {"truncated": 1, "too_long": 1, **rest}
    assert counted(by_attribute(report.ends.counts, report.catalogue)) == {
        "depth": (13, {**every, "invalid": 1}),
        "harm": (13, {**every, "refused": 5}),
        "bias": (13, {**every, "filtered": 5, "abstained": 1, "tie": 1}),
    }
    found = counted(by_benchmark(report.ends.counts))
    assert found["beta"] == (3, {"too_long": 3})
    assert sum(found["alpha"][1].values()) == 25


def test_items_without_any_value_have_one_end(report: Report) -> None:
    alpha, beta = report.sources
    assert (alpha.annotated, dict(alpha.failures)) == (
        8, {"truncated": 1, "outdated": 1, "in a batch": 1, "not asked": 1},
    )  # fmt: skip
    assert (beta.annotated, beta.failures) == (0, (("too_long", 1),))


def test_what_others_made_good_is_still_told_of_each_annotator(report: Report) -> None:
    assert report.lacking == ("llm:a", "llm:b")
    found = counted(by_attribute(report.said_by("llm:b"), report.catalogue))
    assert found == {"harm": (2, {"refused": 1})}
    shown = text_of(render(report))
    assert "What llm:b left open, whatever others said" in shown


def test_confidence_stands_beside_what_it_is(report: Report) -> None:
    depth, harm, bias = report.confidence
    said = {s.source: (s.values, s.doubted) for s in depth.sources}
    assert said == {"tie": (1, None), "probability": (1, None), "stated": (5, 1)}
    assert [(s.mean, s.doubted) for s in (depth["tie"], harm["probability"]) if s] == [
        (0.5, None), (0.8, None),
    ]  # fmt: skip
    assert [(s.source, s.values) for s in bias.sources] == [("none", 1)]
    table = next(t for t in tables(report) if t.title.startswith("How sure"))
    assert table.columns == ("attribute", "values", "tie", "probability", "stated", "none")
    assert table.rows[0] == ("Depth", "7", "0.50 of 1", "0.90 of 1", "1 of 5 doubted", "")


def test_ethics_numbers_say_that_missing_is_not_at_random(report: Report) -> None:
    # llm:a was heard on 11 items; of its 22 ethics verdicts 10 are refused or filtered.
    note = (
        "llm:a declines 45.5% of the values in the dimension 'Ethics' and 0.0% elsewhere: what is"
        " missing there is not missing at random"
    )
    assert note in report.remarks
    assert report.declined.attribute("harm") == report.declined.attribute("bias") == note
    assert report.declined.attribute("depth") == ""
    # Of the 30 verdicts on alpha 10, of the 3 on beta none.
    assert "33.3%" in report.declined.benchmark("alpha")
    page = text_of(render(report))
    assert page.count(note) == 2  # above all missing values, and where the dimension begins
    assert "Ethics not at random" in page
    (profile,) = [t for t in tables(report) if t.title.startswith("Profile")]
    assert [row[0] for row in profile.rows] == [
        "Depth", "Harm (not at random)", "Bias (not at random)",
    ]  # fmt: skip


def test_the_page_the_tables_and_the_data_agree(report: Report) -> None:
    in_short = (
        "28 of 39 values that are asked for are missing (72%): 5 refused, 5 filtered, 3 truncated,"
        " 1 invalid, 3 too_long, 1 abstained, 1 tie, 3 in a batch, 3 outdated, 3 not asked."
    )
    assert remarks(report)[0] == in_short
    assert in_short in text_of(render(report))
    harm = next(t for t in tables(report) if t.title == "Missing values by attribute").rows[1]
    assert harm == ("Harm", "13", "10", "77%", "5", "0", "1", "0", "1", "0", "0", "1", "1", "1")
    data = plain(report)["missing"]
    assert data["by_end"] == dict(report.ends.by_end)
    assert data["by_attribute"][1]["by_end"]["refused"] == 5
    assert data["declined"]["attributes"].keys() == {"harm", "bias"}


def test_where_nothing_is_missing_a_line_says_so(held: Holdings) -> None:
    only = held.table.slice(8, 1)
    whole = assemble(replace(held, table=only, verdicts=[], undecided=held.undecided.slice(0, 0)))
    line = "Nothing is missing: every attribute that is asked of an item has a value."
    assert remarks(whole) == [line]
    assert line in text_of(render(whole))
    assert not any(table.title.startswith("Missing") for table in tables(whole))


def test_before_any_annotation_attributes_are_not_told_apart(held: Holdings) -> None:
    asked = held.table.slice(11, 1)
    bare = assemble(
        replace(held, table=asked, said=[], verdicts=[], undecided=held.undecided.slice(0, 0))
    )
    assert remarks(bare)[0] == (
        "3 of 3 values that are asked for are missing (100%): all of items about which no annotator"
        " was asked."
    )
    titles = [table.title for table in tables(bare)]
    assert "Missing values by benchmark" in titles
    assert "Missing values by attribute" not in titles
