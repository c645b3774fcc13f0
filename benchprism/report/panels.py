"""Panels: a figure with its title and what has to be said beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from benchprism.prompts.catalogue import Attribute
from benchprism.report import figures
from benchprism.report.divisions import Accuracy, Division
from benchprism.report.figures import Bar, Cell, Estimate, Part, Shift, Strip, percent, span
from benchprism.report.heterogeneity import BenchmarkHeterogeneity, Row
from benchprism.report.profile import AttributeProfile, BenchmarkProfile, ValueShare
from benchprism.report.strata import value_name
from benchprism.report.subsets import SubsetView

MOST_SHIFTS = 10
MOST_MODELS = 60
"""More models than this are shown at even steps of the ranking."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure of the page."""

    title: str
    lead: str
    """The question that the figure answers."""
    figure: Markup
    key: tuple[tuple[str, str], ...] = ()
    """Colour and meaning of each kind of mark, where the figure does not say it itself."""
    notes: tuple[str, ...] = ()
    annotated: bool = True
    """It rests on annotations."""
    declined: str = ""
    """Why what is missing from it is not missing at random; empty when nothing says so."""

    @property
    def wide(self) -> bool:
        """Tell whether the figure needs the room of two panels."""
        return 'class="figure broad"' in self.figure


def attribute_panel(attribute: Attribute, profiles: Sequence[BenchmarkProfile]) -> Panel:
    """One attribute over all benchmarks."""
    columns = {p.benchmark: p[attribute.id] for p in profiles}
    known = {name: column for name, column in columns.items() if column.items}
    draw = _bars if attribute.type in {"level", "boolean"} else _heat
    missing = sum(column.missing_here for column in columns.values())
    notes = [f"{missing:,} annotated items without a value"] if missing else []
    return draw(attribute, known, notes)


def _bars(attribute: Attribute, columns: dict[str, AttributeProfile], notes: list[str]) -> Panel:
    values = [*attribute.values]
    if attribute.type == "boolean":
        values.reverse()
    steps = {value: figures.ordered(k, len(values)) for k, value in enumerate(values)}
    bars = [
        Bar(
            name,
            tuple(_part(attribute, s, steps) for s in _in_order(column, values)),
            str(column.items),
        )
        for name, column in columns.items()
    ]
    key = tuple(
        (steps[v], _defined(attribute, v) if attribute.type == "level" else value_name(v))
        for v in values
    )
    figure = figures.stacked_bars(bars, label=f"{attribute.name} by benchmark")
    return Panel(attribute.name, attribute.question, figure, key, tuple(notes))


def _in_order(column: AttributeProfile, values: Sequence[int | str | bool]) -> list[ValueShare]:
    return sorted(column.shares, key=lambda share: values.index(share.value))


def _part(attribute: Attribute, share: ValueShare, steps: dict[int | str | bool, str]) -> Part:
    return Part(steps[share.value], share.share.share, _tip(attribute, share))


def _tip(attribute: Attribute, share: ValueShare) -> str:
    interval = span(share.share.low, share.share.high)
    return (
        f"{_defined(attribute, share.value)}: {share.count} items, {percent(share.share.share)}"
        f" (95% interval {interval})"
    )


def _defined(attribute: Attribute, value: int | str | bool) -> str:
    meaning = attribute.values[value] if attribute.type != "boolean" else ""
    return f"{value_name(value)} {meaning}".strip()


def _heat(attribute: Attribute, columns: dict[str, AttributeProfile], notes: list[str]) -> Panel:
    seen = [
        value
        for k, value in enumerate(attribute.values)
        if any(column.shares[k].count for column in columns.values())
    ]
    unseen = [value_name(value) for value in attribute.values if value not in seen]
    if unseen:
        notes = [*notes, f"Never given: {', '.join(unseen)}"]
    cells = [
        [
            Cell(share.share.share, f"{name}: {_tip(attribute, share)}")
            for name, column in columns.items()
            for share in column.shares
            if share.value == value
        ]
        for value in seen
    ]
    figure = figures.heat_map(
        [value_name(value) for value in seen],
        [*columns],
        cells,
        label=f"{attribute.name} by benchmark, per cent of items",
    )
    return Panel(attribute.name, attribute.question, figure, (), tuple(notes))


def division_panel(division: Division) -> Panel:
    """Accuracy in the strata of one division."""
    rows = [
        Estimate(
            f"{stratum.name}  (n = {stratum.items})",
            stratum.meaning,
            stratum.accuracy.mean,
            stratum.accuracy.low,
            stratum.accuracy.high,
            _accuracy_tip(stratum.name, stratum.accuracy),
        )
        for stratum in division.strata
    ]
    figure = figures.estimates(
        rows, reference=division.overall.mean, label=f"Accuracy by {division.title}"
    )
    lead = (
        f"{_points(division.spread.spread)} between {division.strata[division.easiest].name}"
        f" and {division.strata[division.hardest].name}; shuffled items stay under"
        f" {_points(division.spread.by_chance)} in 95 of 100 draws."
    )
    notes = []
    if division.left_out:
        notes.append(f"{division.left_out} items in parts too small to compare")
    return Panel(division.title, lead, figure, (), tuple(notes), not division.computed)


def _points(share: float) -> str:
    points = round(100 * share)
    return f"{points} point" if points == 1 else f"{points} points"


def _accuracy_tip(name: str, accuracy: Accuracy) -> str:
    return f"{name}: {percent(accuracy.mean)} (95% interval {span(accuracy.low, accuracy.high)})"


def models_panel(found: BenchmarkHeterogeneity, division: Division, *, nominal: bool) -> Panel:
    """Every model's accuracy, split into the strata of the main division."""
    count = len(division.strata)
    css = [figures.hue(k) if nominal else figures.ordered(k, count) for k in range(count)]
    shown = list(evenly(found.models, MOST_MODELS))
    rows = [Strip(row.name, row.overall.mean, _points_of(row, division, css)) for row in shown]
    notes = []
    if len(shown) < len(found.models):
        notes.append(f"{len(shown)} of {len(found.models):,} models, at even steps of the ranking")
    return Panel(
        f"Every model, by {division.title.lower()}",
        "The tick and the number are the accuracy that a leaderboard would show for these items.",
        figures.strips(rows, label=f"Accuracy of each model by {division.title}"),
        tuple((css[k], f"{s.name} (n = {s.items})") for k, s in enumerate(division.strata)),
        tuple(notes),
        not division.computed,
    )


def _points_of(row: Row, division: Division, css: list[str]) -> tuple[tuple[str, float, str], ...]:
    pairs = zip(css, division.strata, row.by_stratum, strict=True)
    return tuple((c, a.mean, _accuracy_tip(f"{row.name}, {s.name}", a)) for c, s, a in pairs)


def evenly(rows: Sequence[Row], most: int) -> Iterable[Row]:
    """At most ``most`` of the rows, the first and the last among them, at even steps."""
    if len(rows) <= most:
        return rows
    return [rows[round(k * (len(rows) - 1) / (most - 1))] for k in range(most)]


def subset_panel(subset: SubsetView) -> Panel:
    """What a subset has more and less of than its sources."""
    rows = [
        Shift(
            shift.title,
            shift.value,
            shift.before,
            shift.after,
            f"{percent(shift.before)} of the sources, {percent(shift.after)} of the subset",
        )
        for shift in subset.shifts[:MOST_SHIFTS]
    ]
    return Panel(
        "How its composition differs",
        "Share of annotated items in the sources and in the subset; for each attribute the value"
        " whose share differs most.",
        figures.shifts(rows, label=f"Shares in the sources and in {subset.name}"),
        (("pool", "sources"), ("chosen", "subset")),
    )
