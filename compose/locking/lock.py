"""The lock: everything that a composition rests on, so that a change can be seen."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Catalogue
from ...records.results.matrix import Outcomes
from ..calibration import calibration_data
from ..composer import Composition
from ..evidence import Evidence
from ..language.checks import conditions, field_tests, named_fields, needs_results
from ..pool import Pool
from ..selection import Selection
from .digest import TableDigest, column_digest, table_digest

LOCK_FORMAT = 2


def lock(
    composition: Composition,
    *,
    catalogue: Catalogue | None = None,
    provenance: Mapping[str, Mapping[str, Any]] | None = None,
    annotators: Sequence[Mapping[str, Any]] = (),
    earlier: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Write down what a composition rests on: nothing of the machine, nothing of the time.

    Args:
        composition: the composition.
        catalogue: the catalogue behind the attributes.
        provenance: what each benchmark was read from, as stored with its items.
        annotators: who gave values for the chosen items, with which model and prompt.
        earlier: digest of the lock of each composition that items were taken from, by name.
    """
    criteria, pool = composition.criteria, composition.pool
    chosen = pool.table.select(["item_id", "content_hash"]).take(pa.array(composition.rows))
    content = TableDigest()
    for batch in composition.batches():
        content.add(batch)
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
        "compositions": {**(earlier or {})},
        "sources": {
            benchmark: _source(composition, benchmark, (provenance or {}).get(benchmark, {}))
            for benchmark in pool.benchmarks.names
        },
        "candidates": table_digest(_in_order(pool, ["item_id", "content_hash"])),
        "values": _values(composition),
        "results": _results(composition),
        "selection": _selection(composition.selection),
        "calibration": calibration_data(composition.screening.calibration),
        "steps": [asdict(step) for step in composition.steps],
        "draw": [asdict(group) for group in composition.groups],
        "items": dict(zip(*(column.to_pylist() for column in chosen.columns), strict=True)),
        "content": {
            "items": content.hexdigest(),
            "excluded": table_digest(composition.excluded),
        },
    }


def _source(
    composition: Composition, benchmark: str, provenance: Mapping[str, Any]
) -> dict[str, Any]:
    pool = composition.pool
    code = pool.benchmarks.names.index(benchmark)
    rows = composition.rows[pool.benchmarks.codes[composition.rows] == code]
    return {
        **provenance,
        "revisions": sorted(pc.unique(pool.table["revision"].take(pa.array(rows))).to_pylist()),
        "available": composition.available[benchmark],
        "chosen": composition.counts[benchmark],
    }


def _in_order(pool: Pool, columns: Sequence[str]) -> pa.Table:
    table = pool.table.select(columns)
    ordered = bool((pool.order == np.arange(len(pool.order))).all())
    return table if ordered else table.take(pa.array(pool.order))


def _values(composition: Composition) -> dict[str, str]:
    """A digest of every column that the criteria look at, over all candidates."""
    criteria, screening = composition.criteria, composition.screening
    columns = {*named_fields(criteria)}
    for where, place in conditions(criteria):
        columns |= {
            n for rule in field_tests(where, place, screening.demands) for n in rule.columns
        }
    for field in tuple(columns):
        columns |= {*screening.demands.on(field).columns(field)}
    columns |= {"faults"} if criteria.faults == "drop" else set()
    table = _in_order(screening.pool, sorted(columns))
    return {name: column_digest(table[name]) for name in table.column_names}


def _results(composition: Composition) -> dict[str, Any] | None:
    """Which results the criteria asked for; none when they asked for none."""
    evidence = composition.screening.evidence
    if evidence is None or not needs_results(composition.criteria):
        return None
    wanted = {*composition.available}
    return {
        "models": {
            model.name: {"family": model.family, "size": model.size}
            for model in sorted(evidence.models, key=lambda model: model.name)
        },
        "scores": {
            name: digest for name, digest in _score_digests(evidence).items() if name in wanted
        },
    }


def _score_digests(evidence: Evidence) -> dict[str, str]:
    return {given.benchmark: table_digest(_scores(given)) for given in evidence.outcomes}


def _scores(given: Outcomes) -> pa.Table:
    scores = (pa.array(s.astype(np.float64), from_pandas=True) for s in given.scores.T)
    ids = pa.array(given.item_ids, pa.string())
    return pa.table([ids, *scores], names=["item_id", *given.models])


def _selection(selection: Selection | None) -> dict[str, Any] | None:
    if selection is None:
        return None
    return {
        "held_in": {family: [*models] for family, models in selection.held_in.items()},
        "held_out": {family: [*models] for family, models in selection.held_out.items()},
        "share": selection.share,
        "curve": [
            {
                name: None if math.isnan(value) else round(value, 6)
                for name, value in asdict(point).items()
            }
            for point in selection.curve
        ],
    }


def lock_text(data: Mapping[str, Any]) -> str:
    """Write a lock as JSON with sorted keys: equal locks are equal bytes."""
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"


def lock_digest(data: Mapping[str, Any]) -> str:
    """Identify a lock by its content: 32 hexadecimal digits."""
    return hashlib.blake2b(lock_text(data).encode(), digest_size=16).hexdigest()
