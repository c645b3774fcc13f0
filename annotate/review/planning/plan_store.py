"""The review plan as files: what is reviewed, and the strata that its sample was drawn in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ....records.errors import InputError
from ....records.files import listed, reason, replacing

PLAN = "plan.parquet"
"""In the project's folder ``review``; the strata lie beside it."""
PLAN_SCHEMA = pa.schema(
    [
        ("item_id", pa.string()),
        ("content_hash", pa.string()),
        ("mode", pa.string()),  # blind: of the random sample; seen: of the queue
        ("rank", pa.int32()),  # 1 is first
        ("stratum", pa.string()),
        ("weight", pa.float64()),  # how many items of its stratum one of the sample stands for
        ("reasons", pa.list_(pa.string())),
        ("attributes", pa.list_(pa.string())),  # those that are in doubt
        ("subsets", pa.list_(pa.string())),  # those that another value would move it into or out of
        ("reviewers", pa.list_(pa.string())),  # empty: anyone
    ]
)  # fmt: skip
STRATA_SCHEMA = pa.schema(
    [("item_id", pa.string()), ("content_hash", pa.string()), ("stratum", pa.string())]
)
"""Every item that the sample could have held."""
_SETTINGS, _STRATA_FILE = b"benchprism", "strata_file"
_AGAIN = "make it again with 'benchprism review plan --anew'"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A review plan."""

    table: pa.Table
    """With ``PLAN_SCHEMA``, by rank."""
    strata: pa.Table
    """With ``STRATA_SCHEMA``."""
    settings: Mapping[str, Any]
    """What it was made with."""

    @property
    def sample(self) -> list[str]:
        """The items of the random sample, by id."""
        drawn = self.table.filter(pc.equal(self.table["mode"], "blind"))
        ids: list[str] = drawn["item_id"].to_pylist()
        return ids

    def strata_of(self, items: pa.Table) -> list[str | None]:
        """The stratum of each item of a table; none for one that could not have been drawn."""
        rows = pc.index_in(_identity(items), _identity(self.strata).combine_chunks())
        strata: list[str | None] = self.strata["stratum"].take(rows).to_pylist()
        return strata


def write_plan(folder: Path, plan: Plan) -> None:
    """Write a plan into a project's folder ``review``: all of it, or what was there stays.

    Raises:
        InputError: the folder cannot be written.
    """
    strata = folder / f"strata-{_digest(plan.strata)}.parquet"
    _write(strata, plan.strata.cast(STRATA_SCHEMA))
    settings = {**plan.settings, _STRATA_FILE: strata.name}
    metadata = {_SETTINGS: json.dumps(settings, ensure_ascii=False).encode()}
    _write(folder / PLAN, plan.table.cast(PLAN_SCHEMA).replace_schema_metadata(metadata))
    for other in set(listed(folder, "strata-*.parquet")) - {strata}:
        other.unlink(missing_ok=True)


def read_plan(folder: Path) -> Plan | None:
    """Read the plan of a project's folder ``review``; none when there is none.

    Raises:
        InputError: a file of it is missing or damaged.
    """
    if not (folder / PLAN).exists():
        return None
    table = _read(folder / PLAN, PLAN_SCHEMA)
    settings = json.loads((table.schema.metadata or {}).get(_SETTINGS, b"{}"))
    strata = _read(folder / str(settings.pop(_STRATA_FILE, "strata.parquet")), STRATA_SCHEMA)
    return Plan(table.replace_schema_metadata(None).sort_by("rank"), strata, settings)


def _write(path: Path, table: pa.Table) -> None:
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        with path.open("rb") as file:
            found = pq.read_table(file, columns=schema.names)
        return found.cast(schema.with_metadata(found.schema.metadata))
    except (OSError, ValueError) as error:
        told = reason(error) if isinstance(error, OSError) else "not the columns of a plan"
        raise InputError(
            f"{path} cannot be read ({told})", wanted="a file of a review plan", mend=_AGAIN
        ) from error


def _identity(items: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(items["item_id"], items["content_hash"], "\n")


def _digest(strata: pa.Table) -> str:
    columns: Sequence[list[str]] = [strata[name].to_pylist() for name in STRATA_SCHEMA.names]
    return hashlib.blake2b(json.dumps(columns).encode(), digest_size=16).hexdigest()
