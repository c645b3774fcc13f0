"""What a vLLM engine is given and what is made of its rows; the engine itself needs a GPU."""

from __future__ import annotations

import json
import pickle
from importlib.util import find_spec
from typing import Any

import jsonschema
import pytest

from benchprism.annotate.cluster.ray_vllm import engine_row, result_row, vllm_pipeline
from benchprism.annotate.cluster.ray_worker import Result, Work
from benchprism.annotate.cluster.vllm_settings import VllmSettings
from benchprism.annotate.ledger.outcome import Usage
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.annotate.traffic.patience import Patience
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import InputError


@pytest.fixture
def work(core: Catalogue) -> Work:
    """One prompt about one item, and one about two."""
    one = make_prompt(core, "multiple_choice")
    two = make_prompt(core, "multiple_choice", several=True).of(2)
    return Work(
        settings=EndpointSettings("org/model", temperature=0.0, max_output_tokens=100),
        prompts=(one, two),
        ladder=("json_schema",),
        known=None,
        patience=Patience(),
        concurrency=1,
        price=None,
    )


def first_reply(core: Catalogue) -> dict[str, Any]:
    firsts = {attribute.id: next(iter(attribute.values)) for attribute in core}
    values = {k: [v] if core[k].type == "labels" else v for k, v in firsts.items()}
    return {"note": "", "values": values, "doubt": []}


def made(text: str, tokens: int = 42, **changes: Any) -> dict[str, Any]:
    """A row as Ray's engine stage gives it."""
    return {
        "place": 7, "form": 0, "generated_text": text, "num_generated_tokens": tokens,
        "num_input_tokens": 1234, "time_taken_llm": 0.5, "__inference_error__": "", **changes,
    }  # fmt: skip


def result(work: Work, row: dict[str, Any]) -> Result:
    found = result_row(work, row)
    assert found["place"] == 7
    read = pickle.loads(found["result"])
    assert isinstance(read, Result)
    return read


def test_the_engine_is_asked_what_an_endpoint_would_be(work: Work, core: Catalogue) -> None:
    row = engine_row(work, {"place": 7, "form": 1, "message": "Item 1 ...", "most": 0.0})
    assert (row["place"], row["form"]) == (7, 1)
    assert row["messages"] == [
        {"role": "system", "content": work.prompts[1].system},
        {"role": "user", "content": "Item 1 ..."},
    ]
    sampling = row["sampling_params"]
    assert (sampling["max_tokens"], sampling["temperature"]) == (200, 0.0)
    schema = json.loads(sampling["structured_outputs"]["json"])
    jsonschema.validate({"1": first_reply(core), "2": first_reply(core)}, schema)


def test_what_it_makes_is_read_like_any_reply(work: Work, core: Catalogue) -> None:
    (came,) = result(work, made(json.dumps(first_reply(core)))).came
    assert [reading.status for reading in came.readings] == ["ok"]
    assert (came.readings[0].usage, came.seconds) == (Usage(1234, None, 42), 0.5)
    assert json.loads(came.body)["choices"][0]["finish_reason"] == "stop"
    both = json.dumps({"1": first_reply(core), "2": {"values": {}}})
    (came,) = result(work, made(both, form=1)).came
    assert [reading.status for reading in came.readings] == ["ok", "invalid"]
    assert [reading.usage.prompt_tokens for reading in came.readings] == [617, 617]


def test_its_failures_are_typed(work: Work) -> None:
    (came,) = result(work, made("{", tokens=100)).came
    assert came.readings[0].status == "truncated"
    (came,) = result(work, made("", tokens=0, __inference_error__="prompt is too long")).came
    assert (came.readings[0].status, came.readings[0].reason) == ("error", "prompt is too long")
    (came,) = result(work, made("Well.", form=1)).came
    assert came.alone == (0, 1)


@pytest.mark.skipif(bool(find_spec("vllm")), reason="vLLM is installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_engine_needs_vllm(work: Work) -> None:
    settings = VllmSettings(
        replicas=2, batch_size=16, accelerator_type="L4", engine_kwargs={"max_model_len": 8192}
    )
    with pytest.raises(InputError, match="vLLM cannot be used here"):
        vllm_pipeline(settings, work)
