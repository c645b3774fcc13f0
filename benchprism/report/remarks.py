"""Remarks: what a report says of missing values in words."""

from __future__ import annotations

import math

from benchprism.report.confidence import SourceConfidence
from benchprism.report.content import Report
from benchprism.report.figures import percent


def missing_in_short(report: Report) -> str:
    """Say how many values are missing, and for which reasons, in a sentence or two."""
    ends = report.ends
    if not ends.missing:
        return "Nothing is missing: every attribute that is asked of an item has a value."
    reasons = ", ".join(f"{values:,} {end}" for end, values in ends.by_end)
    share = percent(ends.missing / ends.values)
    text = f"{ends.missing:,} of {ends.values:,} values that are asked for are missing ({share})"
    if report.alike:
        return f"{text}: all of items about which no annotator was asked."
    return f"{text}: {reasons}."


def remarks(report: Report) -> list[str]:
    """Say what is missing, and each thing that has to be known of it, a sentence each."""
    return [missing_in_short(report), *(f"Note: {remark}." for remark in report.remarks)]


def confidence_text(found: SourceConfidence | None) -> str:
    """Say how sure values are: their mean confidence, or how many were doubted.

    >>> confidence_text(SourceConfidence("agreement", 12, 0.875, None))
    '0.88 of 12'
    >>> confidence_text(SourceConfidence("stated", 1200, float("nan"), 3))
    '3 of 1,200 doubted'
    """
    if found is None:
        return ""
    if found.doubted is not None:
        return f"{found.doubted:,} of {found.values:,} doubted"
    if math.isnan(found.mean):
        return f"{found.values:,}"
    return f"{found.mean:.2f} of {found.values:,}"
