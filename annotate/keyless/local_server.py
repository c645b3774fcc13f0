"""A model in a GGUF file, served in this process to whoever speaks the OpenAI protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...records.errors import InputError
from .extras import extra_module


@dataclass(frozen=True, slots=True)
class LocalServer:
    """Where a local model answers."""

    base_url: str
    """OpenAI-compatible; ends in ``/v1``."""
    model: str
    """The name that it answers to: the file's, without its suffix."""


@contextmanager
def local_server(
    gguf: Path, *, context_size: int = 8192, threads: int | None = None, parallel: int = 1
) -> Iterator[LocalServer]:
    """Serve a model on a free port of the loopback interface until the block ends.

    Args:
        gguf: The model's file.
        context_size: Tokens that a prompt and its reply may have together.
        threads: Threads that compute; half of the cores when not given, since threads that wait
            for each other on a busy machine are far slower than fewer.
        parallel: Requests that are worked on at once.

    Raises:
        InputError: the extra ``local`` is not installed, or the file is no model.
    """
    _check(gguf)
    library = extra_module("xllamacpp", extra="local")
    try:
        server = library.Server(
            _parameters(library, gguf, context_size * parallel, threads, parallel)
        )
    except RuntimeError as error:
        raise _no_model(gguf, "llama.cpp cannot load it") from error
    try:
        yield LocalServer(f"{server.listening_address}/v1", gguf.stem)
    finally:
        del server  # the server stops when nobody holds it


def _parameters(
    library: Any, gguf: Path, context_size: int, threads: int | None, parallel: int
) -> Any:
    parameters = library.CommonParams()
    parameters.model.path = str(gguf)
    parameters.model_alias = {gguf.stem}
    parameters.n_ctx = context_size
    parameters.n_parallel = parallel
    parameters.verbosity = 0
    parameters.warmup = False
    parameters.sampling.seed = 0  # the same request has the same reply
    parameters.swa_full = True  # without it, sliding-window models read the whole rubric each time
    count = threads or max(1, (os.cpu_count() or 2) // 2)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = count
    return parameters


def _check(gguf: Path) -> None:
    try:
        with gguf.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise _no_model(gguf, error.strerror or "it cannot be read") from error
    if magic != b"GGUF":
        raise _no_model(gguf, f"it starts with {magic!r}")


def _no_model(gguf: Path, reason: str) -> InputError:
    return InputError(
        f"{gguf} cannot be served ({reason})",
        wanted="a language model in one GGUF file",
        mend="check the path, or download the file again",
    )
