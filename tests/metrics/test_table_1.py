"""The metrics give the numbers that the Benchmark^2 paper prints in its Table 1."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from benchprism.metrics.alignment import capability_alignment, pooled_inversion_rate
from benchprism.metrics.consistency import cross_benchmark_consistency
from benchprism.metrics.discriminability import discriminability, family_discriminability
from benchprism.metrics.quality import benchmark_quality

DATA = Path(__file__).parent.parent / "data"
CONTRADICTED = "MMLU-Pro"  # the paper's own Tables 7 and 13 give other numbers for it


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PUBLISHED = {row["benchmark"]: row for row in rows("benchmark2_published.csv")}
TABLE = rows("benchmark2_accuracy.csv")
BENCHMARKS = [name for name in TABLE[0] if name not in {"model", "family"}]
ACCURACIES = np.array([[float(row[name]) / 100 for row in TABLE] for name in BENCHMARKS])
FAMILIES = list(dict.fromkeys(row["family"] for row in TABLE))
MEMBERS = [[i for i, row in enumerate(TABLE) if row["family"] == name] for name in FAMILIES]


def published(column: str) -> dict[str, float]:
    return {name: float(PUBLISHED[name][column]) for name in BENCHMARKS if name != CONTRADICTED}


def test_ds() -> None:
    found = {name: discriminability(row) for name, row in zip(BENCHMARKS, ACCURACIES, strict=True)}
    for name, wanted in published("DS").items():
        assert found[name] == pytest.approx(wanted, abs=0.006)


def test_the_deviation_of_ds() -> None:
    for name, row in zip(BENCHMARKS, ACCURACIES, strict=True):
        if name != CONTRADICTED:
            deviation = np.nanstd(family_discriminability(row, MEMBERS))
            assert deviation == pytest.approx(published("DS_sigma")[name], abs=0.006)


def test_cad_from_the_families_own() -> None:
    # Table 7 shortens the families' names; their order is that of the accuracy table.
    pairs = [len(members) * (len(members) - 1) // 2 for members in MEMBERS]
    assert sorted(pairs) == [1, 3, 3, 3]
    for row in rows("benchmark2_cad_by_family.csv"):
        own = [float(row[short]) for short in ("DeepSeek", "Llama", "Qwen2.5", "Qwen3")]
        rates = [-math.log(cad) / 12 for cad in own]
        if row["benchmark"] != CONTRADICTED:
            found = capability_alignment(pooled_inversion_rate(rates, pairs))
            assert found == pytest.approx(published("CAD")[row["benchmark"]], abs=0.006)


def test_cbrc_with_ties_by_listing() -> None:
    domains = [PUBLISHED[name]["domain"] for name in BENCHMARKS]
    found = cross_benchmark_consistency(ACCURACIES, domains, ties="listing")
    checked = 0
    for name, domain, consistency in zip(BENCHMARKS, domains, found, strict=True):
        if domain in {"Mathematics", "General Reasoning"}:
            assert consistency.value == pytest.approx(published("CBRC")[name], abs=0.005)
            assert consistency.deviation == pytest.approx(published("CBRC_sigma")[name], abs=0.006)
            checked += 1
    assert checked == 10


def test_bqs_from_the_printed_inputs() -> None:
    for row in PUBLISHED.values():
        parts = (float(row[column]) for column in ("CBRC", "DS", "CAD"))
        assert benchmark_quality(*parts) == pytest.approx(float(row["BQS"]), abs=0.0075 + 1e-9)
