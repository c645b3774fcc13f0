from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from benchprism.report import figures
from benchprism.report.figures import Bar, Cell, Estimate, Part, Scale, Shift, Strip
from benchprism.report.marks import printable, words

NAN = math.nan
HOSTILE = "<b>&\"'\u202e\u0000"


def every_figure() -> list[Markup]:
    part = Part("r1", 0.25, HOSTILE)
    return [
        figures.stacked_bars([Bar(HOSTILE, (part, part), HOSTILE)], label=HOSTILE),
        figures.heat_map(
            [HOSTILE], ["a", HOSTILE], [[Cell(0.5, HOSTILE), Cell(NAN, "")]], label="x"
        ),
        figures.estimates(
            [Estimate(HOSTILE, HOSTILE, 0.4, NAN, NAN, HOSTILE)], reference=0.4, label="x"
        ),
        figures.strips([Strip(HOSTILE, 0.5, (("r1", 0.2, HOSTILE), ("r2", NAN, "")))], label="x"),
        figures.shifts([Shift(HOSTILE, HOSTILE, 0.2, 0.1, HOSTILE)], label="x"),
        figures.interval_glyph(0.5, (0.4, 0.6), (NAN, NAN), scale=(0, 1), label="x"),
        figures.stacked_bars([], label="x"),
        figures.strips([], label="x"),
    ]


@pytest.mark.parametrize("figure", every_figure())
def test_a_figure_is_well_formed_whatever_its_texts(figure: Markup) -> None:
    root = ElementTree.fromstring(figure)
    assert root.get("role") == "img"
    assert "nan" not in figure


def test_a_bar_s_parts_are_as_wide_as_their_shares() -> None:
    bar = Bar("b", (Part("r1", 0.25, "quarter"), Part("r2", 0.75, "rest")), "n")
    root = ElementTree.fromstring(figures.stacked_bars([bar], label="x"))
    parts = [e for e in root.iter("rect") if "part" in (e.get("class") or "")]
    first, second = (float(part.attrib["width"]) for part in parts)
    assert second == pytest.approx(3 * first, abs=0.03)
    assert float(parts[1].attrib["x"]) == pytest.approx(
        float(parts[0].attrib["x"]) + first, abs=0.02
    )


def test_a_scale_is_linear() -> None:
    scale = Scale(100, 200, low=0.5)
    assert [scale(0.5), scale(0.75), scale(1.0)] == [100, 150, 200]
    assert Scale(0, 10, 2, 2)(2) == 5


def test_accuracies_above_a_half_are_shown_from_a_half() -> None:
    high = Estimate("a", "", 0.9, 0.8, 0.95, "")
    assert ">50%<" in figures.estimates([high], reference=0.9, label="x")
    low = Estimate("a", "", 0.6, 0.4, 0.8, "")
    assert ">0%<" in figures.estimates([low], reference=0.6, label="x")


@pytest.mark.parametrize(
    ("share", "step"), [(0, "r0"), (0.01, "r1"), (0.5, "r3"), (1, "r6"), (NAN, "none")]
)
def test_the_darker_the_more(share: float, step: str) -> None:
    assert figures.heat(share) == step


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0.1, 0.25, "10–25%"), (0, 1, "0–100%"), (NAN, NAN, "")]
)
def test_an_interval_in_words(low: float, high: float, text: str) -> None:
    assert figures.span(low, high) == text


def test_a_character_that_no_page_may_hold_is_shown_as_such() -> None:
    assert printable("a\x00b\x1b\ud800\n") == "a\ufffdb\ufffd\ufffd\n"
    assert words(0, 0, "\x00<i>") == '<text class="w" x="0" y="0">\ufffd&lt;i&gt;</text>'
