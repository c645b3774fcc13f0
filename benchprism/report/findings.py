"""Findings: the few sentences that a reader in a hurry takes away, each with its number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from benchprism.report.content import Report
from benchprism.report.divisions import Division
from benchprism.report.figures import percent
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
from benchprism.report.subsets import SubsetView

MOST = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """A number and what it says."""

    number: str
    sentence: str
    replayed: bool
    """The number rests on replayed annotations."""
    declined: str = ""
    """Why what is missing from it is not missing at random; empty when nothing says so."""


def findings(report: Report) -> list[Finding]:
    """The clearest division of each benchmark, the most mixed profile, the largest shift."""
    hidden = sorted(_hidden(report), key=lambda pair: -pair[1].spread.spread)
    found = [_division(found, division, report) for found, division in hidden[: MOST - 2]]
    found += [*_mixed(report)]
    shifted = sorted(report.subsets, key=_largest_shift, reverse=True)
    found += [_subset(subset, report) for subset in shifted[:1]]
    return found[:MOST]


def _hidden(report: Report) -> Iterator[tuple[BenchmarkHeterogeneity, Division]]:
    for found in report.heterogeneity:
        clear = [division for division in found.divisions if division.clear]
        if clear:
            yield found, max(clear, key=lambda d: (not d.computed, d.spread.spread))


def _division(found: BenchmarkHeterogeneity, division: Division, report: Report) -> Finding:
    easy, hard = division.strata[division.easiest], division.strata[division.hardest]
    numbers = percent(easy.accuracy.mean), percent(hard.accuracy.mean)
    return Finding(
        f"{numbers[0]} → {numbers[1]}",
        f"{found.benchmark}: an accuracy of {percent(division.overall.mean)} hides {numbers[0]} on"
        f" items with {division.title.lower()} {easy.name} (n = {easy.items:,}) and {numbers[1]}"
        f" on those with {hard.name} (n = {hard.items:,}).",
        report.replayed and not division.computed,
        report.declined.attribute(division.attribute),
    )


def _mixed(report: Report) -> Iterator[Finding]:
    known = [p for p in report.profiles if not math.isnan(p.evenness)]
    if len(known) > 1:
        most, least = (f(known, key=lambda p: p.evenness) for f in (max, min))
        yield Finding(
            f"{most.evenness:.2f} vs {least.evenness:.2f}",
            f"{most.benchmark} is the most mixed of the {len(known)} benchmarks, {least.benchmark}"
            " the most uniform (mean evenness over the attributes, 0 to 1).",
            report.replayed,
        )


def _largest_shift(subset: SubsetView) -> float:
    return max((abs(shift.after - shift.before) for shift in subset.shifts), default=0.0)


def _subset(subset: SubsetView, report: Report) -> Finding:
    sources = sum(origin.chosen > 0 for origin in subset.origins)
    declined = ""
    sentence = f"{subset.name}: {subset.items} items composed from {sources} benchmarks"
    if subset.shifts:
        shift = subset.shifts[0]
        declined = report.declined.attribute(shift.attribute)
        sentence += (
            f"; {shift.title.lower()} {shift.value} goes from {percent(shift.before)} of the"
            f" annotated sources to {percent(shift.after)}"
        )
    return Finding(f"{subset.items} items", f"{sentence}.", report.replayed, declined)
