"""The stored judgement: ``judgement.json`` beside the composition that it is of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchprism.compose.locking.lock import lock_digest
from benchprism.compose.store import Subset
from benchprism.records.files import write_text
from benchprism.scoring.judging import Judgement, Measured, Verdict

JUDGEMENT = "judgement.json"
FORMAT = 1


def judgement_data(judgement: Judgement) -> dict[str, Any]:
    """A judgement as plain data: what it rests on, and every number; undefined is ``None``."""
    settings, held_out = judgement.settings, judgement.by_held_out
    return {
        "format": FORMAT,
        "subset": judgement.subset.name,
        "lock": lock_digest(judgement.subset.lock),
        "items": judgement.subset.items.num_rows,
        "random_subsets": judgement.subsets,
        "settings": {
            "seed": settings.seed,
            "ties": settings.ties,
            "epsilon": settings.epsilon,
            "lambda": settings.decay,
        },
        "all": _verdict(judgement.by_all),
        "held_out": None if held_out is None else _verdict(held_out),
        "nobody_held_out": judgement.nobody or None,
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "models": dict(verdict.models),
        "items": verdict.items,
        "measures": {
            what: {one.measure: _measured(one) for one in measures}
            for what, measures in verdict.measures.items()
        },
        "notes": list(verdict.notes),
    }


def _measured(one: Measured) -> dict[str, Any]:
    placed = one.placing
    numbers = {
        "subset": placed.value,
        "sources": one.sources,
        "random_mean": placed.chance,
        "random_low": placed.low,
        "random_high": placed.high,
        "beats": one.beats,
        "p": placed.p_value,
    }
    plain = {name: None if math.isnan(n) else round(n, 6) for name, n in numbers.items()}
    return {**plain, "reason": one.reason or None}


def write_judgement(judgement: Judgement) -> Path:
    """Write a judgement into the composition's folder.

    Raises:
        InputError: the folder cannot be written.
    """
    path = judgement.subset.folder / JUDGEMENT
    text = json.dumps(judgement_data(judgement), ensure_ascii=False, indent=1, allow_nan=False)
    write_text(path, text + "\n")
    return path


def read_judgement(subset: Subset) -> Mapping[str, Any] | None:
    """Read what was judged of a composition; none when nothing was, or of another state of it."""
    try:
        data = json.loads((subset.folder / JUDGEMENT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = isinstance(data, dict) and data.get("format") == FORMAT
    return data if known and data.get("lock") == lock_digest(subset.lock) else None
