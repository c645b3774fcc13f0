"""Items are found in logs that hold them only as a harness processed them.

The processed texts are written out by hand, as lm-evaluation-harness, lighteval and Inspect's own
evaluations write them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.results.joining.matching import LoggedItem, Matcher
from benchprism.records.results.logs.content import Content, content_of, stated_content
from benchprism.records.results.logs.prompts import content_of_prompt

from ..conftest import AddItems

WIKIHOW_BEGUN = "[header] How to measure for shelves [title] Take a tape. [step] Hold it level."
WIKIHOW_CONTEXT = f"{WIKIHOW_BEGUN} if it bends"
WIKIHOW_ENDINGS = [", ask for help. [substeps] Use a spirit level.", ", let it bend.", ", cut it."]
WIKIHOW = {
    "ind": 1,
    "activity_label": "Finance and Business",
    "ctx_a": WIKIHOW_BEGUN,
    "ctx_b": "if it bends",
    "ctx": WIKIHOW_CONTEXT,
    "endings": WIKIHOW_ENDINGS,
    "label": "0",
}
WIKIHOW_QUERY = (
    "Finance and Business: How to measure for shelves. Take a tape. Hold it level. If it bends"
)
WIKIHOW_CHOICES = [", ask for help.  Use a spirit level.", ", let it bend.", ", cut it."]
GAP = {"sentence": "Ann praised Beth because _ had won.", "option1": "Ann", "option2": "Beth",
       "answer": "2"}  # fmt: skip
ARC = {"id": "X_1", "question": "Which is a gas?", "answerKey": "2",
       "choices": {"text": ["iron", "steam"], "label": ["1", "2"]}}  # fmt: skip
MMLU = {"question": "What is 2+2?", "choices": ["3", "4", "5", "6"], "answer": 1, "subject": "m"}
SIQA = {"context": "Ann ran home.", "question": "Why?", "answerA": "late", "answerB": "bored",
        "answerC": "lost", "label": "1"}  # fmt: skip
PROMPT = "The following are multiple choice questions (with answers) about m.\n\n{}\n{}\nAnswer:"

# benchmark, original row, what a log holds of it, how it is found
FORMS: list[tuple[str, dict[str, Any], Content, str]] = [
    ("hellaswag", WIKIHOW, content_of({**WIKIHOW, "query": WIKIHOW_QUERY,
                                       "choices": WIKIHOW_CHOICES, "gold": 0}), "content"),
    ("hellaswag", WIKIHOW, content_of({"query": WIKIHOW_QUERY, "choices": WIKIHOW_CHOICES}),
     "processed"),
    ("hellaswag", WIKIHOW, content_of_prompt(WIKIHOW_QUERY, [f" {c}" for c in WIKIHOW_CHOICES]),
     "processed"),
    ("hellaswag", WIKIHOW, stated_content(WIKIHOW_CONTEXT, WIKIHOW_ENDINGS), "processed"),
    ("winogrande", GAP, content_of(GAP), "content"),
    ("winogrande", GAP,
     content_of_prompt("Ann praised Beth because ", ["Ann had won.", "Beth had won."]),
     "processed"),
    ("winogrande", GAP, stated_content(" had won.", ["Ann praised Beth because Ann",
                                                     "Ann praised Beth because Beth"]),
     "processed"),
    ("winogrande", GAP,
     stated_content("Sentence: Ann praised Beth because [BLANK] had won.", ["Ann", "Beth"]),
     "processed"),
    ("arc_easy", ARC, content_of({**ARC, "choices": {"text": ["iron", "steam"],
                                                     "label": ["A", "B"]}}), "content"),
    ("arc_easy", ARC, content_of_prompt("Question: Which is a gas?\nAnswer:", [" iron", " steam"]),
     "content"),
    ("mmlu", MMLU, content_of(MMLU), "content"),
    ("mmlu", MMLU, content_of_prompt(PROMPT.format("What is 2+2?", "A. 3\nB. 4\nC. 5\nD. 6")),
     "content"),
    ("mmlu", MMLU, content_of_prompt(PROMPT.format("What is 2+2?", "A. 3\nB. 4\nC. 5\nD. 6"),
                                     [" A", " B", " C", " D"]), "processed"),
    ("mmlu", MMLU, stated_content("What is 2+2?", ["6", "5", "4", "3"]), "choice_order"),
    ("mmlu", MMLU, stated_content("What is 2+2?", []), "question"),
    ("siqa", SIQA, content_of(SIQA), "content"),
    ("siqa", SIQA, stated_content("Ann ran home. Why?", ["late", "bored", "lost"]), "processed"),
]  # fmt: skip


@pytest.mark.parametrize(("benchmark", "row", "held", "how"), FORMS)
def test_a_form_finds_its_item(
    benchmark: str, row: dict[str, Any], held: Content, how: str,
    project_items: AddItems, tmp_path: Path,
) -> None:  # fmt: skip
    items = project_items(**{benchmark: _written(tmp_path, benchmark, [row])})
    found = Matcher(items).logged(_logged(held), "lm-eval")
    assert (found.how, [items.ids[at] for at in found.items]) == (how, items.ids)


def test_another_question_finds_nothing(project_items: AddItems, tmp_path: Path) -> None:
    items = project_items(winogrande=_written(tmp_path, "winogrande", [GAP]))
    changed = content_of({**GAP, "sentence": "Ann blamed Beth because _ had won."})
    assert Matcher(items).logged(_logged(changed), "lm-eval").how == "none"


def test_the_same_question_with_other_choices_is_another_item(
    project_items: AddItems, tmp_path: Path
) -> None:
    items = project_items(mmlu=_written(tmp_path, "mmlu", [MMLU]))
    more = stated_content("What is 2+2?", ["3", "4", "5", "6", "7"])
    assert Matcher(items).logged(_logged(more), "lm-eval").how == "none"


def _written(folder: Path, name: str, rows: Sequence[dict[str, Any]]) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _logged(held: Content) -> LoggedItem:
    return LoggedItem(
        "0",
        None,
        held.hashes or (),
        held.question,
        held.context or "",
        tuple(held.choices or ()),
    )
