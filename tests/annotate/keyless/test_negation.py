from __future__ import annotations

import pytest

from benchprism.annotate.keyless.negation import uses_negation
from benchprism.annotate.keyless.wording import Wording


@pytest.mark.parametrize(
    "question",
    [
        "Which of the following is NOT a mammal?",
        "All of the following are mammals EXCEPT",
        "Each of these is a noble gas except:",
        "Which of the following statements about whales is false?",
        "Which gas is least likely to be toxic?",
        "Which of these cannot be divided by two?",
        "What is not a purpose of a budget?",
        "Which statement about the Moon isn't true?",
    ],
)
def test_a_question_for_the_exception_turns_on_a_negation(question: str) -> None:
    assert uses_negation(Wording(question, "", ("a", "b"))) is True


@pytest.mark.parametrize(
    "question",
    [
        "Which planet is the largest?",
        "He did not sleep. He was at work at 8. When did he get up?",
        "Compute 2 + 2",
    ],
)
def test_a_sentence_that_asks_without_a_negative_word_does_not(question: str) -> None:
    assert uses_negation(Wording(question, "", ())) is False


@pytest.mark.parametrize(
    "question",
    [
        "Ann ate but not Eve because _ was full.",
        "Which of the following explains why iron does not float?",
        "What is the output of the circuit A AND B when A is NOT B?",
        "Know what you can and cannot wear. Ask a teacher.",
        "What is the probability that a customer does not return?",
        "Find the least common multiple of 4 and 6.",
    ],
)
def test_a_negation_that_may_be_in_passing_is_left_open(question: str) -> None:
    assert uses_negation(Wording(question, "", ())) is None


def test_an_operator_in_code_is_no_negation() -> None:
    code = "[PYTHON]\ndef f(x):\n    return not x\nassert f(True) == ??\n[/PYTHON]"

    assert uses_negation(Wording(f"Complete the assertion. {code}", "", ())) is False
