"""The exported tables, reloaded by the real ``datasets``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.folder import export_subset
from benchprism.compose.export.tables import TEXTS, export_schema
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.documents import parse_document
from benchprism.records.errors import InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.presets import presets
from benchprism.records.items.record import Item

DATA = Path(__file__).parents[2] / "data" / "items"
Composed = Callable[..., Subset]
Reload = Callable[..., dict[str, Any]]

FILES = {
    "mmlu": "mmlu_test.jsonl",
    "arc_easy": "arc_easy_test.jsonl",
    "arc_challenge": "arc_challenge_validation.jsonl",
    "hellaswag": "hellaswag_validation.jsonl",
    "winogrande": "winogrande_xl_validation.jsonl",
    "truthfulqa": "truthfulqa.jsonl",
    "commonsenseqa": "commonsenseqa_validation.jsonl",
    "openbookqa": "openbookqa_validation.jsonl",
    "siqa": "socialiqa_validation.jsonl",
    "piqa": "piqa_validation.jsonl",
    "gsm8k": "gsm8k_test.jsonl",
    "cruxeval": "zeroeval.jsonl",
    "aime24": "aime24.jsonl",
    "amc": "amc23.jsonl",
    "math500": "math500.jsonl",
    "olympiadbench": "olympiadbench.jsonl",
    "bbh": "bbh.jsonl",
    "drop": "drop_olmo_subset.jsonl",
    "ifbench": "ifbench_test.jsonl",
    "eq_bench": "eq_bench.json",
}
"""Real rows of the presets' benchmarks."""
ROWS: dict[str, list[dict[str, Any]]] = {
    "mmlu_pro": [
        {"question": "Which?", "options": ["007", "7", "None"], "answer": "A", "answer_index": 0,
         "category": "maths", "question_id": 70},
    ],
    "supergpqa": [
        {"question": "Wer {{x}}?", "options": ["12", "[1, 2]"], "answer_letter": "B",
         "discipline": "Law", "uuid": "a-b"},
    ],
    "omni_math": [{"problem": r"What is $\frac{1}{2}$?", "answer": r"\frac{1}{2}"}],
    "ifeval": [
        {"prompt": "Write {% if %} twice.", "key": 1001, "instruction_id_list": ["a:b"],
         "kwargs": [{"n": 2, "m": None}]},
    ],
}  # fmt: skip
"""Rows as the Hub has them, of benchmarks of which no rows are here."""


def preset_items(preset: str, folder: Path) -> tuple[list[Item], Any]:
    path = DATA / FILES.get(preset, "")
    if preset in ROWS:
        path = folder / f"{preset}.jsonl"
        path.write_text("\n".join(map(json.dumps, ROWS[preset])), encoding="utf-8")
    loaded = load(Request(preset, file=path))
    return loaded.items, loaded.provenance


def golds(item: Any) -> tuple[Any, ...]:
    return (
        item["question"], item["context"], tuple(item["choices"]), item["answer_index"],
        item["answer_text"], tuple(item["accepted_answers"]), item["content_hash"], item["kind"],
        item["source_split"], item["source_row"], item["source_revision"], item["subset"],
    )  # fmt: skip


def own_golds(item: Item) -> tuple[Any, ...]:
    return (
        item.question, item.context, item.choices, item.answer_index,
        item.answer_text, item.accepted_answers, item.content_hash, item.kind,
        item.split, item.row, item.revision, item.subset,
    )  # fmt: skip


def test_every_preset_has_rows_here() -> None:
    assert {*FILES, *ROWS} == {*presets()}


@pytest.mark.parametrize("preset", sorted({*FILES, *ROWS}))
def test_a_presets_items_come_back_with_the_same_gold(
    preset: str, composed: Composed, catalogue: Catalogue, reload: Reload, tmp_path: Path
) -> None:
    items, provenance = preset_items(preset, tmp_path)
    export = assemble(composed(items, {preset: provenance}), catalogue)
    export_subset(export, tmp_path / "out")
    found = reload(tmp_path / "out")
    assert {name: golds(row) for name, row in found.items()} == {
        item.item_id: own_golds(item) for item in items
    }
    for row in found.values():
        assert row["source_dataset"] == provenance["file"]
        assert row["prompt"].endswith(row["question"])
        assert row["prompt"].startswith(row["context"])
    records = [row["source_record"] for row in found.values()]
    wanted = [item.source for item in items]
    needed = preset in {"ifeval", "ifbench", "eq_bench", "hellaswag"}
    assert records == (wanted if needed else [None] * len(items))


AWKWARD = [
    "12", "007", "²", "-3", "1e5", "None", "null", "nan", "NA", "true", "2024-01-01", "12:30:45",
    "{{x}}", "{% if %}", "{#1}", "---", r"\frac{a}{b}", "[1, 2]", '{"a": 1}', "['a']",
    "a\u2028b\u2029c\u0085d", "a\r\nb\rc\n", "\ttab", "  spaces  ", "=cmd()", "'quoted'", '"',
    "\u202eright\u202c", "👩\u200d🔬", "a,b;c|d", "|", "<!-- x -->", "\ufeffbom", "a\x00b", "",
]  # fmt: skip


def test_awkward_texts_come_back_byte_for_byte(
    composed: Composed,
    catalogue: Catalogue,
    reload: Reload,
    tmp_path: Path,
    make_open: Callable[..., Item],
    make_choice: Callable[..., Item],
) -> None:
    items = [
        *(make_open("open", n, f"{n}{text}", text, context=text, accepted_answers=(text, "x"))
          for n, text in enumerate(AWKWARD)),
        *(make_choice("mc", n, text, text, "other", key=0) for n, text in enumerate(AWKWARD)),
        make_choice("wide", 0, "Which of many?", *(f"choice {n}" for n in range(40)), key=39),
        make_choice("wide", 1, "No key?", "a", "b", key=0, answer_index=None, answer_text=None,
                    faults=("bad_key",)),
    ]  # fmt: skip
    export = assemble(composed(items), catalogue)
    export_subset(export, tmp_path / "out")
    found = reload(tmp_path / "out")
    assert {name: golds(row) for name, row in found.items()} == {
        item.item_id: own_golds(item) for item in items
    }
    assert found["open/test/1"]["prompt"] == "007\n\n1007"
    assert found["mc/test/1"]["prompt"] == "007"
    assert found["wide/test/1"]["faults"] == ["bad_key"]
    letters = [found[f"{name}/test/{row}"]["answer_letter"] for name, row in
               (("mc", 0), ("wide", 0), ("wide", 1), ("open", 0))]  # fmt: skip
    assert letters == ["A", "14", None, None]


def test_attributes_are_flat_columns_with_their_types(
    composed: Composed,
    catalogue: Catalogue,
    reload: Reload,
    tmp_path: Path,
    make_open: Callable[..., Item],
) -> None:
    items = [make_open("b", 0, "Two words?", "12"), make_open("b", 1, "One?", None)]
    values = [
        ("b/test/0", "depth", "3", "llm_consensus", 0.75, "agreement", 2),
        ("b/test/0", "domain", '"law"', "human_majority", None, None, 1),
        ("b/test/1", "kinds", '["deductive", "causal"]', "llm_single", 0.5, "said", 1),
        ("b/test/1", "negation", "false", "computed", None, None, 1),
    ]
    export_subset(assemble(composed(items, values=values), catalogue), tmp_path / "out")
    first, second = reload(tmp_path / "out").values()
    assert (first["depth"], first["depth_source"], first["depth_confidence"]) == (
        3, "llm_consensus", 0.75,
    )  # fmt: skip
    assert (first["domain"], first["domain_source"], first["domain_confidence"]) == (
        "law", "human_majority", None,
    )  # fmt: skip
    assert (first["kinds"], first["kinds_source"]) == (None, None)
    assert (second["kinds"], second["negation"]) == (["deductive", "causal"], False)
    assert (first["word_count"], first["answer_format"], second["answer_format"]) == (
        2, "number", "none",
    )  # fmt: skip
    import datasets

    features = datasets.load_dataset(str(tmp_path / "out"), "generative", split="test").features
    assert features.arrow_schema.remove_metadata() == export_schema(catalogue)


def test_the_hubs_own_place_is_told(
    composed: Composed,
    catalogue: Catalogue,
    reload: Reload,
    tmp_path: Path,
    make_open: Callable[..., Item],
) -> None:
    items = [
        make_open("bbh", 4, "True and not True?", "False", subset="boolean_expressions",
                  revision="abc"),
        make_open("gsm8k", 9, "2 + 2?", "4", revision="def"),
    ]  # fmt: skip
    told = {
        "bbh": {"preset": "bbh", "dataset": "SaylorTwift/bbh", "config": None, "licence": "MIT"},
        "gsm8k": {"preset": "gsm8k", "dataset": "openai/gsm8k", "config": "main", "licence": "MIT"},
    }
    export = assemble(composed(items, told), catalogue)
    export_subset(export, tmp_path / "out")
    places = [
        tuple(row[f"source_{part}"] for part in ("dataset", "config", "split", "revision", "row"))
        for row in reload(tmp_path / "out").values()
    ]
    assert places == [
        ("SaylorTwift/bbh", "boolean_expressions", "test", "abc", 4),
        ("openai/gsm8k", "main", "test", "def", 9),
    ]
    assert [(s.config, len(s.configs)) for s in export.sources] == [(None, 27), ("main", 0)]


def test_ids_only_has_no_texts(
    composed: Composed,
    catalogue: Catalogue,
    reload: Reload,
    tmp_path: Path,
    make_choice: Callable[..., Item],
) -> None:
    item = make_choice("secret", 0, "The question?", "The key", "The other", key=0)
    told = {"secret": {"licence": "CC-BY-NC-ND-4.0", "file": "s.csv"}}
    subset = composed([item], told, [("secret/test/0", "depth", "2", "llm_single", 0.5, "said", 1)])
    with pytest.raises(InputError, match=r"'secret' \(CC-BY-NC-ND-4.0\) does not permit.*ids-only"):
        assemble(subset, catalogue)
    export_subset(assemble(subset, catalogue, ids_only=True), tmp_path / "out", sheet=True)
    row = reload(tmp_path / "out")["secret/test/0"]
    assert not {*row} & {*TEXTS.names}
    assert (row["content_hash"], row["source_row"], row["depth"]) == (item.content_hash, 0, 2)
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file() and path.suffix != ".parquet":
            text = path.read_text(encoding="utf-8")
            assert "The question?" not in text
            assert "The key" not in text


def test_a_gated_source_is_not_passed_on(
    composed: Composed, catalogue: Catalogue, make_open: Callable[..., Item]
) -> None:
    told = {"b": {"dataset": "me/gated", "licence": "MIT", "gated": True}}
    subset = composed([make_open("b", 0, "What?", "12")], told)
    with pytest.raises(InputError, match=r"'me/gated', which is gated, may not permit.*ids-only"):
        assemble(subset, catalogue)
    assert assemble(subset, catalogue, ids_only=True).sources[0].gated


def test_columns_of_one_name_are_refused() -> None:
    catalogue = parse_document(
        """
        catalogue: c
        version: 1
        dimensions:
          - id: d
            title: D
            attributes: [{id: prompt, type: boolean, question: "?"}]
        """,
        Catalogue,
        name="c.yaml",
    )
    with pytest.raises(InputError, match=r"two columns the name 'prompt'.*rename"):
        export_schema(catalogue)
