from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from benchprism.annotate.computed.answer_format import answer_format
from benchprism.annotate.computed.attributes import COMPUTED_SCHEMA, computed_attributes
from benchprism.annotate.computed.readability import Wording, syllables, wording


def test_the_grade_is_the_formula_worked_by_hand() -> None:
    # 6 words, 1 sentence, 6 syllables: 0.39 * 6 + 11.8 * 1 - 15.59
    text = wording("The cat sat on the mat.")
    assert text == Wording(words=6, sentences=1, syllables=6)
    assert text.grade == pytest.approx(-1.45)
    # 4 words, 2 sentences, 13 syllables: 0.39 * 2 + 11.8 * 3.25 - 15.59
    text = wording("Photosynthesis matters. Mitochondria too!")
    assert text == Wording(words=4, sentences=2, syllables=13)
    assert text.grade == pytest.approx(23.54)


@pytest.mark.parametrize(
    ("text", "words", "sentences"),
    [
        ("", 0, 0),
        ("2 + 2 = ?", 0, 0),
        ("What is 2.5 of it", 4, 1),
        ("Is it? Yes! It is.", 5, 3),
        ("Dr. Smith met J. Doe at 3 p.m. today.", 9, 1),
        ("One\n\nTwo", 2, 2),
        ("don't stop the mother-in-law", 4, 1),
        ("größer als Öl", 3, 1),
    ],
)
def test_words_and_sentences(text: str, words: int, sentences: int) -> None:
    counted = wording(text)
    assert (counted.words, counted.sentences) == (words, sentences)
    assert (counted.grade is None) == (words == 0)


SYLLABLES = {
    1: ["cat", "the", "make", "jumped", "strengths", "through", "placed", "friend", "miles"],
    2: ["nation", "wanted", "tables", "boxes", "people", "question", "science", "little", "rabbit"],
    3: ["different", "energy", "idea", "area", "chemical", "following", "serious"],
    4: ["usually", "material", "experience", "temperature", "evaluate"],
}


@pytest.mark.parametrize(
    ("word", "count"), [(word, count) for count, words in SYLLABLES.items() for word in words]
)
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == syllables(word.upper()) == count


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("18", "number"), ("-3.5", "number"), ("1,234", "number"), ("$18", "number"),
        ("3/4", "number"), ("50%", "number"), ("2e-3", "number"), (".5", "number"),
        ("1,23", "short_text"), ("-", "short_text"), ("yes", "yes_no"), ("False.", "yes_no"),
        ("[1, 2]", "code"), ("{1: None}", "code"), ("'abc'", "code"), ('b"x"', "code"),
        ("[1, 2", "short_text"), ("(a) the first", "short_text"), ("Paris", "short_text"),
        ("it is the one that we saw first", "long_text"), ("", "none"), (None, "none"),
        ("(" * 5000, "short_text"),
    ],
)  # fmt: skip
def test_the_form_of_an_answer(answer: str | None, form: str) -> None:
    assert answer_format("generative", answer) == form
    assert answer_format("multiple_choice", answer) == "choice"


def test_attributes_of_items(make_items: Callable[..., pa.Table]) -> None:
    items = make_items(["Which one is it?", "2 + 2?", "All of them?", "No key?", "Open?"])
    items = items.drop_columns(["choices", "answer_index", "kind", "context"])
    items = (
        items.append_column("choices", pa.array([
            ["long one", "two"], ["3", "4"], ["one", "all of the above"], ["a", "bb"], [],
        ]))
        .append_column("answer_index", pa.array([0, 1, 1, None, None], pa.int32()))
        .append_column("kind", pa.array(["multiple_choice"] * 4 + ["generative"]))
        .append_column("context", pa.array(["Two words. More words.", "", "", "", ""]))
    )  # fmt: skip
    table = computed_attributes(items)
    assert table.schema == COMPUTED_SCHEMA
    assert table["word_count"].to_pylist() == [8, 0, 3, 2, 1]
    assert table["sentence_count"].to_pylist() == [3, 0, 1, 1, 1]
    assert table["readability_grade"].is_null().to_pylist() == [False, True, False, False, False]
    assert table["choice_count"].to_pylist() == [2, 2, 2, 2, 0]
    assert table["answer_format"].to_pylist() == ["choice"] * 4 + ["short_text"]
    assert table["position_dependent"].to_pylist() == [False, False, True, False, None]
    assert table["key_is_longest"].to_pylist() == [True, False, True, None, None]
