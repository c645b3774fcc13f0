from __future__ import annotations

import pytest

from benchprism.annotate.keyless.task_kind import task_kind
from benchprism.annotate.keyless.wording import Wording

CODE = "[PYTHON]\ndef f(x):\n    return x\nassert f(1) == ??\n[/PYTHON]"
C_CODE = "What does it print?\nint i = 0;\nfor (i = 0; i < 3; i++) {\nprintf(i);\n}"


@pytest.mark.parametrize(
    ("question", "choices", "kind"),
    [
        (CODE, (), "code"),
        (C_CODE, ("0", "3"), "code"),
        ("Ann thanked Eve because _ had helped.", ("Ann", "Eve"), "coreference"),
        ("A man sits on a roof. he", ("jumps off.", "sings."), "completion"),
        ("Food: [header] How to boil eggs [step] Take a pot.", ("Fill it.", "Eat."), "completion"),
        ("Tom has 3 pens and buys 4. How many has he?", (), "calculation"),
        ("What happens if you swallow a seed?", ("Nothing", "A tree grows"), "question_answering"),
    ],
)
def test_kinds_that_show_in_the_form(question: str, choices: tuple[str, ...], kind: str) -> None:
    assert task_kind(Wording(question, "", choices)) == kind


@pytest.mark.parametrize(
    ("question", "context", "choices"),
    [
        ("The capital of France is", "", ("Paris", "Lyon")),
        ("The U.S. foreign policy of the", "", ("a", "b")),
        ("Which animal is larger than a horse?", "", ("elephant", "dog")),
        ("What did she do?", "Ann went home.", ("sleep", "eat")),
        ("He gave _ to his sister.", "", ("a book", "a pen")),
    ],
)
def test_other_forms_are_left_open(question: str, context: str, choices: tuple[str, ...]) -> None:
    assert task_kind(Wording(question, context, choices)) is None
