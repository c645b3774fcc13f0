"""Figures: data in, SVG out. All are drawn for a panel of 352 pixels, the width of a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benchprism.report.marks import (
    NARROW,
    dot,
    drawing,
    element,
    line,
    rect,
    shortened,
    tooltip,
    words,
)

WIDTH = NARROW
RAMP = 7
"""Steps of the one-hue ramp, ``r0`` to ``r6`` in the style sheet."""
PER_CHARACTER = 6.9
"""Pixels that a character of a label takes, on the safe side of the fonts that a page may get."""
HUES = 6
"""Hues for values without an order, ``c0`` to ``c5`` in the style sheet."""


def percent(share: float) -> str:
    """Write a share as people read it; a dash when it is not defined.

    >>> percent(0.455), percent(0.004), percent(0.0), percent(float("nan"))
    ('46%', '<1%', '0%', '–')
    """
    if math.isnan(share):
        return "–"
    return "<1%" if 0 < share < 0.005 else f"{math.floor(100 * share + 0.5)}%"


def span(low: float, high: float) -> str:
    """Write an interval of shares, or nothing when there is none."""
    return "" if math.isnan(low) else f"{percent(low)[:-1]}–{percent(high)}"


def heat(share: float) -> str:
    """The ramp's step for a share: nothing is white, everything darkest."""
    if math.isnan(share):
        return "none"
    return f"r{math.ceil(share * (RAMP - 1) - 1e-9)}"


def ordered(position: int, count: int) -> str:
    """The ramp's step for one of ``count`` values in order.

    >>> [ordered(k, 4) for k in range(4)]
    ['r1', 'r3', 'r4', 'r6']
    """
    return f"r{1 + round(position * (RAMP - 2) / max(count - 1, 1))}"


def hue(position: int) -> str:
    """The hue of a value without an order."""
    return f"c{position % HUES}"


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a number lies between two pixels."""

    start: float
    end: float
    low: float = 0.0
    high: float = 1.0

    def __call__(self, number: float) -> float:
        """The pixel of a number; the middle when the scale has no length."""
        if self.high == self.low:
            return (self.start + self.end) / 2
        part = (number - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar."""

    css: str
    share: float
    tip: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of parts that fill it."""

    label: str
    parts: tuple[Part, ...]
    note: str


def stacked_bars(bars: Sequence[Bar], *, label: str) -> Markup:
    """One full bar a row; parts wide enough carry their percentage."""
    longest = max((len(bar.label) for bar in bars), default=0)
    left, right, step = min(150.0, 12 + PER_CHARACTER * longest), 42.0, 22.0
    room = WIDTH - left - right
    marks: list[Markup] = []
    for row, bar in enumerate(bars):
        top = row * step + 2
        marks.append(
            words(
                left - 8,
                top + 12.5,
                shortened(bar.label, left - 8, per_character=PER_CHARACTER),
                anchor="end",
            )
        )
        marks.append(words(WIDTH, top + 12.5, bar.note, "quiet", anchor="end"))
        marks.append(rect(left, top, room, 17, "unknown"))
        x = left
        for part in bar.parts:
            width = part.share * room
            if width > 0:
                marks.append(rect(x, top, width, 17, f"part {part.css}", part.tip))
            if width >= 30:
                middle = x + width / 2
                marks.append(
                    words(
                        middle, top + 12.5, percent(part.share), f"on-{part.css}", anchor="middle"
                    )
                )
            x += width
    return drawing(WIDTH, len(bars) * step + 2, marks, label=label)


@dataclass(frozen=True, slots=True)
class Cell:
    """A share in a heat map."""

    share: float
    tip: str


def heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]], *, label: str
) -> Markup:
    """Shares by row and column: the darker, the larger, with its number in each cell.

    With more than eight columns it is wider than a panel.
    """
    left, step, overhang = 128.0, 21.0, 30.0
    size = min(52.0, max(24.0, (WIDTH - left - overhang) / max(len(columns), 1)))
    top = 14 + 5.0 * max((min(len(name), 16) for name in columns), default=0)
    marks = []
    for column, name in enumerate(columns):
        x = left + (column + 0.5) * size + 4
        text = words(0, 0, shortened(name, 92), "small")
        marks.append(element("g", text, transform=f"translate({x:.1f} {top - 6:.1f}) rotate(-62)"))
    for row, (name, found) in enumerate(zip(rows, cells, strict=True)):
        y = top + row * step
        short = shortened(name, left - 8, per_character=6.3)
        marks.append(words(left - 8, y + 14, short, "medium", anchor="end", tip=name))
        for column, cell in enumerate(found):
            marks.append(_heat_cell(left + column * size, y, size, step, cell))
    width = max(WIDTH, left + len(columns) * size + overhang)
    return drawing(width, top + len(rows) * step + 2, marks, label=label)


def _heat_cell(x: float, y: float, width: float, height: float, cell: Cell) -> Markup:
    step = heat(cell.share)
    number = percent(cell.share)[:-1] if not math.isnan(cell.share) else ""
    return element(
        "g",
        tooltip(cell.tip)
        + rect(x, y, width - 1.5, height - 1.5, f"cell {step}")
        + words(
            x + width / 2 - 0.75,
            y + 14,
            number if cell.share else "·",
            f"small on-{step}",
            anchor="middle",
        ),
    )


@dataclass(frozen=True, slots=True)
class Estimate:
    """A share with its interval."""

    label: str
    note: str
    share: float
    low: float
    high: float
    tip: str


def estimates(rows: Sequence[Estimate], *, reference: float, label: str) -> Markup:
    """Shares with their intervals, beside the share of the whole."""
    left, right, step, top = 150.0, 40.0, 34.0, 16.0
    least = min((n for row in rows for n in (row.share, row.low) if not math.isnan(n)), default=0.0)
    scale = _shares(left, WIDTH - right, least)
    bottom = top + len(rows) * step
    marks = _axis(scale, top, bottom)
    marks.append(line(scale(reference), top - 2, scale(reference), bottom, "reference"))
    marks.append(
        words(
            scale(reference), top - 5, f"all {percent(reference)}", "small strong", anchor="middle"
        )
    )
    for row, found in enumerate(rows):
        y = top + row * step + 16
        marks.append(words(0, y + (0 if found.note else 4), shortened(found.label, left), "strong"))
        if found.note:
            note = shortened(found.note, left - 6, per_character=5.4)
            marks.append(words(0, y + 13, note, "small quiet", tip=found.note))
        if not math.isnan(found.low):
            marks.append(line(scale(found.low), y, scale(found.high), y, "whisker"))
        marks.append(dot(scale(found.share), y, 5, "point", found.tip))
        marks.append(words(WIDTH, y + 4, percent(found.share), "strong", anchor="end"))
    return drawing(WIDTH, bottom + 16, marks, label=label)


def _shares(start: float, end: float, least: float) -> Scale:
    """A scale of shares up to 1: from 0, or from a half when nothing lies below it."""
    return Scale(start, end, low=0.5 if least >= 0.5 else 0.0)


def _axis(scale: Scale, top: float, bottom: float) -> list[Markup]:
    """Grid lines at the quarters of a scale, with numbers at its ends and its middle."""
    quarters = [scale.low + k * (scale.high - scale.low) / 4 for k in range(5)]
    marks = [line(scale(share), top, scale(share), bottom, "grid") for share in quarters]
    marks += [
        words(scale(share), bottom + 12, percent(share), "small quiet", anchor="middle")
        for share in quarters[::2]
    ]
    return marks


@dataclass(frozen=True, slots=True)
class Strip:
    """One accuracy, and the accuracies it is made of."""

    label: str
    overall: float
    points: tuple[tuple[str, float, str], ...]
    """The colour, share and tooltip of each part."""


def strips(rows: Sequence[Strip], *, label: str) -> Markup:
    """A row a model: a dot a stratum, joined by a line, and a tick at the whole."""
    left, right, step, top = 148.0, 34.0, 15.0, 6.0
    least = min((n for row in rows for _, n, _ in row.points if not math.isnan(n)), default=0.0)
    scale = _shares(left, WIDTH - right, least)
    bottom = top + len(rows) * step
    marks = _axis(scale, top, bottom)
    for row, strip in enumerate(rows):
        y = top + (row + 0.5) * step
        known = [share for _, share, _ in strip.points if not math.isnan(share)]
        name = shortened(strip.label, left - 8, per_character=6.0)
        marks.append(words(left - 8, y + 4, name, "small", anchor="end", tip=strip.label))
        if known:
            marks.append(line(scale(min(known)), y, scale(max(known)), y, "join"))
        marks.append(line(scale(strip.overall), y - 5, scale(strip.overall), y + 5, "tick"))
        marks += [
            dot(scale(share), y, 4, f"point ring {css}", tip)
            for css, share, tip in strip.points
            if not math.isnan(share)
        ]
        marks.append(words(WIDTH, y + 4, percent(strip.overall), "small strong", anchor="end"))
    return drawing(WIDTH, bottom + 16, marks, label=label)


@dataclass(frozen=True, slots=True)
class Shift:
    """A share before and after."""

    label: str
    value: str
    before: float
    after: float
    tip: str


def shifts(rows: Sequence[Shift], *, label: str) -> Markup:
    """Shares before (hollow) and after (filled), with the difference in points."""
    left, right, step, top = 160.0, 40.0, 32.0, 4.0
    scale = Scale(left, WIDTH - right)
    bottom = top + len(rows) * step
    marks = _axis(scale, top, bottom)
    for row, shift in enumerate(rows):
        y = top + (row + 0.5) * step
        marks.append(words(0, y - 2, shortened(shift.label, left - 8), tip=shift.label))
        value = shortened(shift.value, left - 8, per_character=6.0)
        marks.append(words(0, y + 11, value, "small quiet", tip=shift.value))
        marks.append(line(scale(shift.before), y, scale(shift.after), y, "travel"))
        marks.append(dot(scale(shift.before), y, 4, "before"))
        marks.append(dot(scale(shift.after), y, 5, "after", shift.tip))
        points = f"{100 * (shift.after - shift.before):+.0f}".replace("-", "−")
        marks.append(words(WIDTH, y + 4, points, "strong", anchor="end"))
    return drawing(WIDTH, bottom + 16, marks, label=label)


def interval_glyph(
    value: float,
    thick: tuple[float, float],
    thin: tuple[float, float],
    *,
    scale: tuple[float, float],
    label: str,
) -> Markup:
    """A number with two intervals, on the scale that a column of a table shares."""
    width, height, inset = 92.0, 16.0, 6.0
    place = Scale(inset, width - inset, *scale)
    marks = [line(inset, 8, width - inset, 8, "grid")]
    for ends, css in ((thin, "hair"), (thick, "whisker")):
        if not math.isnan(ends[0]):
            marks.append(line(place(ends[0]), 8, place(ends[1]), 8, css))
    if not math.isnan(value):
        marks.append(dot(place(value), 8, 4, "point"))
    return drawing(width, height, marks, label=label)
