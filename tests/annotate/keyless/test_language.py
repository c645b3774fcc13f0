from __future__ import annotations

import pytest

from benchprism.annotate.keyless.language import language_of


@pytest.mark.parametrize(
    "text",
    [
        "Which of the following is the largest planet in the solar system?",
        "The Alvarez hypothesis is about what happened to the dinosaurs.",
    ],
)
def test_english(text: str) -> None:
    assert language_of(text) == "english"


@pytest.mark.parametrize(
    "text",
    [
        "Welche der folgenden Aussagen ist richtig? Sie findet nur in der Nacht statt.",
        "Laquelle des affirmations suivantes est vraie ? La Terre est dans le ciel.",
        "¿Cuál de las siguientes afirmaciones es correcta? La Tierra gira alrededor del Sol.",
        "Welke van de volgende uitspraken is juist? Een jaar is niet lang.",
        "以下哪项陈述是正确的？",
        "Какое из следующих утверждений верно?",
        "أي من العبارات التالية صحيحة؟",
    ],
)
def test_other_languages(text: str) -> None:
    assert language_of(text) == "other"


@pytest.mark.parametrize("text", ["", "x^2 + y^2 = 1", "Ectoderm", "α + β"])
def test_too_little_text_is_left_open(text: str) -> None:
    assert language_of(text) is None
