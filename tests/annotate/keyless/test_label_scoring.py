from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from benchprism.annotate.keyless.label_scoring import (
    batch_calibrated,
    proposals,
    score_values,
    scoring_messages,
)
from benchprism.annotate.keyless.label_tree import forks, log_probability
from benchprism.annotate.keyless.local_server import LocalServer
from benchprism.annotate.keyless.scoring_run import ScoringSummary, annotate_by_score
from benchprism.annotate.ledger.store import Ledger
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


def test_the_likeliest_value_is_proposed_where_it_is_sure_enough(
    items: pa.Table, small: Catalogue
) -> None:
    scores = np.log([[0.2, 0.7, 0.1], [0.4, 0.35, 0.25], [0.05, 0.05, 0.9], [1 / 3] * 3])
    depth = small["reasoning_depth"]

    surer = [(p.item_id, p.value, p.confidence) for p in proposals(items, depth, scores)]
    all_ = [p.value for p in proposals(items, depth, scores, confidence_to_propose=0.0)]

    assert surer == [
        ("made/test/0", 1, pytest.approx(0.7)),
        ("made/test/1", None, None),
        ("made/test/2", 2, pytest.approx(0.9)),
        ("made/test/3", None, None),
    ]
    assert all_ == [1, 0, 2, None]  # a tie is no value
    scores[0] = np.nan
    assert [p.item_id for p in proposals(items, depth, scores)] == [
        f"made/test/{n}" for n in (1, 2, 3)
    ]


def test_many_items_are_calibrated_and_few_are_not(small: Catalogue) -> None:
    scores = np.log([[0.8, 0.1, 0.1]] * 29 + [[0.4, 0.3, 0.3]])
    many = items_table([item(f"made/test/{n}", f"What is {n}?", "a") for n in range(30)])
    domain = small["knowledge_domain"]

    calibrated = [*proposals(many, domain, scores, confidence_to_propose=0.0)]
    plain = [*proposals(many.slice(1), domain, scores[1:], confidence_to_propose=0.0)]

    # odds of the first label against each other one: 8 and 4/3, over exp(mean of their logs)
    mean = (8**29 * 4 / 3) ** (1 / 30)
    first = 8 / mean / (8 / mean + 2)
    # the last item has less than the mean of the first label, and a tie of the other two
    assert [p.value for p in calibrated] == [*["mathematics"] * 29, None]
    assert calibrated[0].confidence == pytest.approx(first)
    assert [p.value for p in plain] == ["mathematics"] * 29
    assert plain[0].confidence == pytest.approx(0.8)


def test_a_local_model_scores_into_the_ledger_and_goes_on(
    items: pa.Table, small: Catalogue, smollm2: LocalServer, tmp_path: Path
) -> None:
    def run(ledger: Ledger, chosen: pa.Table) -> ScoringSummary:
        return annotate_by_score(
            ledger,
            chosen,
            small,
            base_url=smollm2.base_url,
            model=smollm2.model,
            confidence_to_propose=0.0,
        )

    with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
        first = run(ledger, items.slice(0, 2))
        rest = run(ledger, items)
        again = run(ledger, items)
        said = [*ledger.annotations()]
        ((replies, prompt, cached, completion),) = ledger.query(
            "SELECT count(*), sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens)"
            " FROM reply WHERE part <> ''"
        )

    assert (first.asked, first.already) == (2 * 3, 0)
    assert (rest.asked, rest.already) == (2 * 3, 2 * 3)
    assert (again.asked, again.already, again.items) == (0, 4 * 3, 4)
    assert replies == 4 * 3
    assert prompt == (first.usage.prompt_tokens or 0) + (rest.usage.prompt_tokens or 0)
    assert int(str(prompt)) > int(str(cached)) > 0
    assert int(str(completion)) >= 4 * 3  # one token at every place where values part
    assert {a.annotator for a in said} == {f"score:{smollm2.model}"}
    assert all(a.value in small[a.attribute].values for a in said)
    assert all(a.confidence is not None and 1 / 3 < a.confidence <= 1 for a in said)
    assert {(a.item_id, a.attribute) for a in said} == {
        (name, attribute.id) for name in items["item_id"].to_pylist() for attribute in small
    }


def test_an_item_that_is_too_long_is_kept_once_as_such(
    small: Catalogue, smollm2: LocalServer, tmp_path: Path
) -> None:
    long = items_table([item("made/test/0", "Is it? " * 2000, "yes", "no")])
    with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
        for _ in range(2):
            made = annotate_by_score(
                ledger, long, small, base_url=smollm2.base_url, model=smollm2.model
            )
        kept = [*ledger.query("SELECT status, count(*) FROM reply GROUP BY 1")]
        state = [*ledger.query("SELECT status FROM item_state")]

    assert (made.items, made.asked, made.too_long) == (0, 3, 3)
    assert kept == [("too_long", 3)]
    assert state == [("too_long",)]
