"""The page: a report as one HTML file that needs nothing beside it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from benchprism.metrics.scorecard import IntervalEstimate
from benchprism.report import figures, panels
from benchprism.report.confidence import SOURCES
from benchprism.report.content import METRICS, Report
from benchprism.report.findings import findings
from benchprism.report.heterogeneity import SMALLEST_STRATUM, BenchmarkHeterogeneity
from benchprism.report.marks import printable
from benchprism.report.missing import EndCount, Tally, by_attribute, by_benchmark
from benchprism.report.remarks import confidence_text, missing_in_short

MOST_DIVISIONS = 4
"""Divisions drawn for each benchmark; the table beside them lists all."""


def render(report: Report) -> str:
    """Write a report as an HTML page: no script is needed to read it, nothing is loaded."""
    return (
        _environment()
        .get_template("page.html")
        .render(
            report=report,
            css=Markup(_source("page.css")),  # noqa: S704
            smallest=SMALLEST_STRATUM,
            findings=findings(report),
            dimensions=_dimensions(report),
            in_short=missing_in_short(report),
            names={attribute.id: attribute.name for attribute in report.catalogue},
            tallies=_tallies(report),
            confidence_sources=[s for s in SOURCES if any(found[s] for found in report.confidence)],
            benchmarks=[_benchmark(report, found) for found in report.heterogeneity],
            subset_figures={subset.name: panels.subset_panel(subset) for subset in report.subsets},
            score_scales=_score_scales(report),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": figures.percent,
        "span": figures.span,
        "heat": figures.heat,
        "json": lambda data: json.dumps(data, ensure_ascii=False, indent=2),
        "confidence": confidence_text,
        "decimals": lambda number: "–" if math.isnan(number) else f"{number:.2f}",
    }
    environment.globals["glyph"] = _glyph
    return environment


def _source(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _shown(value: Any) -> Any:
    """Text of items may hold characters that no document may contain."""
    return printable(value) if type(value) is str else value


def _dimensions(report: Report) -> list[dict[str, Any]]:
    return [
        {
            "title": dimension.title,
            "attributes": dimension.attributes,
            "declined": report.declined.attribute(dimension.attributes[0].id),
            "panels": [panels.attribute_panel(a, report.profiles) for a in dimension.attributes],
        }
        for dimension in report.catalogue.dimensions
    ]


def _tallies(report: Report) -> dict[str, Any]:
    return {
        **_both(report, report.ends.counts),
        "annotators": [{"name": n, **_both(report, report.said_by(n))} for n in report.lacking],
    }


def _both(report: Report, counts: Sequence[EndCount]) -> dict[str, Tally]:
    attributes = by_attribute(counts, report.catalogue)
    return {"benchmarks": by_benchmark(counts), "attributes": attributes}


def _benchmark(report: Report, found: BenchmarkHeterogeneity) -> dict[str, Any]:
    main = found.main
    clear = [division for division in found.divisions if division.clear]
    shown = [*dict.fromkeys([*([main] if main else []), *clear])][:MOST_DIVISIONS]
    types = {attribute.id: attribute.type for attribute in report.catalogue}
    return {
        "found": found,
        "main": main,
        "panels": [
            replace(panels.division_panel(d), declined=report.declined.attribute(d.attribute))
            for d in shown
        ],
        "models": main
        and panels.models_panel(found, main, nominal=types.get(main.attribute) == "label"),
    }


def _score_scales(report: Report) -> dict[str, tuple[float, float]]:
    scores = report.scores.benchmarks
    return {metric: _scale([getattr(score, metric) for score in scores]) for metric in METRICS}


def _scale(estimates: list[IntervalEstimate]) -> tuple[float, float]:
    """The range that a column's numbers and intervals share; it always holds 0 and 1."""
    numbers = [
        number
        for e in estimates
        for number in (
            e.value,
            *(end for i in (e.over_items, e.over_models) for end in (i.low, i.high)),
        )
        if not math.isnan(number)
    ]
    return min([0.0, *numbers]), max([1.0, *numbers])


def _glyph(estimate: IntervalEstimate, scale: tuple[float, float], label: str) -> Markup:
    return figures.interval_glyph(
        estimate.value,
        (estimate.over_items.low, estimate.over_items.high),
        (estimate.over_models.low, estimate.over_models.high),
        scale=scale,
        label=label,
    )
