from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.compose.language.errors import located
from benchprism.compose.language.extends import read_criteria
from benchprism.compose.screening import screen
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("where: {dept: 2}", "line 2, column 9", "the unknown field 'dept'; wanted a field of"),
        ("where: {dept: 2}", "line 2, column 9", "did you mean 'depth'?"),
        ("where: {depth.sourc: x}", "line 2, column 9", "did you mean 'depth.source'?"),
        ("where:\n  all:\n  - any: [{depth: 2}, {domian: law}]", "line 4, column 24", "'domain'"),
        ("where:\n  not:\n    depth: {is: 2}\n    zzz: 1", "line 5, column 5", "use one of"),
        ("where: {depth: 4}", "line 2, column 9", "the value 4 for 'depth'; wanted a value it can"),
        ("where: {depth: {min: 4}}", "line 2, column 17", "use one of 0, 1, 2, 3"),
        ("where: {depth: {max: 1.5}}", "line 2, column 17", "use one of 0, 1, 2, 3"),
        ("where: {depth: high}", "line 2, column 9", "use one of 0, 1, 2, 3"),
        ("where: {depth: true}", "line 2, column 9", "use one of 0, 1, 2, 3"),
        ("where: {domain: {in: [law, math]}}", "line 2, column 18", "did you mean 'maths'?"),
        ("where: {domain: zzz}", "line 2, column 9", "use one of law, maths, science"),
        (
            "where: {domain: {min: 2}}",
            "line 2, column 18",
            "'min' on 'domain', which holds a label;",
        ),
        ("where: {domain: {contains: law}}", "line 2, column 18", "one of is, in, missing"),
        ("where: {kinds: causal}", "line 2, column 9", "one of contains, contains_any, missing"),
        ("where: {kinds: {contains: casual}}", "line 2, column 17", "did you mean 'causal'?"),
        ("where: {kinds: {contains_any: [none, x]}}", "line 2, column 17", "use one of causal"),
        ("where: {negation: 1}", "line 2, column 9", "use one of false, true"),
        (
            "where: {depth: '2'}",
            "line 2, column 9",
            "the value \"2\" for 'depth'; wanted a number; write 2 without quotes",
        ),
        ("where: {depth: {in: [1, '2']}}", "line 2, column 17", "write 2 without quotes"),
        ("where: {depth: two}", "line 2, column 9", "use one of 0, 1, 2, 3"),
        (
            "where: {negation: 'true'}",
            "line 2, column 9",
            "the value \"true\" for 'negation'; wanted a truth value; write true without quotes",
        ),
        ("where: {word_count: '-1.5'}", "line 2, column 9", "write -1.5 without quotes"),
        ("where: {negation: {min: 0}}", "line 2, column 20", "which holds a truth value"),
        ("where: {word_count: many}", "line 2, column 9", "wanted a number"),
        ("where: {word_count: {contains: many}}", "line 2, column 22", "min, max, is, in, missing"),
        ("where: {answer_text: 12}", "line 2, column 9", 'quote it: "12"'),
        ("where: {benchmark: acr}", "line 2, column 9", "did you mean 'arc'?"),
        ("where: {depth.source: llm}", "line 2, column 9", "use one of computed, heuristic"),
        ("where: {depth.source: llm_singel}", "line 2, column 9", "did you mean 'llm_single'?"),
        ("where: {answer_format: numbr}", "line 2, column 9", "did you mean 'number'?"),
        (
            "where: {kind: {in: [open]}}",
            "line 2, column 16",
            "use one of generative, multiple_choice",
        ),
        ("where: {choices: {is: yes}}", "line 2, column 19", "which holds a list of texts"),
        ("from: [arc, gms]", "line 2, column 13", "did you mean 'gsm'?"),
        ("sample: {size: 2, balance: domian}", "line 2, column 19", "did you mean 'domain'?"),
        ("sample: {size: 2, balance: kinds}", "line 2, column 19", "'kinds' cannot be balanced"),
        (
            "sample: {size: 2, balance: readability_grade}",
            "line 2, column 19",
            "cannot be balanced",
        ),
    ],
)
def test_a_condition_that_does_not_fit_names_its_place(
    text: str, place: str, sentence: str, table: pa.Table, catalogue: Catalogue, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"name: x\n{text}\n", encoding="utf-8")
    with pytest.raises(InputError) as error, located(path):
        screen(read_criteria(path), table, catalogue=catalogue)
    assert f"{path}, {place}: " in str(error.value)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "where",
    [
        {"subset": {"contains": "al"}},
        {"depth": {"missing": True}},
        {"answer_text": "12"},
        {"choices": {"contains": "yes"}},
        {"readability_grade": {"min": 1.5}},
        {"negation": {"in": [True, False]}},
    ],
)
def test_a_condition_that_fits_is_taken(
    where: dict[str, Any], table: pa.Table, catalogue: Catalogue, tmp_path: Path
) -> None:
    path = tmp_path / "c.yaml"
    from benchprism.records.documents import dump_document

    path.write_text(dump_document({"name": "x", "where": where}), encoding="utf-8")
    screen(read_criteria(path), table, catalogue=catalogue)
