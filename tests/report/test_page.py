from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from benchprism.annotate.review.judging.gate import Judgement, Verdict
from benchprism.metrics.bootstrap.resampling import Interval
from benchprism.metrics.scorecard import (
    BenchmarkScore,
    IntervalEstimate,
    Scorecard,
    ScoreSettings,
)
from benchprism.report.assemble import Holdings, assemble
from benchprism.report.content import Report
from benchprism.report.data import plain
from benchprism.report.page import render
from benchprism.report.said import Said
from benchprism.report.subsets import Example, SubsetView


@pytest.fixture
def report(holdings: Holdings) -> Report:
    return assemble(holdings)


def with_example(report: Report, text: str) -> Report:
    example = Example("riddles/0", text, (text, "b"))
    return replace(report, subsets=(SubsetView("odd", 1, "name: odd\n", (), (), (), (example,)),))


def text_of(page: str) -> str:
    root = ElementTree.fromstring(page.removeprefix("<!DOCTYPE html>"))
    return " ".join(" ".join(root.itertext()).split())


class Loads(HTMLParser):
    """Collects whatever a browser would fetch by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            fetched = name in {"src", "srcset", "data", "poster", "action"} or tag in {
                "link",
                "iframe",
                "object",
                "embed",
                "base",
            }
            if fetched or (name in {"href", "xlink:href"} and not (value or "").startswith("#")):
                self.found.append(f"{tag} {name}={value}")


def test_the_page_is_well_formed(report: Report) -> None:
    assert render(report).startswith("<!DOCTYPE html>\n<html")
    assert "What 2 benchmarks are made of" in text_of(render(report))


def test_the_page_loads_nothing(report: Report) -> None:
    page = render(report)
    parser = Loads()
    parser.feed(page)
    assert parser.found == []
    assert re.findall(r"url\((?!#)|@import|https?:(?!//www\.w3\.org/1999/xhtml)", page) == []


def test_text_of_items_is_text(report: Report, hostile: str) -> None:
    page = render(with_example(report, hostile))
    assert "<script>alert" not in page
    assert page.count("<script") == 1
    shown = text_of(page)
    assert (
        "<script>alert('x')</script> & \u202eright to left\ufffd {{ report.seed }} </svg>" in shown
    )
    assert '<bdi dir="auto">&lt;script&gt;' in page


def test_names_of_projects_are_text(report: Report) -> None:
    assert "tiny &lt;b&gt;project&lt;/b&gt;" in render(report)


def test_a_replay_is_labelled(report: Report) -> None:
    page = render(report)
    assert "Replay." in page
    assert page.count('class="tag"') > 3
    asked = replace(report, annotators=(replace(report.annotators[0], replayed=False),))
    assert 'class="tag"' not in render(asked)


def test_missing_annotations_are_counted_by_status(report: Report) -> None:
    assert [(s.benchmark, s.annotated, s.failures) for s in report.sources] == [
        ("riddles", 2, (("refused", 1),)),
        ("sums", 11, (("not asked", 1),)),
    ]
    assert "1 refused" in text_of(render(report))


def test_the_numbers_of_the_page_are_those_of_the_outcomes(report: Report) -> None:
    shown = text_of(render(report))
    # 6.1667 of 12 sums, of those with a value 5 of 6 at depth 0 and 1.1667 of 5 at depth 2
    assert "12 scored items, 4 models; mean accuracy 60%" in shown
    assert "0 (n = 6)" in shown
    assert "60 points between 0 and 2" in shown


def test_the_method_says_how_a_split_of_annotators_is_settled(report: Report) -> None:
    assert "the middle level stands, on a tie the lower one" in text_of(render(report))


def test_findings_of_the_items_are_listed(report: Report) -> None:
    shown = text_of(render(report))
    assert "position_dependent" in shown
    assert "riddles/2" in shown


def test_the_same_project_gives_the_same_page(holdings: Holdings) -> None:
    assert render(assemble(holdings)) == render(assemble(holdings))


def test_a_project_without_results_or_annotations_has_a_page(holdings: Holdings) -> None:
    table = holdings.table
    for attribute in holdings.catalogue:
        position = table.column_names.index(attribute.id)
        empty = table.schema.field(attribute.id)
        nothing = [None] * table.num_rows
        table = table.set_column(position, empty, pa.array(nothing, empty.type))
    bare = replace(holdings, table=table, results=None, annotators=[], said=[], findings=[])
    shown = text_of(render(assemble(bare)))
    assert "No item is annotated yet" in shown
    assert "There are no results yet" in shown
    assert "None found by benchprism items check" in shown


def test_scores_have_intervals_and_reasons(report: Report) -> None:
    undefined = IntervalEstimate(math.nan)
    known = IntervalEstimate(0.25, Interval(0.125, 0.5), Interval(-0.0625, 0.75))
    score = BenchmarkScore(
        benchmark="sums", domain="arithmetic", models=4, items=12, missing=5, accuracy=known,
        cbrc=undefined, ds=known, cad=known, bqs=undefined, cbrc_deviation=math.nan,
        ds_deviation=0.0, inversion_rate=0.0, peers=(), families=(), accuracies={},
        notes=("cbrc: undefined because <nobody> knows",),
    )  # fmt: skip
    card = Scorecard((score,), ScoreSettings())
    shown = text_of(render(replace(report, scores=card)))
    numbers = "– 0.25 items 0.12 to 0.50 models -0.06 to 0.75"
    assert f"sums arithmetic 12 4 {numbers}" in shown
    assert "cbrc: undefined because <nobody> knows" in shown


def test_values_of_an_earlier_text_are_outdated(holdings: Holdings) -> None:
    said = [Said("riddles/2", "another text", "depth", "ok")]
    said += [one._replace(content_hash="another text") for one in holdings.said]
    report = assemble(replace(holdings, said=said))
    assert report.sources[0].failures == (("outdated", 1),)


def judged(attribute: str, verdict: Verdict, alpha: float | None, **other: Any) -> Judgement:
    interval = None if alpha is None else (alpha - 0.125, alpha + 0.125)
    return Judgement(
        attribute=attribute, verdict=verdict, sentence="", alpha=alpha, interval=interval,
        items=40, meaning="", **other,
    )  # fmt: skip


def test_what_is_not_usable_stands_first_in_the_method(holdings: Holdings) -> None:
    found = [
        judged("depth", "usable", 0.875),
        judged("kinds", "not enough evidence", None, reason="one value is all there is"),
        judged("negation", "not usable", 0.25),
        judged("domain", "not usable", 0.5),
    ]
    report = assemble(replace(holdings, calibration=found))
    page = render(report)
    rows = re.findall(r"<tr>.*?</tr>", page[page.index("Calibrated by people") :])
    cells = [re.findall(r">([^<]*)</t[hd]>", row) for row in rows[1:5]]
    assert cells == [
        ["Negation", "0.25", "0.12 to 0.38", "40", "not usable"],
        ["Domain", "0.50", "0.38 to 0.62", "40", "not usable"],
        ["Kinds", "–", "–", "40", "not enough evidence: one value is all there is"],
        ["Depth", "0.88", "0.75 to 1.00", "40", "usable"],
    ]
    assert [one["attribute"] for one in plain(report)["calibration"]] == [
        "negation", "domain", "kinds", "depth",
    ]  # fmt: skip
    assert "Calibrated by people" not in render(assemble(holdings))
