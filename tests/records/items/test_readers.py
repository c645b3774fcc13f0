from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.records.errors import InputError
from benchprism.records.items.readers import read_file

ODD = "a\u2028b\u0085c\r\nd\re 👩\u200d🔬 \u200fא"


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows(path: Path) -> list[dict[str, Any]]:
    return [dict(row.cells) for row in read_file(path).rows]


def test_a_line_of_jsonl_ends_at_a_line_feed_only(tmp_path: Path) -> None:
    lines = [json.dumps({"q": ODD, "n": n}, ensure_ascii=False) for n in range(2)]
    path = written(tmp_path / "f.jsonl", "\ufeff" + "\r\n".join([*lines, "", ""]))
    source = read_file(path)
    assert [row.cells for row in source.rows] == [{"q": ODD, "n": 0}, {"q": ODD, "n": 1}]
    assert [row.place for row in source.rows] == ["line 1", "line 2"]
    assert source.revision == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def test_json_values_keep_their_types(tmp_path: Path) -> None:
    line = '{"a": "2024-01-01", "b": "5", "c": 5, "d": "None", "e": 1.0, "f": NaN, "g": -Infinity}'
    found = rows(written(tmp_path / "f.jsonl", line))[0]
    assert found == {
        "a": "2024-01-01",
        "b": "5",
        "c": 5,
        "d": "None",
        "e": 1.0,
        "f": None,
        "g": "-Infinity",
    }


def test_json_is_a_list_or_a_record_whose_keys_are_ids(tmp_path: Path) -> None:
    entries = written(tmp_path / "f.json.gz", gzip.compress(b'{"7": {"q": "a"}, "8": {"q": "b"}}'))
    assert rows(entries) == [{"id": "7", "q": "a"}, {"id": "8", "q": "b"}]
    assert rows(written(tmp_path / "f.json", '[{"q": "a"}]')) == [{"q": "a"}]


def test_csv_is_text(tmp_path: Path) -> None:
    content = '\ufeffq,a\r\n007,None\r\n\r\n"x\ny, ""z""",\r\n' + f'"{"p" * 200_000}",NA\r\n'
    found = rows(written(tmp_path / "f.csv", content))
    assert found == [
        {"q": "007", "a": "None"},
        {"q": 'x\ny, "z"', "a": ""},
        {"q": "p" * 200_000, "a": "NA"},
    ]
    assert rows(written(tmp_path / "f.tsv", "q\ta\n1,2\t\n")) == [{"q": "1,2", "a": ""}]


def test_parquet_values_are_as_they_are(tmp_path: Path) -> None:
    table = [{"q": "12:30", "c": ["a", None], "r": {"text": ["x"]}, "n": 3}]
    pq.write_table(pa.Table.from_pylist(table), tmp_path / "f.parquet")
    assert rows(tmp_path / "f.parquet") == table


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("f.jsonl", '{"q": 1}\n{"q": \n', "line 2: not JSON"),
        ("f.jsonl", '{"q": 1}\n[1]\n', "line 2: [1] is no record"),
        ("f.jsonl", '{"q": 1, "q": 2}', "line 1: the key 'q' twice"),
        ("f.jsonl", '{"q": {"a": 1, "a": 2}}', "line 1: the key 'a' twice"),
        ("f.jsonl", "\n\n", "has no rows"),
        ("f.jsonl", "[" * 100_000, "line 1: records nested too deep"),
        ("f.jsonl", b'{"q": 1}\n{"q": "caf\xe9"}\n', "line 2: byte 11 is not UTF-8 (0xe9)"),
        ("f.json", "3", "3 is no list"),
        ("f.json", "[1]", "entry 1: 1 is no record"),
        ("f.json", '{"a": {"q": 1},\n"b": 2,}', "line 2: not JSON"),
        ("f.csv", "q,a\n1,2\n3\n", "line 3: 1 cells under 2 columns"),
        ("f.csv", "q,q\n1,2\n", "line 1: the column 'q' twice"),
        ("f.csv", 'q,a\n"b"c,d\n', "line 2: ',' expected"),
        ("f.csv", b"q\n\xe9\n", "not UTF-8 (0xe9)"),
        ("f.parquet", "PAR1", "cannot be read as Parquet"),
        ("f.txt", "x", "ends in '.txt'; wanted one of .jsonl"),
        ("f", "x", "has no ending"),
        ("f.jsonl.gz", "x", "cannot be read (Not a gzipped file"),
        (
            "f.jsonl.gz",
            gzip.compress(b'{"q": 1}\n' * 99, mtime=0)[:-9],
            "cannot be read (Compressed file",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: str | bytes, sentence: str
) -> None:
    with pytest.raises(InputError) as error:
        read_file(written(tmp_path / name, content))
    assert sentence in str(error.value)
    assert str(tmp_path / name) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        read_file(tmp_path / "none.txt")
    with pytest.raises(InputError, match="is a folder"):
        read_file(tmp_path)
