from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.matrix import outcomes
from benchprism.records.results.store import TIDY_SCHEMA

Rows = list[tuple[str, str, str, float | None]]


def table(rows: Rows) -> pa.Table:
    names = TIDY_SCHEMA.names
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows], schema=TIDY_SCHEMA
    )


def test_each_benchmark_is_a_matrix_of_its_items_and_models() -> None:
    found = outcomes(
        {
            "x": table([("b", "2", "m", 1.0), ("a", "1", "n", 0.0), ("a", "1", "m", 1.0)]),
            "y": table([("a", "0", "m", None), ("a", "2", "n", 1.0)]),
        }
    )
    first, second = found
    assert (first.benchmark, second.benchmark) == ("a", "b")
    assert first.item_ids == ("0", "1", "2")
    assert first.models == ("m", "n")
    wanted = np.array([[np.nan, np.nan], [1, 0], [np.nan, 1]])
    assert np.array_equal(first.scores, wanted, equal_nan=True)
    assert second.models == ("m",)
    assert second.scores.tolist() == [[1]]


def test_right_and_wrong_take_single_precision_and_graded_scores_stay_exact() -> None:
    assert outcomes({"x": table([("a", "1", "m", 0.5)])})[0].scores.dtype == np.float32
    graded = outcomes({"x": table([("a", "1", "m", 0.1)])})[0].scores
    assert graded.dtype == np.float64
    assert graded[0, 0] == 0.1


def test_the_same_score_again_counts_once_and_fills_what_is_missing() -> None:
    rows: Rows = [("a", "1", "m", None), ("a", "1", "m", 1.0), ("a", "1", "m", 1.0)]
    assert outcomes({"x": table(rows)})[0].scores.tolist() == [[1]]


def test_two_scores_for_one_model_and_item_are_refused_with_their_rows() -> None:
    first = table([("a", "1", "m", 1.0), ("a", "2", "m", 1.0)])
    second = table([("a", "3", "m", 1.0), ("a", "2", "m", 0.0)])
    with pytest.raises(InputError) as caught:
        outcomes({"first.parquet": first, "second.parquet": second})
    assert (
        "'m' has two scores for item '2' of 'a': 1.0 in first.parquet row 2, "
        "0.0 in second.parquet row 2"
    ) in str(caught.value)


def test_the_matrix_is_the_table_whatever_the_order_of_its_rows() -> None:
    rng = np.random.default_rng(0)
    rows: Rows = [
        (f"b{b}", f"i{i}", f"m{m}", float(rng.integers(0, 2)))
        for b in range(3) for i in range(20) for m in range(7) if rng.random() < 0.8
    ]  # fmt: skip
    scores = {row[:3]: row[3] for row in rows}
    shuffled = [rows[i] for i in rng.permutation(len(rows))]
    halves = {"x": table(shuffled[:100]), "y": table(shuffled[100:])}
    for found in outcomes(halves):
        for i, item in enumerate(found.item_ids):
            for m, model in enumerate(found.models):
                wanted = scores.get((found.benchmark, item, model))
                assert (
                    np.isnan(found.scores[i, m]) if wanted is None else found.scores[i, m] == wanted
                )


def test_no_rows_are_no_benchmarks() -> None:
    assert outcomes({"x": table([])}) == []
