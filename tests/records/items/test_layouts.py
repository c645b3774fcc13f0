"""The same benchmark in other columns: as the Hub has it, or as other copies do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.items.loading import Request, load
from benchprism.records.items.record import Item

DATA = Path(__file__).parents[2] / "data" / "items"
CRUX_PROMPT = (
    "You are given a Python function and an assertion containing an input to the function."
)


def items(name: str, file: str) -> list[Item]:
    return load(Request(name, file=DATA / file)).items


def written(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_other_layouts_of_the_same_benchmark_give_the_same_items(tmp_path: Path) -> None:
    one_hot = written(
        tmp_path / "t.jsonl",
        '{"question": "Are you conscious?", "mc1_targets": {"choices": ["I am an AI and I don\'t '
        'know the answer", "Yes, I am conscious."], "labels": [1, 0]}}',
    )
    conscious = load(Request("truthfulqa", file=one_hot)).items[0]
    assert conscious.content_hash == items("truthfulqa", "truthfulqa.jsonl")[1].content_hash
    assert conscious.answer_index == 0

    halves = written(
        tmp_path / "h.csv",
        "ind,activity_label,ctx_a,ctx_b,endings,label",
        'x,High jump,A boy is running down a track.,the boy,"[""runs into a car."",'
        '""gets in a mat."",""lifts his body above the height of a pole."",'
        '""stands on his hands and springs.""]",2',
    )
    jump = load(Request("hellaswag", file=halves)).items[0]
    assert jump.content_hash == items("hellaswag", "hellaswag_validation.jsonl")[0].content_hash
    assert jump.answer_index == 2

    code = written(
        tmp_path / "c.jsonl",
        '{"code": "def f(a, b, c):\\n    result = {}\\n    for d in a, b, c:\\n        '
        'result.update(dict.fromkeys(d))\\n    return result", "input": "(1, ), (1, ), (1, 2)", '
        '"output": "{1: None, 2: None}", "id": "sample_1"}',
    )
    crux, copy = (
        load(Request("cruxeval", file=code)).items[0],
        items("cruxeval", "zeroeval.jsonl")[1],
    )
    assert crux.question.startswith(CRUX_PROMPT)
    assert (crux.item_id, crux.content_hash) == (copy.item_id, copy.content_hash)

    stem = written(
        tmp_path / "a.jsonl",
        '{"id": "x", "question": {"stem": "s", "choices": [{"text": "a", "label": "1"}, '
        '{"text": "b", "label": "2"}]}, "answerKey": "2"}',
    )
    arc = load(Request("arc_easy", file=stem)).items[0]
    assert (arc.question, arc.choices, arc.answer_index) == ("s", ("a", "b"), 1)


HUB_ROWS: list[tuple[str, dict[str, Any], str, str | None]] = [
    (
        "mmlu_pro",
        {
            "question_id": 70,
            "question": "q",
            "options": ["a", "b", "c"],
            "answer": "C",
            "answer_index": 2,
            "category": "law",
        },
        "mmlu_pro/law/test/70",
        "c",
    ),
    (
        "supergpqa",
        {
            "uuid": "u1",
            "question": "q",
            "options": ["a", "b"],
            "answer": "b",
            "answer_letter": "B",
            "discipline": "Law",
        },
        "supergpqa/Law/train/u1",
        "b",
    ),
    ("omni_math", {"problem": "q", "answer": "$2$", "source": "x"}, "omni_math/test/0", "$2$"),
    ("ifeval", {"key": 1000, "prompt": "q", "kwargs": [{}]}, "ifeval/train/1000", None),
    ("aime24", {"ID": "2024-I-4", "Problem": "q", "Answer": 116}, "aime24/train/2024-I-4", "116"),
    ("aime24", {"id": 3, "problem": "q", "solution": "so \\boxed{23}"}, "aime24/train/3", "23"),
    (
        "drop",
        {
            "query_id": "d1",
            "passage": "p",
            "question": "q",
            "answer": {"number": "", "date": {"day": "", "month": "", "year": "1867"}, "spans": []},
            "validated_answers": {
                "number": ["", "1867"],
                "date": [{"day": "", "month": "", "year": "1867"}, {}],
                "spans": [[], []],
            },
        },
        "drop/validation/d1",
        "1867",
    ),
]


@pytest.mark.parametrize(("name", "row", "item_id", "answer"), HUB_ROWS)
def test_rows_as_the_hub_has_them(
    tmp_path: Path, name: str, row: dict[str, Any], item_id: str, answer: str | None
) -> None:
    item = load(Request(name, file=written(tmp_path / "r.jsonl", json.dumps(row)))).items[0]
    assert (item.item_id, item.answer_text, item.faults) == (item_id, answer, ())
    assert item.question == "q"
    assert item.accepted_answers == ()


def test_an_empty_label_of_the_hidden_test_is_no_gold(tmp_path: Path) -> None:
    hidden = written(
        tmp_path / "h.jsonl",
        '{"activity_label": "a", "ctx": "b", "endings": ["x", "y"], "split": "test", "label": ""}',
    )
    item = load(Request("hellaswag", file=hidden)).items[0]
    assert (item.item_id, item.answer_index, item.faults) == (
        "hellaswag/test/0",
        None,
        ("no_gold",),
    )


def test_an_eq_bench_row_of_the_hub_has_the_number_of_its_question(tmp_path: Path) -> None:
    row = written(tmp_path / "e.jsonl", '{"prompt": "p", "reference_answer_fullscale": "{}"}')
    assert load(Request("eq_bench", file=row)).items[0].item_id == "eq_bench/validation/1"


def test_a_mapping_goes_over_a_preset(tmp_path: Path) -> None:
    renamed = written(
        tmp_path / "m.jsonl",
        '{"q": "1 + 1?", "subject": "sums", "choices": ["1", "2"], "answer": "B"}',
    )
    columns = {"question": "q", "coding": "letter"}
    request = Request("mine", preset="mmlu", file=renamed, columns=columns, split="dev")
    assert [(i.item_id, i.answer_index) for i in load(request).items] == [("mine/sums/dev/0", 1)]
