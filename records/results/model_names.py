"""Families and sizes as model names suggest them: guesses, for a person to confirm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from .models import DeclaredModel

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>[bmt])", re.IGNORECASE)
_EXPERTS = re.compile(r"(?P<count>\d+)x(?P<number>\d+(?:\.\d+)?)b", re.IGNORECASE)
_ACTIVE = re.compile(r"a\d+(?:\.\d+)?b", re.IGNORECASE)
_PER_BILLION = {"m": 1000.0, "b": 1.0, "t": 0.001}
_DATE = re.compile(r"[-_ ](?:20\d\d-\d\d-\d\d|20\d{6}|\d{2}-\d{2}-\d{2})(?=$|[-_ ])")
_VERSION = re.compile(r"(?<=[a-z-]\d)_(?=\d(?!\d|[bmt](?![a-z])))", re.IGNORECASE)
_DECIMAL = re.compile(r"((?:^|-)\d+)_(?=\d+[bmt](?![a-z]))", re.IGNORECASE)
"""An underscore for a point: in a version that is part of a word (``qwen1_5``), or in a size that
stands by itself (``-1_6b``); elsewhere it parts words (``llama2_7b``)."""
_PACKAGING = re.compile(
    r"hf|gguf|ggml|awq|gptq|exl2|fp8|fp16|bf16|int[48]|[48]bit|\d+k|safetensors?", re.IGNORECASE
)
"""Words of how a model is stored or served, or how long its context is."""


def guess_models(names: Iterable[str]) -> dict[str, DeclaredModel]:
    """Guess family and size (billions of parameters) of each model.

    The family is the name without what tells the size and how the model is stored, so that base and
    chat models, and versions, are families of their own. For a mixture of experts the size is
    their number times their size, which is more than it has: it only serves to rank.
    """
    guesses = {name: _guess(name) for name in names}
    spellings: dict[str, Counter[str]] = {}
    for family, _ in guesses.values():
        spellings.setdefault(family.lower(), Counter())[family] += 1
    return {
        name: DeclaredModel(
            family=spellings[family.lower()].most_common(1)[0][0],
            size=size,
            guessed=["family"] if size is None else ["family", "size"],
        )
        for name, (family, size) in guesses.items()
    }


def _guess(name: str) -> tuple[str, float | None]:
    """Family and size of one name.

    >>> _guess("meta-llama/Llama-2-7b-chat-hf"), _guess("Mixtral-8x7B-Instruct-v0.1")
    (('Llama-2-chat', 7.0), ('Mixtral-Instruct-v0.1', 56.0))
    >>> _guess("Qwen__Qwen3-30B-A3B"), _guess("stablelm-2-1_6b"), _guess("gpt-4o-2024-05-13")
    (('Qwen3', 30.0), ('stablelm-2', 1.6), ('gpt-4o', None))
    >>> _guess("freewilly2_70b-hf"), _guess("qwen1_5_7b_chat")
    (('freewilly2', 70.0), ('qwen1.5-chat', 7.0))
    """
    own = re.split(r"/|__", name)[-1].split("@")[0]
    own = _DECIMAL.sub(r"\1.", _VERSION.sub(".", own))
    words = [word for word in re.split(r"[-_ ]", _DATE.sub("", own)) if word]
    sizes = [size for word in words if (size := _size(word)) is not None]
    kept = [
        word
        for word in words
        if _size(word) is None and not (_ACTIVE.fullmatch(word) or _PACKAGING.fullmatch(word))
    ]
    return "-".join(kept) or own, sizes[0] if sizes else None


def _size(word: str) -> float | None:
    if found := _EXPERTS.fullmatch(word):
        return int(found["count"]) * float(found["number"])
    if found := _SIZE.fullmatch(word):
        return float(found["number"]) / _PER_BILLION[found["unit"].lower()]
    return None
