"""The CSV for people."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa

from benchprism.compose.export.spreadsheet import read_sheet, write_sheet

SCHEMA = pa.schema(
    [
        ("text", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("level", pa.int8()),
        ("grade", pa.float64()),
        ("flag", pa.bool_()),
    ]
)
TEXTS = [
    "=cmd()", "+1", "-3", "@x", "\ttab", "\rcr", "\nlf", "＝full", "'=a", "''=a", "'tis", "'",
    "12", "007", "None", "nan", "null", "true", "2024-01-01", "a\u2028b", "a\r\nb\rc", 'say "x"',
    "a,b;c", "", " ", "é", "👩\u200d🔬",
]  # fmt: skip


def sheet() -> pa.Table:
    rows = [
        {"text": text, "choices": [text, "=b"], "level": -3, "grade": -0.5, "flag": True}
        for text in TEXTS
    ]
    missing = dict.fromkeys(SCHEMA.names)
    return pa.Table.from_pylist([*rows, missing, {**missing, "choices": []}], schema=SCHEMA)


def test_it_reads_back_as_it_was(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", sheet())
    assert read_sheet(tmp_path / "s.csv", SCHEMA) == sheet()


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", sheet())
    with (tmp_path / "s.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert not [row["text"] for row in rows if row["text"][:1] in set("=+-@\t\r\n＝")]
    assert not [row["choices"] for row in rows if row["choices"][:1] not in {"[", ""}]
    assert {(row["level"], row["grade"], row["flag"]) for row in rows[:-2]} == {
        ("-3", "-0.5", "true")
    }
    assert rows[TEXTS.index("=cmd()")]["text"] == "'=cmd()"


def test_a_spreadsheet_sees_utf_8(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", sheet())
    assert (tmp_path / "s.csv").read_bytes().startswith(b'\xef\xbb\xbf"text","choices"')
