"""The card, as huggingface_hub reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from huggingface_hub import DatasetCard

from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.card import BEGIN, END, card, merged_card
from benchprism.compose.export.subset import AgreementFigure, ExportedSubset
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError
from benchprism.records.items.record import Item

TOLD = {
    "arc": {"preset": "arc_easy", "dataset": "allenai/ai2_arc", "config": "ARC-Easy",
            "licence": "CC-BY-SA-4.0"},
    "gsm": {"preset": "gsm8k", "dataset": "openai/gsm8k", "config": "main", "licence": "MIT"},
}  # fmt: skip
VALUES = [
    ("arc/test/0", "depth", "1", "llm_single", 0.5, "said", 1),
    ("arc/test/1", "depth", "1", "llm_single", 1.0, "said", 1),
    ("gsm/test/0", "depth", "3", "human_majority", None, None, 2),
    ("gsm/test/0", "kinds", '["deductive", "causal"]', "llm_single", None, None, 1),
    ("arc/test/0", "kinds", '["causal"]', "llm_single", None, None, 1),
]


@pytest.fixture
def mixed(
    composed: Callable[..., Subset],
    catalogue: Catalogue,
    make_open: Callable[..., Item],
    make_choice: Callable[..., Item],
) -> Callable[..., ExportedSubset]:
    """The export of two items of ARC and two of GSM8K."""

    def make(told: Any = TOLD, text: str = "name: mixed\n", **more: Any) -> ExportedSubset:
        items = [
            make_choice("arc", 0, "A?", "x", "y", key=0),
            make_choice("arc", 1, "B?", "x", "y", key=1),
            make_open("gsm", 0, "2 + 2?", "4"),
            make_open("gsm", 1, "2 + 3?", "5"),
        ]
        return assemble(composed(items, told, VALUES, text), catalogue, **more)

    return make


JUDGED = {
    "subset": "mixed",
    "items": 4,
    "random_subsets": 200,
    "all": {
        "models": {"small": "F", "large": "F", "other": None},
        "items": 3,
        "measures": {
            "mixed": {
                "ds": {
                    "subset": 0.25, "sources": 0.125, "random_mean": 0.2, "random_low": 0.1,
                    "random_high": 0.3, "beats": 0.97, "p": 0.03, "reason": None,
                },
                "cbrc": {
                    "subset": None, "sources": None, "random_mean": None, "random_low": None,
                    "random_high": None, "beats": None, "p": None, "reason": "one <benchmark>",
                },
            }
        },
        "notes": ["arc: no results on 1 of the subset's 2 items"],
    },
    "held_out": None,
    "nobody_held_out": "no model had a part",
}  # fmt: skip


def test_the_judgement_is_told_with_what_it_rests_on(
    mixed: Callable[..., ExportedSubset],
) -> None:
    assert "## Judgement" not in card(mixed())
    text = card(mixed(judgement=JUDGED))
    assert "By the results of 3 models (F) on 3 of the 4 items, beside 200 random subsets" in text
    assert "| DS: it tells models apart | 0.25 | 0.12 | 0.20 (0.10 to 0.30) | 97 % |\n" in text
    assert "| CBRC: its benchmarks rank models alike | – | – | – | – |\n- CBRC" not in text
    assert "models alike: undefined because one \\<benchmark\\>" in text
    assert "Held-out families: none; no model had a part." in text
    held_out = {**JUDGED["all"], "models": {"g1": "G"}}  # type: ignore[dict-item]
    text = card(mixed(judgement={**JUDGED, "held_out": held_out, "nobody_held_out": None}))
    assert "Held out, and so without a part in the choice: 1 model (G)." in text
    assert "97 % | 0.25 | 0.20 (0.10 to 0.30) | 97 % |\n" in text


def metadata(text: str) -> dict[str, Any]:
    read: Any = DatasetCard(text)
    data: dict[str, Any] = read.data.to_dict()
    return data


def test_the_metadata_is_what_the_hub_reads(mixed: Callable[..., ExportedSubset]) -> None:
    read: Any = DatasetCard(card(mixed()))
    assert read.data.to_dict() == {
        "pretty_name": "mixed",
        "language": ["en"],
        "license": "cc-by-sa-4.0",
        "annotations_creators": ["expert-generated", "machine-generated"],
        "language_creators": ["found"],
        "source_datasets": ["extended|allenai/ai2_arc", "extended|openai/gsm8k"],
        "size_categories": ["n<1K"],
        "task_categories": ["multiple-choice", "question-answering", "text-generation"],
        "tags": ["benchmark", "evaluation"],
        "configs": [
            {
                "config_name": "multiple_choice",
                "data_files": [{"split": "test", "path": "data/multiple_choice/test-*"}],
                "default": True,
            },
            {
                "config_name": "generative",
                "data_files": [{"split": "test", "path": "data/generative/test-*"}],
            },
        ],
    }
    assert read.text.strip().startswith(BEGIN)
    assert read.text.strip().endswith(END)


@pytest.mark.parametrize(
    ("stated", "licence", "name", "sentence"),
    [
        ("unknown", "unknown", None, "states no licence that is known"),
        ("Ask the authors", "other", "ask-the-authors", "states no licence that is known"),
        ("CC-BY-NC-4.0", "cc-by-nc-4.0", None, "No commercial use."),
    ],
)
def test_the_strictest_licence_counts(
    mixed: Callable[..., ExportedSubset], stated: str, licence: str, name: str | None, sentence: str
) -> None:
    told = {**TOLD, "gsm": {"licence": stated, "file": "my.csv"}}
    text = card(mixed(told))
    data = metadata(text)
    assert (data["license"], data.get("license_name")) == (licence, name)
    assert data["source_datasets"] == ["extended|allenai/ai2_arc", "original"]
    assert "language" not in data  # nobody knows it of a file of one's own
    assert sentence in text
    assert "| gsm | 2 | 50 % | my.csv | sha256:0 |" in text


def test_the_composition_is_told(mixed: Callable[..., ExportedSubset]) -> None:
    text = card(mixed(text="name: mixed\ndescription: Of two kinds\n"))
    assert "\nOf two kinds\n" in text
    assert "4 items of 2 benchmarks" in text
    assert (
        "| ARC-Easy | 2 | 50 % | [allenai/ai2\\_arc](https://huggingface.co/datasets/allenai/"
        "ai2_arc), ARC-Easy | sha256:0 | CC-BY-SA-4.0 |"
    ) in text
    assert (
        "| depth | 3 | 1 | 1: 67 %, 3: 33 % | llm\\_single: 2, human\\_majority: 1 | 0.75 |" in text
    )
    assert "| kinds | 2 | 2 | deductive: 50 %, causal: 100 % | llm\\_single: 2 |  |" in text
    assert "- 4 of 5 attribute values were given by a machine and confirmed by no person." in text
    assert "- 11 values are missing." in text  # of 4 items x 4 attributes
    assert "@misc{clark2018arc," in text
    assert "eprint = {2110.14168}" in text


def test_agreement_is_told(mixed: Callable[..., ExportedSubset]) -> None:
    nan = float("nan")
    figures = [
        AgreementFigure("depth", "models", ("llm:a", "llm:b"), 3, 0.666, 0.512, None),
        AgreementFigure("negation", "models", ("llm:a", "llm:b"), 0, nan, nan, "no | item"),
    ]
    text = card(mixed(agreement=figures))
    assert "between llm:a and llm:b" in text
    assert "| depth | 3 | 0.67 | 0.51 |" in text
    assert "| negation | 0 |  | undefined: no \\| item |" in text


def test_people_are_counted_and_not_named(mixed: Callable[..., ExportedSubset]) -> None:
    between = ("human:alice", "human:bob")
    export = mixed(agreement=[AgreementFigure("depth", "people", between, 3, 0.5, 0.5, None)])
    names = ("human:bob", "human:alice", "llm:main", "llm:replay:reader")
    export.lock["annotators"].extend({"annotator": name, "model": None} for name in names)
    text = card(export)
    assert "- llm:main\n- llm:replay:reader: a replay of recorded annotations" in text
    assert "no model was asked\n- 2 people\n" in text
    assert "alpha among 2 people over" in text
    assert "alice" not in text


def test_ids_only_is_told(mixed: Callable[..., ExportedSubset]) -> None:
    text = card(mixed(ids_only=True))
    assert "**Ids only:**" in text
    assert "| prompt |" not in text


def test_a_hand_written_card_is_kept(mixed: Callable[..., ExportedSubset]) -> None:
    new = card(mixed())
    own = (
        "---\nlicense: mit\npretty_name: My set\nlanguage: [de]\nviewer: false\n---\n\n"
        "# My set\n\nMy words.\n"
    )
    merged = merged_card(own, new)
    data = metadata(merged)
    assert (data["pretty_name"], data["language"], data["viewer"]) == ("My set", ["de"], False)
    assert data["license"] == "cc-by-sa-4.0"
    assert "# My set\n\nMy words.\n\n" + BEGIN in merged
    assert merged_card(merged, new) == merged
    longer = merged + "\nMore words.\n"
    later = merged_card(longer, new.replace("4 items of 2", "5 items of 2"))
    assert later == longer.replace("4 items of 2", "5 items of 2")


def test_configurations_of_other_data_are_kept(mixed: Callable[..., ExportedSubset]) -> None:
    new = card(mixed())
    theirs = {"config_name": "train", "data_files": "train.csv", "default": True}
    old = {"config_name": "generative", "data_files": "gone-*", "default": True}
    merged = merged_card(f"---\nconfigs: {[theirs, old]}\n---\n", new)
    own = [{k: v for k, v in c.items() if k != "default"} for c in metadata(new)["configs"]]
    assert metadata(merged)["configs"] == [*own, theirs]
    assert merged_card(merged, new) == merged


def test_a_card_without_metadata_gets_it(mixed: Callable[..., ExportedSubset]) -> None:
    new = card(mixed())
    assert merged_card("", new) == new
    assert metadata(merged_card("My words.", new))["pretty_name"] == "mixed"


def test_a_card_that_cannot_be_read(mixed: Callable[..., ExportedSubset]) -> None:
    with pytest.raises(InputError, match=r"metadata of the existing README\.md cannot be read"):
        merged_card("---\na: [\n---\n", card(mixed()))
