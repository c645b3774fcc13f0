"""The report's numbers as plain data, for ``--json``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from benchprism.report.content import Report
from benchprism.report.heterogeneity import BenchmarkHeterogeneity
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
        "profile": [_profile(profile) for profile in report.profiles],
        "heterogeneity": [_heterogeneity(found) for found in report.heterogeneity],
        "subsets": [asdict(subset) for subset in report.subsets],
        "scores": [asdict(score) for score in report.scores.benchmarks],
        "faults": [asdict(fault) for fault in report.faults],
        "seed": report.seed,
    }


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
