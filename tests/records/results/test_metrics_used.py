"""Benchmarks whose models are scored in different ways are found, in tables and in files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.records.results.metrics_used import MetricUse, Tables, mixed_metrics
from benchprism.records.results.store import ResultsFile, write_results

Given = Callable[..., Tables]
Row = tuple[str, str, str | None, str | None]


def table(*rows: Row) -> pa.Table:
    """Rows are benchmark, model, metric and filter."""
    benchmark, model, metric, kept = (list(column) for column in zip(*rows, strict=True))
    return pa.table(
        {
            "benchmark": benchmark,
            "item_id": [str(row) for row in range(len(rows))],
            "model": model,
            "score": [1.0] * len(rows),
            "metric": pa.array(metric, pa.string()),
            "filter": pa.array(kept, pa.string()),
        }
    )


ONE = table(("b", "m", "acc", "none"), ("b", "n", "acc", None), ("c", "m", "acc", "none"))
SAME = table(("b", "o", "acc", ""))
OTHER = table(("b", "o", "em", "strict"), ("b", "o", "em", "strict"))
TABLE = table(("c", "t", None, None))


@pytest.fixture(params=["tables", "files"])
def as_given(request: pytest.FixtureRequest, tmp_path: Path) -> Given:
    """Tables as they are, or as files of them."""

    def given(**tables: pa.Table) -> Tables:
        if request.param == "tables":
            return tables
        for name, one in tables.items():
            write_results(tmp_path / f"{name}.parquet", one)
        return {name: ResultsFile(tmp_path / f"{name}.parquet") for name in tables}

    return given


def test_one_metric_is_not_mixed(as_given: Given) -> None:
    """How harnesses say that there is no filter makes no difference."""
    assert mixed_metrics(as_given(a=ONE, b=SAME)) == {}


def test_metrics_and_filters_with_their_models(as_given: Given) -> None:
    found = mixed_metrics(as_given(a=ONE, b=OTHER, t=TABLE))
    assert found == {
        "b": (MetricUse("acc", None, 2), MetricUse("em", "strict", 1)),
        "c": (MetricUse("acc", None, 1), MetricUse(None, None, 1)),
    }
    assert [str(use) for use in found["b"]] == [
        "acc (2 models)",
        "em after the filter strict (1 model)",
    ]
    assert str(found["c"][1]) == "a metric that is not stated (1 model)"
    assert list(mixed_metrics(as_given(a=ONE, b=OTHER, t=TABLE), ["c", "d"])) == ["c"]


def test_one_table_may_be_mixed(as_given: Given) -> None:
    rows = table(("b", "m", "em", "strict"), ("b", "n", "em", "loose"), ("b", "n", None, None))
    (uses,) = mixed_metrics(as_given(a=rows)).values()
    assert len(uses) == 3
