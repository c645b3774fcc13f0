"""The lock: everything that a composition rests on, so that a change can be seen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..prompts.catalogue import Catalogue
from .composer import Composition

LOCK_FORMAT = 1


def lock(
    composition: Composition,
    *,
    catalogue: Catalogue | None = None,
    provenance: Mapping[str, Mapping[str, Any]] | None = None,
    annotators: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Write down what a composition rests on: nothing of the machine, nothing of the time.

    Args:
        composition: the composition.
        catalogue: the catalogue behind the attributes.
        provenance: what each benchmark was read from, as stored with its items.
        annotators: who gave values for the chosen items, with which model and prompt.
    """
    criteria = composition.criteria
    ids = composition.chosen["item_id"].to_pylist()
    hashes = composition.chosen["content_hash"].to_pylist()
    return {
        "format": LOCK_FORMAT,
        "benchprism": version("benchprism"),
        "name": criteria.name,
        "criteria": criteria.plain(),
        "criteria_hash": criteria.hash,
        "seed": criteria.sample.seed if criteria.sample is not None else None,
        "catalogue": None
        if catalogue is None
        else {"name": catalogue.catalogue, "version": catalogue.version, "hash": catalogue.hash},
        "annotators": [{**annotator} for annotator in annotators],
        "sources": {
            benchmark: _source(composition, benchmark, (provenance or {}).get(benchmark, {}))
            for benchmark in sorted(criteria.from_)
        },
        "items": dict(zip(ids, hashes, strict=True)),
    }


def _source(
    composition: Composition, benchmark: str, provenance: Mapping[str, Any]
) -> dict[str, Any]:
    chosen: pa.Table = composition.chosen
    rows = chosen.filter(pc.equal(chosen["benchmark"], benchmark))
    return {
        **provenance,
        "revisions": sorted(pc.unique(rows["revision"]).to_pylist()),
        "available": composition.available[benchmark],
        "chosen": composition.counts[benchmark],
    }


def lock_text(data: Mapping[str, Any]) -> str:
    """Write a lock as JSON with sorted keys: equal locks are equal bytes."""
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"
