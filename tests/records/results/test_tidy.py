from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.results import tidy_rows
from benchprism.records.results.logs.scales import Scale
from benchprism.records.results.store import TIDY_SCHEMA
from benchprism.records.results.tidy import read_tidy
from benchprism.records.results.tidy_values import Scoring

HEADER = "benchmark,item_id,model,score\n"


def csv(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def parquet(folder: Path, **columns: Any) -> Path:
    path = folder / "scores.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def test_a_csv_file_is_read_as_it_stands(tmp_path: Path) -> None:
    path = csv(tmp_path, HEADER + 'arc,007,m,1\narc,1.0,m,0.25\narc,1,"a, b",0\n')
    table = read_tidy(path)
    assert table.cast(TIDY_SCHEMA).schema == TIDY_SCHEMA
    assert table.to_pydict() == {
        "benchmark": ["arc"] * 3,
        "item_id": ["007", "1.0", "1"],
        "model": ["m", "m", "a, b"],
        "score": [1.0, 0.25, 0.0],
    }


@pytest.mark.parametrize("cell", ["", " ", "NaN", "nan", "null", "None", "N/A", '""'])
def test_a_missing_score_is_missing(tmp_path: Path, cell: str) -> None:
    table = read_tidy(csv(tmp_path, HEADER + f"a,1,m,{cell}\na,2,m,1\n"))
    assert table["score"].to_pylist() == [None, 1.0]


@pytest.mark.parametrize(
    ("cell", "score"), [("true", 1.0), ("False", 0.0), ("1e-1", 0.1), (" 0.5 ", 0.5)]
)
def test_words_and_numbers(tmp_path: Path, cell: str, score: float) -> None:
    assert read_tidy(csv(tmp_path, HEADER + f"a,1,m,{cell}\n"))["score"].to_pylist() == [score]


def test_a_byte_order_mark_crlf_and_line_breaks_in_cells(tmp_path: Path) -> None:
    path = csv(tmp_path, '\ufeffbenchmark,item_id,model,score\r\na,"x\ny",m,1\r\na,\u2028,m,0\r\n')
    table = read_tidy(path)
    assert table["item_id"].to_pylist() == ["x\ny", "\u2028"]


def test_parquet_types(tmp_path: Path) -> None:
    path = parquet(
        tmp_path,
        benchmark=pa.array(["a", "a", "a"]).dictionary_encode(),
        item_id=pa.array([1, 2, 3]),
        model=pa.array(["m", "m", "m"], pa.large_string()),
        score=pa.array([True, False, None]),
        further=pa.array([{"x": 1}, None, None]),
    )
    table = read_tidy(path)
    assert table["item_id"].to_pylist() == ["1", "2", "3"]
    assert table["score"].to_pylist() == [1.0, 0.0, None]


def test_nan_in_parquet_is_missing(tmp_path: Path) -> None:
    path = parquet(
        tmp_path, benchmark=["a"] * 2, item_id=["1", "2"], model=["m"] * 2, score=[math.nan, 1.0]
    )
    assert read_tidy(path)["score"].to_pylist() == [None, 1.0]


def test_mapped_columns_and_a_given_benchmark(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,llm,correct\n1,m,1\n")
    columns = {"item_id": "id", "model": "llm", "score": "correct"}
    table = read_tidy(path, columns=columns, benchmark="arc")
    assert table.to_pylist() == [{"benchmark": "arc", "item_id": "1", "model": "m", "score": 1.0}]


def test_a_single_benchmark_is_renamed_but_several_are_not(tmp_path: Path) -> None:
    one = csv(tmp_path, HEADER + "gsm,1,m,1\n")
    assert read_tidy(one, benchmark="gsm8k")["benchmark"].to_pylist() == ["gsm8k"]
    two = csv(tmp_path, HEADER + "gsm,1,m,1\ncrux,1,m,1\n")
    with pytest.raises(InputError, match=r"2 benchmarks \('gsm', 'crux', ...\)"):
        read_tidy(two, benchmark="gsm8k")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            HEADER + "a,1,m,0\na,2,m,57.0\n",
            "the score 57.0 in row 2; wanted scores between 0 and 1",
        ),
        (HEADER + "a,1,m,-0.1\n", "the score -0.1 in row 1"),
        (HEADER + "a,1,m,1\na,2,m,yes\n", "the score 'yes' in row 2; wanted a number"),
        (HEADER + "a,1,m,1\n,2,m,1\n", "no 'benchmark' in row 2"),
        (HEADER + "a,,m,1\n", "no 'item_id' in row 1"),
        ("benchmark,item_id,model,scores\na,1,m,1\n", "no column 'score'"),
        ("benchmark,item_id,model,scores\na,1,m,1\n", "did you mean 'scores'?"),
        ("item_id,model,score\n1,m,1\n", "no column 'benchmark'"),
        ("item_id,model,score\n1,m,1\n", "or --benchmark NAME"),
        ("benchmark,item_id,model,score,score\na,1,m,1,0\n", "two columns 'score'"),
        (HEADER + "a,1,m\n", "cannot be read"),
        ("", "no column 'benchmark'"),
    ],
)
def test_wrong_csv_files_are_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read_tidy(path)
    assert sentence in str(caught.value)
    assert "scores.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_wrong_parquet_files_are_one_sentence(tmp_path: Path) -> None:
    path = parquet(tmp_path, benchmark=["a"], item_id=[1.5], model=["m"], score=[1.0])
    with pytest.raises(InputError, match="column 'item_id' of type double"):
        read_tidy(path)
    path = parquet(tmp_path, benchmark=["a"], item_id=["1"], model=["m"], score=[[1.0]])
    with pytest.raises(InputError, match="column 'score' of type list"):
        read_tidy(path)
    path.write_bytes(b"PAR1 no more")
    with pytest.raises(InputError, match="cannot be read"):
        read_tidy(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("none.csv", "No such file"),
        ("none.parquet", "No such file"),
        ("x.xlsx", "the ending '.xlsx'"),
    ],
)
def test_wrong_paths(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_tidy(tmp_path / name)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_bytes(HEADER.encode() + "a,1,modèle,1\n".encode("latin-1"))
    with pytest.raises(InputError, match="cannot be read"):
        read_tidy(path)


def test_a_mapping_for_a_column_that_is_not_ours(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean 'score'"):
        read_tidy(csv(tmp_path, HEADER), columns={"scor": "x"})


def test_json_lines_and_tabs(tmp_path: Path) -> None:
    lines = '{"benchmark": "a", "item_id": 7, "model": "m", "score": true}\n'
    lines += '{"benchmark": "a", "item_id": "007", "model": "m", "score": null, "more": [1]}\n'
    path = csv(tmp_path, lines, "scores.jsonl")
    assert read_tidy(path).to_pylist() == [
        {"benchmark": "a", "item_id": "7", "model": "m", "score": 1.0},
        {"benchmark": "a", "item_id": "007", "model": "m", "score": None},
    ]
    tabs = csv(tmp_path, "benchmark\titem_id\tmodel\tscore\na\t1\tm\t0\n", "scores.tsv")
    assert read_tidy(tabs)["score"].to_pylist() == [0.0]


def test_correct_stands_for_the_score(tmp_path: Path) -> None:
    path = csv(tmp_path, "benchmark,item_id,model,correct\na,1,m,1\n")
    assert read_tidy(path)["score"].to_pylist() == [1.0]
    both = csv(tmp_path, "benchmark,item_id,model,correct,score\na,1,m,1,0.25\n")
    assert read_tidy(both)["score"].to_pylist() == [0.25]


@pytest.mark.parametrize(
    ("cell", "scale", "score"), [("84", (0, 100), 0.84), ("2", (5, 1), 0.75), ("-1", (-1, 1), 0.0)]
)
def test_scores_on_a_stated_scale(
    tmp_path: Path, cell: str, scale: tuple[float, float], score: float
) -> None:
    scoring = Scoring(Scale(*scale))
    table = read_tidy(csv(tmp_path, HEADER + f"a,1,m,{cell}\n"), scoring=scoring)
    assert table["score"].to_pylist() == [score]


def test_scores_below_the_worst_only_where_points_come_off(tmp_path: Path) -> None:
    path = csv(tmp_path, HEADER + "a,1,m,-3\n")
    with pytest.raises(InputError, match=r"scores between 0 and 10.*--penalties"):
        read_tidy(path, scoring=Scoring(Scale(0, 10)))
    assert read_tidy(path, scoring=Scoring(Scale(0, 10), True))["score"].to_pylist() == [-0.3]
    above = csv(tmp_path, HEADER + "a,1,m,11\n")
    with pytest.raises(InputError, match=r"the score 11\.0 in row 1"):
        read_tidy(above, scoring=Scoring(Scale(0, 10), True))


def test_trials(tmp_path: Path) -> None:
    header = "benchmark,item_id,model,trial,score\n"
    table = read_tidy(csv(tmp_path, header + "a,1,m,0,1\na,1,m,1,0\n"))
    assert table["trial"].to_pylist() == [0, 1]
    with pytest.raises(InputError, match="the column 'trial'; wanted whole numbers from 0"):
        read_tidy(csv(tmp_path, header + "a,1,m,-1,1\n"))
    with pytest.raises(InputError, match="the trial 'x' in row 1"):
        read_tidy(csv(tmp_path, header + "a,1,m,x,1\n"))


def test_the_row_of_an_error_is_counted_over_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidy_rows, "_ROWS", 10)
    scores = [0.5] * 25 + [7.0]
    path = parquet(
        tmp_path,
        benchmark=["a"] * 26,
        item_id=[str(i) for i in range(26)],
        model=["m"] * 26,
        score=scores,
    )
    with pytest.raises(InputError, match=r"the score 7\.0 in row 26"):
        read_tidy(path)


def test_the_rows_are_counted_while_they_are_read(tmp_path: Path) -> None:
    steps: list[int] = []
    lines = "".join(f"a,{i},m,1\n" for i in range(50))
    read_tidy(csv(tmp_path, HEADER + lines), step=steps.append)
    assert sum(steps) == 50


def test_many_rows(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).random(50_000).round(3)
    lines = "".join(f"a,{i},m,{score}\n" for i, score in enumerate(scores))
    table = read_tidy(csv(tmp_path, HEADER + lines))
    assert np.array_equal(table["score"].to_numpy(), scores)


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999", "nan", ""])
def test_what_is_no_finite_number_is_missing(tmp_path: Path, cell: str) -> None:
    """As in logs and wide tables: missing, and never wrong."""
    table = read_tidy(csv(tmp_path, HEADER + f"a,1,m,1\na,2,m,{cell}\n"))
    assert table["score"].to_pylist() == [1.0, None]


def test_infinities_of_parquet_are_missing(tmp_path: Path) -> None:
    columns = {"benchmark": ["a"] * 2, "item_id": ["1", "2"], "model": ["m"] * 2,
               "score": [50.0, float("-inf")]}  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = read_tidy(tmp_path / "t.parquet", scoring=Scoring(Scale(0, 100)))
    assert table["score"].to_pylist() == [0.5, None]
