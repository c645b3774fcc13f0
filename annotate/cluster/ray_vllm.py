"""A model that the workers of a Ray cluster serve themselves, with vLLM on their GPUs.

The requests are those that an endpoint would be sent, and the answers are read as if one had given
them; only the engine stands in its place.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

from ...records.errors import InputError
from ..asking.call import Came, asked_alone
from ..asking.capabilities import Rung
from ..asking.request_form import bounded
from ..reading.completion import failed, read_answer
from ..traffic.faults import decoded
from .ray_cluster import Pipeline, Row
from .ray_worker import Result, Work
from .vllm_settings import VllmSettings

RUNG: Rung = "json_schema"
"""vLLM holds every reply to its schema."""


def vllm_pipeline(settings: VllmSettings, work: Work) -> Pipeline:
    """A pipeline of engines for ``Cluster.map``.

    Raises:
        InputError: vLLM is not installed.
    """
    try:
        llm: Any = import_module("ray.data.llm")
        config = llm.vLLMEngineProcessorConfig(
            model_source=work.settings.model,
            engine_kwargs={"enable_prefix_caching": True, **settings.engine_kwargs},
            concurrency=settings.replicas,
            batch_size=settings.batch_size,
            accelerator_type=settings.accelerator_type,
            should_continue_on_error=True,
        )
        pipeline: Pipeline = llm.build_processor(
            config, preprocess=partial(engine_row, work), postprocess=partial(result_row, work)
        )
    except ImportError as error:
        raise InputError(
            f"vLLM cannot be used here ({error})",
            wanted="Ray and vLLM, on this machine and on the cluster's",
            mend="pip install 'benchprism[ray]' vllm",
        ) from error
    return pipeline


def engine_row(work: Work, row: Mapping[str, Any]) -> Row:
    """What the engine is given for one call.

    The schema is text: rows of different calls have to be of one type.
    """
    prompt = work.prompts[int(row["form"])]
    return {
        "place": row["place"],
        "form": row["form"],
        "messages": [
            {"role": "system", "content": prompt.system},
            {"role": "user", "content": row["message"]},
        ],
        "sampling_params": {
            "max_tokens": work.settings.max_output_tokens * prompt.items,
            "structured_outputs": {"json": json.dumps(bounded(prompt.schema))},
            **work.settings.parameters,
        },
    }


def result_row(work: Work, row: Mapping[str, Any]) -> Row:
    """What came of one call, from the engine's row about it."""
    prompt = work.prompts[int(row["form"])]
    problem = str(row.get("__inference_error__") or "")
    if problem:
        reading = failed("error", problem[:500], prompt.attributes)
        came = Came((reading,) * prompt.items, attempts=1, rung=RUNG)
    else:
        body = _completion(row, work.settings.max_output_tokens * prompt.items)
        readings = tuple(read_answer(decoded(body), prompt, RUNG))
        came = Came(
            readings, body, float(row.get("time_taken_llm") or 0.0), 1, RUNG,
            alone=asked_alone(readings),
        )  # fmt: skip
    return {"place": row["place"], "result": pickle.dumps(Result((came,)))}


def _completion(row: Mapping[str, Any], limit: int) -> str:
    """Write down what the engine made as a chat completion."""
    written = int(row["num_generated_tokens"])
    message = {"role": "assistant", "content": str(row["generated_text"])}
    finish = "length" if written >= limit else "stop"
    return json.dumps(
        {
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": {
                "prompt_tokens": int(row["num_input_tokens"]),
                "completion_tokens": written,
            },
        },
        ensure_ascii=False,
    )
