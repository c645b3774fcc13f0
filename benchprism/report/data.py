"""The report's numbers as plain data, for ``--json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchprism.report.content import Report
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
from benchprism.report.missing import Tally, by_attribute, by_benchmark
from benchprism.report.profile import AttributeProfile, BenchmarkProfile


def plain(report: Report) -> dict[str, Any]:
    """Everything that the page shows; a number that is not defined is NaN."""
    catalogue = report.catalogue
    return {
        "project": report.project,
        "replayed": report.replayed,
        "catalogue": {
            "name": catalogue.catalogue,
            "version": catalogue.version,
            "hash": catalogue.hash,
        },
        "annotators": [asdict(annotator) for annotator in report.annotators],
        "sources": [{**asdict(s), "failures": dict(s.failures)} for s in report.sources],
        "missing": _missing(report),
        "confidence": [asdict(found) for found in report.confidence],
        "profile": [_profile(profile) for profile in report.profiles],
        "heterogeneity": [_heterogeneity(found) for found in report.heterogeneity],
        "subsets": [asdict(subset) for subset in report.subsets],
        "scores": [asdict(score) for score in report.scores.benchmarks],
        "faults": [asdict(fault) for fault in report.faults],
        "calibration": [
            judged.model_dump(exclude={"meaning", "annotators"}) for judged in report.calibration
        ],
        "seed": report.seed,
    }


def _missing(report: Report) -> dict[str, Any]:
    ends = report.ends
    return {
        "values": ends.values,
        "missing": ends.missing,
        "by_end": dict(ends.by_end),
        "by_benchmark": _tally(by_benchmark(ends.counts)),
        "by_attribute": _tally(by_attribute(ends.counts, report.catalogue)),
        "counts": [asdict(count) for count in ends.counts],
        "verdicts": [asdict(count) for count in report.verdicts],
        "declined": {
            "attributes": dict(report.declined.attributes),
            "benchmarks": dict(report.declined.benchmarks),
        },
        "notes": [*report.remarks],
    }


def _tally(tally: Tally) -> list[dict[str, Any]]:
    return [
        {
            "name": row.name,
            "values": row.values,
            "missing": row.missing,
            "by_end": dict(zip(tally.ends, row.counts, strict=True)),
        }
        for row in tally.rows
    ]


def _profile(profile: BenchmarkProfile) -> dict[str, Any]:
    return {
        "benchmark": profile.benchmark,
        "items": profile.items,
        "annotated": profile.annotated,
        "evenness": profile.evenness,
        "attributes": [_attribute(column) for column in profile.attributes],
    }


def _attribute(column: AttributeProfile) -> dict[str, Any]:
    return {
        "attribute": column.attribute.id,
        "items": column.items,
        "missing": column.missing,
        "evenness": column.evenness,
        "values": [
            {"value": share.value, "count": share.count, **asdict(share.share)}
            for share in column.shares
        ],
    }


def _heterogeneity(found: BenchmarkHeterogeneity) -> dict[str, Any]:
    divisions = [{**asdict(division), "clear": division.clear} for division in found.divisions]
    main = found.main
    return {**asdict(found), "divisions": divisions, "main": main.attribute if main else None}
