"""How a Ray cluster serves a model with vLLM: ``vllm`` in the project file."""

from __future__ import annotations

from pydantic import Field

from ...records.documents import StrictModel


class VllmSettings(StrictModel):
    """How a Ray cluster serves a model."""

    replicas: int = Field(default=1, ge=1)
    """Engines that work side by side, each on GPUs of its own."""
    batch_size: int = Field(default=64, ge=1)
    """Calls that an engine gets at once."""
    accelerator_type: str | None = None
    """The kind of GPU that is wanted, by Ray's name for it, such as ``L4``."""
    engine_kwargs: dict[str, str | int | float | bool] = {}
    """What vLLM's engine is told, such as ``tensor_parallel_size`` and ``max_model_len``."""
