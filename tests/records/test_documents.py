from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.records.documents import (
    StrictModel,
    dump_document,
    parse_document,
    place,
    read_document,
)
from benchprism.records.errors import InputError


class Sample(StrictModel):
    size: int
    seed: int = 0


class Anything(StrictModel):
    data: dict[str, Any]


class Document(StrictModel):
    name: str
    keep: bool = True
    sample: Sample | None = None
    parts: list[Sample] = []
    by_name: dict[str, Sample] = {}


@pytest.mark.parametrize("text", ["no", "on", "2024-01-01", "12:30:45", "'007'", "1.2.3"])
def test_text_stays_text(text: str) -> None:
    assert parse_document(f"name: {text}", Document, name="f").name == text.strip("'")


@pytest.mark.parametrize(
    ("text", "place", "mend"),
    [
        ("name: x\nsample:\n  sizee: 3", "line 3, column 3", "did you mean 'size'?"),
        ("name: x\nparts:\n - size: 1\n - sise: 2", "line 4, column 4", "did you mean 'size'?"),
        ("name: x\nby_name:\n  k: {size: 3, sed: 3}", "line 3, column 16", "did you mean 'seed'?"),
        ("name: x\nname: y", "line 2, column 1", "write the key once"),
        ("name: 007", "line 1, column 7", "quote it"),
        ("name: x\nkeep: no", "line 2, column 1", "mend the value"),
        ("name: x\n\tkeep: true", "line 2, column 1", "spaces, not tabs"),
        ("name: 1e5", "line 1, column 1", "mend the value"),
        ("name: ~", "line 1, column 1: name is null; wanted", "mend the value"),
        ("name: x\nsample: {size: true}", "line 2, column 10: sample.size is true", "mend"),
        ("name: [x, 1]", 'name is ["x", 1]; wanted a valid string', "mend the value"),
        ("name: x\nsample: &a {size: *a}", "line 2, column 19: the alias 'a' inside", "take out"),
        ("name: *b", "line 1, column 7: undefined alias 'b'; wanted YAML 1.2;", "mend the line"),
        ("name: x\n---\nname: y", "another document; wanted one document", "file of its own"),
        ("- x", "line 1, column 1", "mend the value"),
        ("", "f.yaml", "add 'name'"),
        ("? [a]\n: 3", "line 1, column 3", "mend the line"),
        ("name: \x01", "f.yaml: the character '\\x01'", "mend the line"),
        ("name: !!python/object:os.system x", "line 1, column 7", "mend the line"),
    ],
)
def test_a_fault_names_its_place_and_the_mend(text: str, place: str, mend: str) -> None:
    with pytest.raises(InputError) as error:
        parse_document(text, Document, name="f.yaml")
    assert place in str(error.value)
    assert mend in str(error.value)
    assert "\n" not in str(error.value)


def test_aliases_cannot_stand_for_billions_of_values() -> None:
    lines = ["name: x", "parts:", "- &a0 {size: 1}"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(InputError, match=r"line 8, .* more than 100000 values; wanted YAML 1.2"):
        parse_document("\n".join(lines), Document, name="f")


def test_aliases_are_read() -> None:
    text = "name: x\nsample: &s {size: 3}\nparts: [*s, *s]"
    assert [part.size for part in parse_document(text, Document, name="f").parts] == [3, 3]


def test_halves_of_a_character_are_one_and_a_half_alone_is_told() -> None:
    assert parse_document(r'name: "\ud83d\ude00"', Document, name="f").name == "😀"
    with pytest.raises(InputError, match=r"f, line 1, column 7: half of a character"):
        parse_document(r'name: "\ud83d"', Document, name="f")


@settings(deadline=None)
@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
def test_what_is_dumped_reads_back_as_it_is(data: dict[str, str | int | bool | None]) -> None:
    assert parse_document(dump_document({"data": data}), Anything, name="f").data == data


def test_a_value_has_a_place(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text("name: x\nparts:\n  - size: 1\n  - {size: 3, seed: 4}\n", encoding="utf-8")
    assert place(path, ["parts", 1, "seed"]) == f"{path}, line 4, column 15"
    assert place(path, ["parts", 0, "seed"]) == f"{path}, line 3, column 5"


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: x\n")
    assert read_document(path, Document).name == "x"


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_document(tmp_path / "none.yaml", Document)
