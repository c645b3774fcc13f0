"""Scoring an accuracy table, without items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchprism.metrics.evidence import ReportedScores
from benchprism.metrics.score_benchmarks import DEFAULTS, score_reported
from benchprism.metrics.scorecard import Model, Scorecard, ScoreSettings
from benchprism.records.errors import InputError
from benchprism.records.results.accuracy import (
    AccuracyTable,
    Unit,
    read_accuracy,
    read_domains,
    read_inversions,
)
from benchprism.scoring.benchmarks import annotated
from benchprism.scoring.results import ONE_DOMAIN


def score_accuracy(
    path: Path,
    unit: Unit,
    *,
    domains: Path | None = None,
    inversions: Path | None = None,
    settings: ScoreSettings = DEFAULTS,
) -> Scorecard:
    """Score an accuracy table, without items.

    Args:
        path: the table, as ``records.results.accuracy.read_accuracy`` reads it.
        unit: whether its accuracies go to 100 or to 1.
        domains: the domain of each benchmark; without it all are one domain.
        inversions: inversion rates of families; without it CAD is undefined.
        settings: options of the metrics and of the bootstrap.

    Raises:
        InputError: a file cannot be read or does not fit the table, or the settings need items.
    """
    if "noise" in (settings.ties, settings.epsilon):
        raise InputError(
            "ties or epsilon by noise for an accuracy table",
            wanted="items, whose number and scores say how large the noise is",
            mend="give a number for --epsilon, and --ties tau-b or listing",
        )
    table = read_accuracy(path, unit)
    domain = read_domains(domains, table.accuracies) if domains else {}
    rates = read_inversions(inversions, table) if inversions else {}
    given = [
        ReportedScores(name, domain.get(name, ONE_DOMAIN), row, rates.get(name, {}))
        for name, row in table.accuracies.items()
    ]
    card = score_reported(given, [*_reported_models(table)], settings=settings)
    remarks = []
    if domains is None:
        remarks.append("no domains are given: all benchmarks are compared as one")
    if inversions is not None and table.sizes is None:
        remarks.append("cad: no sizes are given: models of a family are taken to differ in size")
    if unit == "percent" and table.looks_like_proportions:
        remarks.append("no accuracy exceeds 1 per cent: is the unit proportion?")
    return annotated(card, dict.fromkeys(table.accuracies, remarks))


def _reported_models(table: AccuracyTable) -> Iterator[Model]:
    """Models in the table's order; without sizes, their order stands for them."""
    for place, name in enumerate(table.models):
        size = float(place) if table.sizes is None else table.sizes.get(name)
        yield Model(name, table.families.get(name), size)
