"""The report's main tables as text, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchprism.metrics.scorecard import IntervalEstimate
from benchprism.report.confidence import SOURCES
from benchprism.report.content import METRICS, Report
from benchprism.report.divisions import Division
from benchprism.report.figures import percent
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
from benchprism.report.missing import Tally, by_attribute, by_benchmark
from benchprism.report.profile import AttributeProfile
from benchprism.report.remarks import confidence_text
from benchprism.report.strata import value_name
from benchprism.report.subsets import SubsetView


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: Report) -> list[TextTable]:
    """Everything from items to confidence; a table without rows is left out."""
    mark = " (replay)" if report.replayed else ""
    every = [
        _coverage(report, mark),
        _heterogeneity(report, mark),
        _subsets(report, mark),
        _scores(report),
        _profile(report, mark),
        *_missing(report, mark),
        _confidence(report, mark),
    ]
    return [table for table in every if table.rows]


def _coverage(report: Report, mark: str) -> TextTable:
    rows = [
        (
            source.benchmark,
            f"{source.items:,}",
            f"{source.annotated:,}",
            ", ".join(f"{count:,} {status}" for status, count in source.failures),
            f"{source.scored:,}" if source.models else "",
            str(source.models or ""),
            _decimals(profile.evenness),
        )
        for source, profile in zip(report.sources, report.profiles, strict=True)
    ]
    columns = ("benchmark", "items", "annotated", "not annotated", "scored", "models", "evenness")
    return TextTable(f"Items{mark}", columns, tuple(rows))


def _profile(report: Report, mark: str) -> TextTable:
    annotated = [profile for profile in report.profiles if profile.annotated]
    rows = [
        (
            _marked(report, attribute.id, attribute.name),
            *(_commonest(profile[attribute.id]) for profile in annotated),
        )
        for attribute in (report.catalogue if annotated else ())
    ]
    columns = ("attribute", *(profile.benchmark for profile in annotated))
    title = f"Profile: the commonest value and its share of the annotated items{mark}"
    return TextTable(title, columns, tuple(rows))


def _commonest(profile: AttributeProfile) -> str:
    if not profile.items:
        return "–"
    top = max(profile.shares, key=lambda share: share.count)
    return f"{value_name(top.value)} {percent(top.share.share)}"


def _heterogeneity(report: Report, mark: str) -> TextTable:
    rows = [
        (
            found.benchmark,
            _marked(report, division.attribute, division.title),
            f"{division.items:,}",
            percent(division.overall.mean),
            "  ".join(f"{s.name}: {percent(s.accuracy.mean)}" for s in division.strata),
            str(round(100 * division.spread.spread)),
            str(round(100 * division.spread.by_chance)),
            "yes" if division.clear else "no",
        )
        for found in report.heterogeneity
        for division in _worth_telling(found)
    ]
    columns = ("benchmark", "divided by", "items", "accuracy", "accuracy of the parts")
    title = f"What accuracy hides: spread in points between parts of a benchmark{mark}"
    return TextTable(title, (*columns, "spread", "by chance", "clear"), tuple(rows))


def _marked(report: Report, attribute: str, title: str) -> str:
    """Mark an attribute whose missing values are not missing at random."""
    return f"{title} (not at random)" if report.declined.attribute(attribute) else title


def _worth_telling(found: BenchmarkHeterogeneity) -> Iterator[Division]:
    for division in found.divisions:
        if division.clear or division is found.main:
            yield division


def _subsets(report: Report, mark: str) -> TextTable:
    rows = [
        (
            subset.name,
            f"{subset.items:,}",
            f"{sum(origin.not_annotated for origin in subset.origins):,}",
            f"{sum(origin.excluded for origin in subset.origins):,}",
            _origins(subset),
            _shift(report, subset),
        )
        for subset in report.subsets
    ]
    columns = ("subset", "items", "not annotated", "left out", "from", "differs most in")
    return TextTable(f"Subsets{mark}", columns, tuple(rows))


def _origins(subset: SubsetView) -> str:
    return ", ".join(f"{o.benchmark} {o.chosen:,}" for o in subset.origins if o.chosen)


def _shift(report: Report, subset: SubsetView) -> str:
    if not subset.shifts:
        return ""
    shift = subset.shifts[0]
    numbers = f"{percent(shift.before)} to {percent(shift.after)}"
    return f"{_marked(report, shift.attribute, shift.title)} {shift.value}: {numbers}"


def _scores(report: Report) -> TextTable:
    rows = [
        (
            score.benchmark,
            score.domain or "",
            "" if score.items is None else f"{score.items:,}",
            str(score.models),
            *(_estimate(getattr(score, metric)) for metric in METRICS),
        )
        for score in report.scores.benchmarks
    ]
    columns = ("benchmark", "domain", "items", "models", *(metric.upper() for metric in METRICS))
    return TextTable("Scores, with 95% intervals over items", columns, tuple(rows))


def _missing(report: Report, mark: str) -> Iterator[TextTable]:
    names = {attribute.id: attribute.name for attribute in report.catalogue}
    counts = report.ends.counts
    yield _tally(f"Missing values by benchmark{mark}", "benchmark", by_benchmark(counts), {})
    if not report.alike:
        found = by_attribute(counts, report.catalogue)
        yield _tally(f"Missing values by attribute{mark}", "attribute", found, names)
    for annotator in report.lacking:
        said = by_attribute(report.said_by(annotator), report.catalogue)
        yield _tally(f"What {annotator} left open", "attribute", said, names)


def _tally(title: str, column: str, tally: Tally, names: dict[str, str]) -> TextTable:
    rows = [
        (
            names.get(row.name, row.name),
            f"{row.values:,}",
            f"{row.missing:,}",
            percent(row.missing / row.values),
            *(f"{count:,}" for count in row.counts),
        )
        for row in tally.rows
    ]
    return TextTable(title, (column, "values", "missing", "share", *tally.ends), tuple(rows))


def _confidence(report: Report, mark: str) -> TextTable:
    sources = [s for s in SOURCES if any(found[s] for found in report.confidence)]
    rows = [
        (found.title, f"{found.values:,}", *(confidence_text(found[s]) for s in sources))
        for found in report.confidence
    ]
    title = f"How sure the values are, by what says so{mark}"
    return TextTable(title, ("attribute", "values", *sources), tuple(rows))


def _estimate(estimate: IntervalEstimate) -> str:
    interval = estimate.over_items
    text = _decimals(estimate.value)
    return f"{text} ({interval.low:.2f} to {interval.high:.2f})" if interval.defined else text


def _decimals(number: float) -> str:
    return f"{number:.2f}" if number == number else "–"
