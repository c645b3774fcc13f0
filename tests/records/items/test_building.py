from __future__ import annotations

import json
from typing import Any

import pytest

from benchprism.records.errors import InputError
from benchprism.records.items.building import Part, build_items
from benchprism.records.items.mapping import ColumnMapping, make_mapping
from benchprism.records.items.record import Item
from benchprism.records.items.source import Row, Source


def source(*cells: dict[str, Any], name: str = "f.jsonl", **more: Any) -> Source:
    rows = [Row(f"line {number}", one) for number, one in enumerate(cells, start=1)]
    return Source(name, "sha256:0", rows, **more)


def build(*cells: dict[str, Any], part: Part | None = None, **fields: Any) -> list[Item]:
    of = source(*cells)
    return build_items("b", [of], make_mapping({"question": "q", **fields}, of.columns), part)


CHOICE: dict[str, Any] = {"choices": "c", "answer": "k", "coding": "letter"}


def test_faults_are_told_and_nothing_is_dropped() -> None:
    items = build(
        {"q": "a", "c": ["x", "y"], "k": "B"},
        {"q": "b", "c": ["x", "y"], "k": "E"},
        {"q": "c", "c": ["x", "y"], "k": ""},
        {"q": "d", "c": [], "k": "A"},
        {"q": "e", "k": None},
        {"q": "f", "c": ["x\u00a0y", "x  y"], "k": "A"},
        {"q": " ", "c": ["x", None], "k": "A"},
        **CHOICE,
    )
    assert [item.faults for item in items] == [
        (),
        ("bad_key",),
        ("no_gold",),
        ("missing_choices",),
        ("missing_choices", "no_gold"),
        ("duplicate_choices",),
        ("empty_question", "empty_choice"),
    ]
    assert [item.answer_index for item in items] == [1, None, None, None, None, 0, 0]
    assert [item.answer_text for item in items[:3]] == ["y", None, None]
    assert {item.kind for item in items} == {"multiple_choice"}


def test_an_item_without_choices_is_an_open_question_where_it_is_mapped_so() -> None:
    rows = ({"q": "a", "c": ["x", "y"], "k": "B"}, {"q": "b", "c": [], "k": "Paris"})
    choice, free = build(*rows, **CHOICE, kind="mixed")
    assert (choice.kind, choice.answer_index) == ("multiple_choice", 1)
    assert (free.kind, free.answer_text, free.faults) == ("generative", "Paris", ())


def test_labels_do_not_change_the_hash() -> None:
    letters = {"q": "a", "c": {"text": ["x", "y"], "label": ["A", "B"]}, "k": "B"}
    digits = {"q": "a", "c": {"text": ["x", "y"], "label": ["1", "2"]}, "k": "2"}
    fields: dict[str, Any] = {
        "choices": "c.text",
        "labels": "c.label",
        "answer": "k",
        "coding": "label",
    }
    one, other = build(letters, **fields)[0], build(digits, **fields)[0]
    assert one.answer_index == other.answer_index == 1
    assert one.content_hash == other.content_hash


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        ({"q": "a", "c": {"A": "x", "B": "y", "C": None}, "k": "B"}, {"coding": "label"}),
        ({"q": "a", "c": '["x", "y"]', "k": "y"}, {"coding": "text"}),
        ({"q": "a", "c": "x | y", "k": "B"}, {"coding": "letter", "separators": {"c": "|"}}),
        ({"q": "a", "A": "x", "B": "y", "C": "", "k": "B"}, {"choices": "A,B,C"}),
        ({"q": "a", "A": "x", "more": ["y"], "k": "B"}, {"choices": ["A", "more"]}),
        ({"q": "a", "x,y": ["x", "y"], "k": "B"}, {"choices": "x,y"}),
    ],
)
def test_choices_are_lists_records_or_columns(row: dict[str, Any], fields: dict[str, Any]) -> None:
    item = build(row, **(CHOICE | fields))[0]
    assert (item.choices, item.answer_index, item.faults) == (("x", "y"), 1, ())


def test_a_question_may_be_made_of_columns() -> None:
    cells = {"a": "{b}", "b": "{% if x %}", "k": "x"}
    item = build(cells, question="{a}: {b}", answer="k")[0]
    assert item.question == "{b}: {% if x %}"
    named = {"{b} x": "the column", "b": "y", "k": "x"}
    assert build(named, question="{b} x", answer="k")[0].question == "the column"


def test_ids_count_rows_within_subset_and_split_before_any_choice() -> None:
    rows = [{"q": str(n), "s": "ab"[n % 2], "k": "x", "d": "val"} for n in range(5)]
    fields: dict[str, Any] = {
        "answer": "k",
        "subset": "s",
        "split": "d",
        "split_names": {"val": "validation"},
    }
    items = build(*rows, **fields)
    assert [item.item_id for item in items] == [
        "b/a/validation/0",
        "b/b/validation/0",
        "b/a/validation/1",
        "b/b/validation/1",
        "b/a/validation/2",
    ]
    chosen = build(*rows, **fields, part=Part(subset="b", split="validation"))
    assert [(item.item_id, item.row) for item in chosen] == [
        ("b/b/validation/0", 1),
        ("b/b/validation/1", 3),
    ]
    named = build(*rows, answer="k", part=Part(split="test", subset="x"))
    assert named[4].item_id == "b/x/test/4"
    assert build(*rows, answer="k", part=Part(default_split="dev"))[0].item_id == "b/dev/0"
    assert build(*rows, answer="k")[0].item_id == "b/0"


def test_only_the_rows_of_the_benchmark_are_read() -> None:
    rows = ({"b": "x", "q": "a", "id": "x-#7", "k": "1"}, {"b": "y", "q": "b", "id": 0, "k": "2"})
    items = build(*rows, answer="k", rows={"b": "x"}, id="id", id_pattern=r"#(\d+)\Z")
    assert [item.item_id for item in items] == ["b/7"]


@pytest.mark.parametrize("ids", [(1, "1"), ("1", 1.0), (1, " 1 ")])
def test_an_id_twice_names_both_rows(ids: tuple[Any, Any]) -> None:
    rows = [{"q": "a", "k": "x", "id": 0}, *({"q": "a", "k": "x", "id": one} for one in ids)]
    with pytest.raises(InputError, match=r"'b/1' twice, at f.jsonl, line 2 and at f.jsonl, line 3"):
        build(*rows, answer="k", id="id")


def test_the_same_id_in_two_splits_is_no_clash() -> None:
    sources = [source({"q": "a", "k": "x"}, split=split) for split in ("dev", "test")]
    mapping = ColumnMapping(question="q", answer="k", coding="free")
    assert [i.item_id for i in build_items("b", sources, mapping)] == ["b/dev/0", "b/test/0"]
    with pytest.raises(InputError, match=r"at f.jsonl, line 1 and at g, line 1"):
        build_items("b", [sources[0], source({"q": "b", "k": "x"}, split="dev", name="g")], mapping)


def test_the_source_is_kept_as_json() -> None:
    cells = {
        "q": "a",
        "k": "x",
        "n": float("nan"),
        "i": float("inf"),
        "b": b"\x00",
        "l": [1.0, "ü"],
    }
    item = build(cells, answer="k")[0]
    assert json.loads(item.source) == cells | {"n": None, "i": "inf", "b": "00"}
    assert "ü" in item.source


def test_accepted_answers_are_those_beside_the_key() -> None:
    row = {"q": "a", "k": "Nothing", "ok": "nothing; Nothing; No harm;"}
    item = build(row, answer="k", accepted="ok", separators={"ok": ";"})[0]
    assert (item.answer_text, item.accepted_answers) == ("Nothing", ("nothing", "No harm"))
    listed = {"q": "a", "k": ["1", "one"], "ok": [["1"], ["a", "b"]]}
    item = build(listed, answer="k", coding="list", accepted="ok")[0]
    assert (item.answer_text, item.accepted_answers) == ("1", ("one", "a, b"))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"question": "quest", "answer": "k"}, "no column 'quest'"),
        ({"question": "{q}: {cc}", "answer": "k"}, "no column 'cc'"),
        ({"answer": "key"}, "no column 'key'"),
        ({"answer": "k", "choices": "c.tex"}, "no column 'c.tex'; wanted a column that is there"),
        ({}, "no column is mapped to the answer"),
        ({"answer": "k", "coding": "letter"}, "'letter' for questions without choices"),
        ({"answer": "k", "coding": "free", "choices": "l"}, "'free' for items with choices"),
        ({"answer": "k", "coding": "label", "choices": "l"}, "'label' without labels"),
        ({"answer": "k", "coding": "letter", "choices": "q"}, "line 1: the choices in 'q' are a"),
        (
            {"answer": "k", "coding": "index0", "choices": "l"},
            "'B' does not fit the coding 'index0'",
        ),
        ({"answer": "l"}, "line 1: the answer ['x', 'y'] is not one text"),
        ({"answer": "k", "id": "none"}, "line 1: no id in the column 'none'"),
        ({"answer": "k", "rows": {"q": "z"}}, "no rows with {'q': 'z'}"),
        ({"answer": "k", "kind": "open"}, "--map kind=open; wanted 'multiple_choice'"),
        ({"answer": "half"}, "line 1: half a surrogate pair ('\\ud800')"),
    ],
)
def test_a_mapping_that_does_not_fit_is_one_sentence(fields: dict[str, Any], sentence: str) -> None:
    rows: dict[str, Any] = {
        "q": "a",
        "k": "B",
        "l": ["x", "y"],
        "c": {"text": ["x"]},
        "none": None,
        "np": "['x' 'y']",
    }
    if fields == {"answer": "half"}:
        rows["half"] = "\ud800"
    with pytest.raises(InputError) as error:
        build(rows, **fields)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_a_part_that_is_not_there_is_said() -> None:
    rows = [{"q": "a", "k": "x", "s": "anatomy", "d": "dev"}]
    with pytest.raises(InputError, match=r"no rows of the subset 'anatmy'.*did you mean 'anatomy'"):
        build(*rows, answer="k", subset="s", part=Part(subset="anatmy"))
    with pytest.raises(InputError, match="no rows of the split 'test'"):
        build(*rows, answer="k", split="d", part=Part(split="test"))
