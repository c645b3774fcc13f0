from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import pytest

from benchprism.annotate.keyless.embedding import (
    domain_probabilities,
    label_sentences,
    propose_domain,
)
from benchprism.annotate.keyless.minilm import DIMENSIONS, MiniLM
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError
from benchprism.records.items.record import items_table

from .conftest import item


def test_labels_of_the_catalogue_become_sentences(small: Catalogue) -> None:
    sentences = label_sentences(small["knowledge_domain"])

    assert list(sentences) == ["mathematics", "history"]
    assert sentences["history"] == [
        "A question about history.",
        "A question about past events.",
    ]
    assert len(sentences["mathematics"]) > 2


def test_every_domain_of_the_core_catalogue_has_examples(core: Catalogue) -> None:
    attribute = core["knowledge_domain"]
    sentences = label_sentences(attribute)

    assert set(sentences) == set(map(str, attribute.values)) - {"other"}
    assert all(len(given) >= 8 for given in sentences.values())


def test_similarities_become_probabilities() -> None:
    item_vector = np.array([1, 0], np.float32)
    near = np.array([[0.8, 0.6], [0.6, 0.8], [-1, 0]], np.float32)
    far = np.array([[0.66, 0.7513], [0.66, -0.7513]], np.float32)

    chances = domain_probabilities(item_vector, [near, far])

    # means of the nearest two: 0.7 and 0.66; a difference of 0.04 is a factor of e
    assert chances == pytest.approx([np.e / (1 + np.e), 1 / (1 + np.e)], rel=1e-4)


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)

    with pytest.raises(InputError, match=r"run pip install 'benchprism\[embed\]'"):
        MiniLM()


@pytest.mark.usefixtures("embed_extra")
def test_embeddings_have_unit_length_and_hold_meaning() -> None:
    sea, ocean, tax = MiniLM().embed(
        ["The sea is deep.", "How deep is the ocean?", "Income tax is due in April."]
    )

    assert sea.shape == (DIMENSIONS,)
    assert [np.linalg.norm(v) for v in (sea, ocean, tax)] == pytest.approx([1, 1, 1], abs=1e-5)
    assert sea @ ocean > sea @ tax + 0.2


@pytest.mark.usefixtures("embed_extra")
def test_plain_items_get_their_domain(core: Catalogue) -> None:
    items = items_table(
        [
            item("m", "Find the derivative of x^3 + 2x.", "3x^2 + 2", "x^2"),
            item("p", "Which force keeps the planets in their orbits?", "gravity", "friction"),
            item("l", "Can the defendant be convicted of robbery?", "Yes", "No"),
            item("e", "A woman is standing at a sink. she", "washes a plate.", "flies away."),
        ]
    )

    said = {p.item_id: p.value for p in propose_domain(items, core)}

    assert said == {
        "m": "mathematics",
        "p": "physical_sciences",
        "l": "law_and_government",
        "e": "everyday_life",
    }


@pytest.mark.usefixtures("embed_extra")
def test_it_abstains_below_the_confidence_asked_for(items: pa.Table, core: Catalogue) -> None:
    model = MiniLM()
    all_of_them = list(propose_domain(items, core, model=model, confidence_to_propose=0.0))
    sure = list(propose_domain(items, core, model=model))

    assert len(all_of_them) == items.num_rows
    assert sure == [p for p in all_of_them if p.confidence is not None and p.confidence >= 0.5]
    assert "made/test/3" not in {p.item_id for p in sure}
    assert {p.attribute for p in all_of_them} == {"knowledge_domain"}
