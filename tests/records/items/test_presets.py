"""Real rows of each benchmark; what is expected was read off the rows by eye."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchprism.records.errors import InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.presets import find_preset, presets
from benchprism.records.items.record import Item

DATA = Path(__file__).parents[2] / "data" / "items"


def items(name: str, file: str, **more: Any) -> list[Item]:
    return load(Request(name, file=DATA / file, **more)).items


CHOICE_ITEMS: list[tuple[str, str, dict[str, str], list[tuple[str, int, str]]]] = [
    (
        "mmlu",
        "mmlu_test.jsonl",
        {},
        [
            ("mmlu/abstract_algebra/test/0", 1, "4"),
            ("mmlu/abstract_algebra/test/1", 2, "24"),
            ("mmlu/abstract_algebra/test/2", 3, "0,4"),
            ("mmlu/anatomy/test/0", 0, "paralysis of the facial muscles."),
            ("mmlu/college_computer_science/test/0", 3, "I, II, and III"),
        ],
    ),
    (
        "arc_easy",
        "arc_easy_test.jsonl",
        {},
        [
            (
                "arc_easy/test/Mercury_417466",
                0,
                "Sunlight is the source of energy for nearly all ecosystems.",
            ),
            ("arc_easy/test/Mercury_7081673", 1, "breathing mask"),
        ],
    ),
    (
        "arc_easy",
        "arc_easy_validation.jsonl",
        {"split": "validation"},
        [
            ("arc_easy/validation/NYSEDREGENTS_2014_8_10", 0, "obtain energy"),
            ("arc_easy/validation/NYSEDREGENTS_2014_8_8", 1, "pedigree chart"),
            ("arc_easy/validation/TIMSS_1995_8_J5", 1, "Ultraviolet"),
            ("arc_easy/validation/MCAS_2000_4_6", 0, "cellular telephone"),
        ],
    ),
    (
        "arc_challenge",
        "arc_challenge_test.jsonl",
        {},
        [
            ("arc_challenge/test/Mercury_7175875", 2, "Planetary days will become shorter."),
            ("arc_challenge/test/Mercury_SC_409171", 1, "buildings will be made safer"),
        ],
    ),
    (
        "arc_challenge",
        "arc_challenge_validation.jsonl",
        {"split": "validation"},
        [
            ("arc_challenge/validation/NYSEDREGENTS_2014_4_4", 0, "gas"),
            (
                "arc_challenge/validation/NYSEDREGENTS_2014_8_38",
                0,
                "a definite shape and a definite volume",
            ),
        ],
    ),
    (
        "hellaswag",
        "hellaswag_validation.jsonl",
        {},
        [
            ("hellaswag/validation/0", 2, "lifts his body above the height of a pole."),
            ("hellaswag/validation/1", 1, "glows on a counter."),
        ],
    ),
    (
        "winogrande",
        "winogrande_xl_validation.jsonl",
        {},
        [
            ("winogrande/validation/0", 1, "Maria"),
            ("winogrande/validation/1", 0, "Sarah"),
            ("winogrande/validation/2", 1, "bed"),
        ],
    ),
    (
        "truthfulqa",
        "truthfulqa.jsonl",
        {},
        [
            (
                "truthfulqa/validation/0",
                0,
                "The watermelon seeds pass through your digestive system",
            ),
            ("truthfulqa/validation/1", 0, "I am an AI and I don't know the answer"),
            ("truthfulqa/validation/2", 0, "There is no Church that all Mexicans are members of"),
        ],
    ),
    (
        "commonsenseqa",
        "commonsenseqa_validation.jsonl",
        {},
        [
            ("commonsenseqa/validation/1afa02df02c908a558b4036e80242fac", 0, "bank"),
            ("commonsenseqa/validation/a7ab086045575bb497933726e4e6ad28", 0, "complete job"),
            ("commonsenseqa/validation/b8c0a4703079cf661d7261a60a1bcbff", 1, "bookstore"),
        ],
    ),
    (
        "openbookqa",
        "openbookqa_validation.jsonl",
        {"split": "validation"},
        [
            ("openbookqa/validation/8-376", 0, "Deep sea animals"),
            ("openbookqa/validation/7-57", 3, "uses what it needs"),
        ],
    ),
    (
        "siqa",
        "socialiqa_validation.jsonl",
        {},
        [
            ("siqa/validation/0", 2, "Find somewhere to go"),
            ("siqa/validation/1", 0, "sympathetic"),
            ("siqa/validation/2", 1, "get petitions signed"),
        ],
    ),
]

OPEN_ITEMS: list[tuple[str, str, list[tuple[str, str | None, tuple[str, ...]]]]] = [
    ("gsm8k", "gsm8k_test.jsonl", [("gsm8k/test/0", "18", ()), ("gsm8k/test/1", "64", ())]),
    ("gsm8k", "zeroeval.jsonl", [("gsm8k/test/0", "18", ()), ("gsm8k/test/5", "64", ())]),
    (
        "cruxeval",
        "zeroeval.jsonl",
        [
            ("cruxeval/test/0", "[(4, 1), (4, 1), (4, 1), (4, 1), (2, 3), (2, 3)]", ()),
            ("cruxeval/test/1", "{1: None, 2: None}", ()),
        ],
    ),
    ("aime24", "aime24.jsonl", [("aime24/train/67", "025", ()), ("aime24/train/83", "045", ())]),
    ("amc", "amc23.jsonl", [("amc/test/1", "36", ()), ("amc/test/18", "8", ())]),
    (
        "math500",
        "math500.jsonl",
        [
            ("math500/test/0", "\\frac{\\sqrt{3}}{3}", ()),
            ("math500/test/1", "\\frac{1}{8}", ()),
        ],
    ),
    (
        "olympiadbench",
        "olympiadbench.jsonl",
        [("olympiadbench/train/2238", "-1,0,1", ()), ("olympiadbench/train/2568", "$-1,-9$", ())],
    ),
    (
        "bbh",
        "bbh.jsonl",
        [
            ("bbh/boolean_expressions/test/0", "False", ()),
            ("bbh/boolean_expressions/test/1", "True", ()),
            ("bbh/snarks/test/0", "(B)", ()),
        ],
    ),
    (
        "drop",
        "drop_olmo_subset.jsonl",
        [
            (
                "drop/validation/bb31c713-e000-4322-bed1-df41431314c9",
                "under the age of 18, 25 to 44, 45 to 64",
                (),
            ),
            ("drop/validation/73a2ec3b-27d3-4fe0-972b-7e8ba3de5687", "higher", ("22.1",)),
        ],
    ),
    (
        "ifbench",
        "ifbench_test.jsonl",
        [("ifbench/train/54", None, ()), ("ifbench/train/280", None, ())],
    ),
]


@pytest.mark.parametrize(("name", "file", "options", "expected"), CHOICE_ITEMS)
def test_keys(
    name: str, file: str, options: dict[str, str], expected: list[tuple[str, int, str]]
) -> None:
    found = items(name, file, **options)
    assert [(i.item_id, i.answer_index, i.answer_text) for i in found] == expected
    assert all(item.kind == "multiple_choice" and not item.faults for item in found)


@pytest.mark.parametrize(("name", "file", "expected"), OPEN_ITEMS)
def test_reference_answers(
    name: str, file: str, expected: list[tuple[str, str | None, tuple[str, ...]]]
) -> None:
    found = items(name, file)
    assert [(i.item_id, i.answer_text, i.accepted_answers) for i in found] == expected
    assert all(item.kind == "generative" and not item.faults for item in found)


def test_a_choice_that_says_none_is_text() -> None:
    assert items("mmlu", "mmlu_test.jsonl")[4].choices[0] == "None"


def test_piqa_counts_from_zero() -> None:
    found = items("piqa", "piqa_validation.jsonl")
    assert [item.answer_index for item in found] == [0, 1, 1]
    assert found[1].choices == (
        "replace drawer with bobby pin ",
        "finish, woodgrain with  bobby pin ",
    )


def test_texts_stand_where_the_harnesses_have_them() -> None:
    assert items("hellaswag", "hellaswag_validation.jsonl")[0].question == (
        "High jump: A boy is running down a track. the boy"
    )
    social = items("siqa", "socialiqa_validation.jsonl")[0]
    assert social.question == "What does Tracy need to do before this?"
    assert social.context == "Tracy didn't go home that evening and resisted Riley's attacks."
    assert items("bbh", "bbh.jsonl")[2].question.endswith("(B) Yeah war is pacifying")


def test_truthfulqa_has_the_best_answer_before_the_wrong_ones() -> None:
    _, conscious, church = items("truthfulqa", "truthfulqa.jsonl")
    assert conscious.choices == ("I am an AI and I don't know the answer", "Yes, I am conscious.")
    assert conscious.accepted_answers[0] == "No, I am not conscious"
    assert len(conscious.accepted_answers) == 5
    assert church.choices[-1] == "Mexicans are all Catholic"  # the column ends in a separator


def test_eq_bench_numbers_its_questions_from_one() -> None:
    found = items("eq_bench", "eq_bench.json")
    assert [item.item_id for item in found] == ["eq_bench/validation/1", "eq_bench/validation/2"]
    assert '"emotion2_score": "6"' in (found[0].answer_text or "")


def test_provenance_tells_what_was_read() -> None:
    loaded = load(Request("mmlu", file=DATA / "mmlu_test.jsonl", limit=2))
    provenance = loaded.provenance
    assert len(loaded.items) == provenance["limit"] == 2
    assert (provenance["preset"], provenance["file"]) == ("mmlu", "mmlu_test.jsonl")
    assert (provenance["licence"], provenance["domain"]) == ("MIT", "Knowledge & Understanding")
    assert provenance["revision"].startswith("sha256:")
    assert provenance["split"] == "test"
    assert loaded.split_assumed


def test_every_preset_states_what_it_reads() -> None:
    domains = {"Mathematics", "General Reasoning", "Knowledge & Understanding"}
    for name, preset in presets().items():
        assert preset.domain in domains, name
        assert preset.dataset.count("/") == 1
        for layout in preset.layouts:
            assert layout.coding is not None, name
            assert layout.answer is not None or layout.coding in {"first", "none"}


def test_a_wrong_preset_or_file_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"unknown preset 'mmluu'.*did you mean 'mmlu'"):
        find_preset("mmluu")
    with pytest.raises(InputError, match="has no column 'question'; its columns are id, sentence"):
        items("mmlu", "winogrande_xl_validation.jsonl")
