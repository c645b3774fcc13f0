from __future__ import annotations

import socket

import numpy as np
import pyarrow as pa
import pytest

from benchprism.annotate.keyless.label_scoring import (
    batch_calibrated,
    propose_by_score,
    score_values,
    scoring_messages,
)
from benchprism.annotate.keyless.label_tree import forks, log_probability
from benchprism.annotate.keyless.local_server import LocalServer
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import EndpointError
from benchprism.records.items.record import items_table

from .conftest import item


def test_the_probabilities_of_all_spellings_sum_to_one() -> None:
    spellings = [[5, 1, 9], [5, 2, 3, 9], [5, 2, 4, 9], [5, 2, 4, 4]]
    chances = {(5,): [0.25, 0.75], (5, 2): [0.1, 0.9], (5, 2, 4): [0.5, 0.5]}
    found = {
        fork.path: dict(zip(fork.choices, np.log(chances[fork.path]), strict=True))
        for fork in forks(spellings)
    }

    given = np.exp([log_probability(spelling, found) for spelling in spellings])

    assert given == pytest.approx([0.25, 0.075, 0.3375, 0.3375])


def test_calibration_takes_out_what_the_model_favours() -> None:
    scores = np.log([[0.8, 0.2], [0.8, 0.2], [0.6, 0.4]])

    calibrated = np.exp(batch_calibrated(scores))

    # odds 4, 4 and 1.5 over their geometric mean 24^(1/3): rows one and two now favour the first
    odds = np.array([4, 4, 1.5]) / 24 ** (1 / 3)
    assert calibrated[:, 0] == pytest.approx(odds / (1 + odds))
    assert calibrated.argmax(axis=1).tolist() == [0, 0, 1]


def test_an_item_without_scores_does_not_touch_the_others() -> None:
    scores = np.log([[0.9, 0.1], [np.nan, np.nan], [0.6, 0.4]])

    calibrated = np.exp(batch_calibrated(scores))

    assert np.isnan(calibrated[1]).all()
    assert calibrated[[0, 2]] == pytest.approx(np.exp(batch_calibrated(scores[[0, 2]])))


def test_the_prompt_has_the_rubric_first_and_the_item_as_data(small: Catalogue) -> None:
    row = {"context": "{{ 7 * 7 }}", "question": "Which?", "choices": ["a", "b"]}

    system, user = scoring_messages(small["uses_negation"], row)

    assert system["content"] == (
        "You classify benchmark items: questions that are put to language models to test them. "
        "You do not answer the item.\n\n"
        "Does the question turn on a negation?\nReply with one of these:\nyes: yes\nno: no"
    )
    assert user["content"] == "Context: {{ 7 * 7 }}\nQuestion: Which?\nOptions: a; b"


def test_a_server_that_does_not_answer_is_one_sentence(items: pa.Table, small: Catalogue) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"

        with pytest.raises(EndpointError, match=r"wanted llama\.cpp's server"):
            score_values(items, small["uses_negation"], base_url)


def test_a_local_model_scores_every_value(
    items: pa.Table, small: Catalogue, smollm2: LocalServer
) -> None:
    scores = score_values(items, small["knowledge_domain"], smollm2.base_url)

    assert scores.shape == (4, 3)
    assert np.exp(scores).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    again = score_values(items.slice(1, 1), small["knowledge_domain"], smollm2.base_url)
    assert again[0] == pytest.approx(scores[1], abs=0.1)


def test_an_item_that_does_not_fit_the_context_gets_no_value(
    small: Catalogue, smollm2: LocalServer
) -> None:
    items = items_table([item("long", "Is it? " * 2000, "yes", "no"), item("b", "Is it?", "a")])

    scores = score_values(items, small["uses_negation"], smollm2.base_url)

    assert np.isnan(scores).tolist() == [[True, True], [False, False]]


def test_a_few_items_get_their_likeliest_value_uncalibrated(
    items: pa.Table, small: Catalogue, smollm2: LocalServer
) -> None:
    two = items.slice(0, 2)
    done: list[None] = []

    said = list(
        propose_by_score(two, small, base_url=smollm2.base_url, progress=lambda: done.append(None))
    )

    assert len(said) == len(done) == 2 * 3
    assert all(p.value in small[p.attribute].values for p in said)
    assert all(p.confidence is not None and 1 / 3 < p.confidence <= 1 for p in said)
