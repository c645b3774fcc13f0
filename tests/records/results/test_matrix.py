from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results.matrix import outcomes
from benchprism.records.results.store import TIDY_SCHEMA, ResultsFile, write_results

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


def test_no_rows_are_no_benchmarks(tmp_path: Path) -> None:
    assert outcomes({"x": table([])}) == []
    write_results(tmp_path / "a.parquet", table([]))
    assert outcomes({"a": ResultsFile(tmp_path / "a.parquet")}) == []


def test_the_same_item_name_in_two_benchmarks_is_two_items() -> None:
    rows: Rows = [("a", "1", "m", 1.0), ("b", "1", "m", 0.0), ("a", "1", "n", 0.0)]
    first, second = outcomes({"x": table(rows)})
    assert first.scores.tolist() == [[1, 0]]
    assert second.scores.tolist() == [[0]]


def test_a_model_whose_scores_are_all_missing_is_there() -> None:
    (found,) = outcomes({"x": table([("a", "1", "m", 1.0), ("a", "2", "n", None)])})
    assert found.models == ("m", "n")
    assert np.isnan(found.scores[:, 1]).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_files_are_read_in_parts(tmp_path: Path, threads: int) -> None:
    """Parts of any size, read by any number of threads, give the same matrix."""
    rng = np.random.default_rng(1)
    rows: Rows = [
        (f"b{i % 3}", f"i{i:03}", f"m{m}", float(rng.integers(0, 2)))
        for m in range(9) for i in range(120)
    ]  # fmt: skip
    whole = table([rows[at] for at in rng.permutation(len(rows))])
    pq.write_table(whole, tmp_path / "a.parquet", row_group_size=37)
    wanted = outcomes({"x": whole})
    found = outcomes({"a": ResultsFile(tmp_path / "a.parquet")}, threads=threads)
    for one, other in zip(found, wanted, strict=True):
        assert (one.benchmark, one.item_ids, one.models) == (
            other.benchmark,
            other.item_ids,
            other.models,
        )
        assert np.array_equal(one.scores, other.scores, equal_nan=True)


def test_a_graded_score_late_in_a_file_keeps_those_before(tmp_path: Path) -> None:
    rows: Rows = [("a", f"{i:02}", "m", float(i % 2)) for i in range(60)]
    rows += [("a", "60", "m", 0.3), ("a", "61", "m", None), ("a", "62", "m", -0.5)]
    pq.write_table(table(rows), tmp_path / "a.parquet", row_group_size=10)
    (found,) = outcomes({"a": ResultsFile(tmp_path / "a.parquet")})
    assert found.scores[:60, 0].tolist() == [i % 2 for i in range(60)]
    assert found.scores[60, 0] == 0.3
    assert np.isnan(found.scores[61, 0])
    assert found.scores[62, 0] == -0.5


def with_trials(*rows: tuple[str, str, int, float | None]) -> pa.Table:
    """Rows of benchmark "a": item, model, trial and score."""
    return pa.Table.from_pylist(
        [
            {"benchmark": "a", "item_id": item, "model": model, "score": score, "trial": trial}
            for item, model, trial, score in rows
        ]
    )


def test_trials_are_averaged_over_those_with_a_score(tmp_path: Path) -> None:
    given = with_trials(
        ("1", "m", 0, 1.0), ("1", "m", 1, 0.0), ("1", "m", 2, None), ("2", "m", 0, None),
        ("1", "n", 0, 1.0), ("1", "n", 1, 1.0),
    )  # fmt: skip
    write_results(tmp_path / "a.parquet", given)
    wanted = np.array([[0.5, 1], [np.nan, np.nan]])
    for table_ in (given, ResultsFile(tmp_path / "a.parquet")):
        (found,) = outcomes({"x": table_})
        assert np.array_equal(found.scores, wanted, equal_nan=True)


def test_a_conflict_of_trials_names_their_mean() -> None:
    trials = with_trials(("1", "m", 0, 1.0), ("1", "m", 1, 0.0), ("1", "m", 2, 0.0))
    single = table([("a", "1", "m", 1.0)])
    with pytest.raises(InputError, match=r"0\.333.* in x \(mean of 3\), 1\.0 in y row 1"):
        outcomes({"x": trials, "y": single})


def test_a_conflict_between_files_names_both(tmp_path: Path) -> None:
    for name, score in (("a", 1.0), ("b", 0.0)):
        write_results(tmp_path / f"{name}.parquet", table([("x", "1", "m", score)]))
    files = {path.name: ResultsFile(path) for path in sorted(tmp_path.iterdir())}
    with pytest.raises(InputError, match=r"1.0 in a.parquet row 1, 0.0 in b.parquet row 1"):
        outcomes(files)


def test_a_few_graded_scores_take_little_memory() -> None:
    tracemalloc.start()
    try:
        outcomes({"x": table([("a", "1", "m", 1.0), ("a", "2", "m", 0.3)])})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    reserved = 8192 * 32768  # address space of the cells, of which nothing is touched
    assert peak < reserved + 2**20
