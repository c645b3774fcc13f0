from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchprism.annotate.gold.labels import GoldLabels, read_gold
from benchprism.annotate.gold.mapping import GoldColumn, GoldMapping, gold_mapping
from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError

CORE = load_catalogue("core")
MakeItems = Callable[..., pa.Table]


@pytest.fixture
def items(make_items: MakeItems) -> pa.Table:
    """bench/test/0 to bench/test/3, with options one and two."""
    return make_items(["First?", "Second?", "Third?", "Second?"])


def jsonl(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path, items: pa.Table, **options: Any) -> GoldLabels:
    return read_gold(path, items, CORE, **options)


def test_a_column_an_attribute(tmp_path: Path, items: pa.Table) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(
        "item_id,clarity,uses_negation,sensitive_topics,answerability,remark\n"
        'bench/test/0,2,true,crime; health,OK,"a, b"\n'
        'bench/test/2,,FALSE,"[""none""]",wrong_key,\n',
        encoding="utf-8",
    )
    gold = read(path, items)
    assert gold.values == {
        "clarity": {0: 2},
        "uses_negation": {0: True, 2: False},
        "sensitive_topics": {0: ["crime", "health"], 2: ["none"]},
        "answerability": {0: "ok", 2: "wrong_key"},
    }
    assert (gold.join.rows, gold.join.joined, gold.join.items) == (2, 2, 2)
    assert list(read(path, items, attributes=["clarity"]).values) == ["clarity"]


def test_a_row_a_value(tmp_path: Path, items: pa.Table) -> None:
    path = tmp_path / "gold.parquet"
    columns = {
        "item_id": ["bench/test/0", "bench/test/0", "bench/test/1"],
        "attribute": ["clarity", "answerability", "clarity"],
        "value": ["2", "ok", "0"],
    }
    pq.write_table(pa.table(columns), path)
    both = {"clarity": {0: 2, 1: 0}, "answerability": {0: "ok"}}
    assert read(path, items).values == both
    only = read(path, items, attributes=["answerability"]).values
    assert only == {"answerability": {0: "ok"}}


def test_a_column_value_is_of_the_attribute_that_is_asked_for(
    tmp_path: Path, items: pa.Table
) -> None:
    path = jsonl(tmp_path / "gold.jsonl", {"id": "bench/test/1", "value": 3})
    assert read(path, items, attributes=["clarity"]).values == {"clarity": {1: 3}}
    with pytest.raises(InputError, match="no column of gold values among id, value"):
        read(path, items)


def test_ids_may_leave_out_their_beginning_but_not_be_mere_numbers(
    tmp_path: Path, make_items: MakeItems
) -> None:
    items = make_items(3)
    ids = pa.array(["mmlu/law/test/3", "mmlu/art/test/3", "arc/test/Q_7"])
    items = items.set_column(0, "item_id", ids)
    path = jsonl(
        tmp_path / "gold.jsonl",
        *({"id": name, "clarity": 1}
          for name in ("law/test/3", "Q_7", "test/3", "3", "arc/test/Q_8", "", None)),
    )  # fmt: skip
    gold = read(path, items)
    assert gold.values == {"clarity": {0: 1, 2: 1}}
    assert gold.join.ways == {"end of id": 2, "ambiguous": 1, "unknown": 2, "without id": 2}
    assert gold.join.not_found == ("line 3", "line 4", "line 5", "line 6", "line 7")
    assert gold.join.joined == 2


FOREIGN = GoldMapping(
    question="q",
    choices="options",
    attributes={
        "answerability": GoldColumn(
            column="verdict", values={"fine": "ok", "bad key": "wrong_key", "ask": None}
        )
    },
)


def test_items_are_found_by_their_text_and_foreign_values_translated(
    tmp_path: Path, items: pa.Table
) -> None:
    options = ["one", "two"]
    path = jsonl(
        tmp_path / "gold.jsonl",
        {"q": " First?\u00a0", "options": options, "verdict": "Fine"},
        {"q": "Third?", "options": json.dumps(options), "verdict": "BAD_KEY"},
        {"q": "Third?", "options": ["two", "one"], "verdict": "fine"},
        {"q": "Second?", "options": options, "verdict": "fine"},
        {"q": "First?", "options": options, "verdict": "ask"},
        {"q": "First?", "options": options, "verdict": "unclear_question"},
    )
    gold = read(path, items, mapping=FOREIGN)
    # two items ask "Second?"; the first item is called fine and unclear
    assert gold.values == {"answerability": {2: "wrong_key"}}
    assert gold.join.ways == {"text": 4, "unknown": 1, "ambiguous": 1}
    assert gold.join.set_aside == {"ask": 1}
    assert gold.join.conflicts == ("bench/test/0",)


def test_labels_of_a_set_are_translated_one_by_one(tmp_path: Path, items: pa.Table) -> None:
    mapping = GoldMapping(
        attributes={"sensitive_topics": GoldColumn(values={"law": "crime", "fun": None})}
    )
    path = jsonl(tmp_path / "g.jsonl", {"id": "bench/test/0", "sensitive_topics": ["LAW", "fun"]})
    assert read(path, items, mapping=mapping).values == {"sensitive_topics": {0: ["crime"]}}


def test_the_same_value_twice_is_no_conflict(tmp_path: Path, items: pa.Table) -> None:
    path = jsonl(tmp_path / "g.jsonl", *[{"id": "bench/test/0", "clarity": 1}] * 2)
    gold = read(path, items)
    assert (gold.values, gold.join.conflicts) == ({"clarity": {0: 1}}, ())
    assert (gold.join.joined, gold.join.items) == (2, 1)


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"id": "x", "clarity": 7}, {}, "line 1: clarity: 7 is no level from 0 to 3; wanted one of 0"),
    ({"id": "x", "clarity": True}, {}, "line 1: clarity: True is no level"),
    ({"id": "x", "answerability": "fine"}, {}, "line 1: answerability: 'fine' is no label"),
    ({"id": "x", "uses_negation": 1}, {}, "neither true nor false; wanted one of true, false"),
    ({"clarity": 1}, {}, "neither a column 'item_id' nor 'id'"),
    ({"id": "x", "remark": 1}, {}, "no column of gold values among id, remark"),
    ({"id": "x", "attribute": "clearness", "value": 1}, {},
     "line 1: no attribute is called 'clearness'"),
    ({"id": "x", "clarity": 1}, {"attributes": ["clearty"]}, "did you mean 'clarity'"),
    ({"id": "x", "verdict": "fine"}, {"mapping": FOREIGN}, "no column 'q'"),
    ({"q": "x", "options": ["a"], "verdicts": "fine"}, {"mapping": FOREIGN},
     "no column 'verdict', which is to hold 'answerability'.*did you mean 'verdicts'"),
    ({"q": "x", "options": "a, b", "verdict": "fine"}, {"mapping": FOREIGN},
     "line 1: the choices are a text, not a list"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "options", "sentence"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(
    tmp_path: Path, items: pa.Table, row: dict[str, Any], options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        read(jsonl(tmp_path / "gold.jsonl", row), items, **options)
    assert "\n" not in str(error.value)


def test_the_shipped_mapping_knows_every_label_of_mmlu_redux() -> None:
    column = gold_mapping("mmlu_redux").attributes["answerability"]
    assert column.values["wrong_groundtruth"] == "wrong_key"
    assert {value for value in column.values.values() if value is not None} == set(
        CORE["answerability"].values
    )
    assert gold_mapping(None) == GoldMapping()


def test_a_mapping_file_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("attributes:\n  clarity: {colunm: c}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2, column 13: the unknown key 'colunm'.*'column'"):
        gold_mapping(str(path))
    with pytest.raises(InputError, match="no mapping 'mmlu-redux'; wanted 'mmlu_redux' or"):
        gold_mapping("mmlu-redux")
