"""Statistics of items, as ``benchprism score --items`` prints and writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchprism.cli.output import print_table, say
from benchprism.records.errors import InputError
from benchprism.records.files import replacing
from benchprism.scoring.item_numbers import ENOUGH_MODELS

_SHOWN = 30
_COLUMNS = {
    "difficulty": 2, "above_guessing": 2, "discrimination": 2, "inversion_rate": 2,
    "families_inverting": 0, "inversion_p": 4, "irt_difficulty": 2, "irt_discrimination": 2,
}  # fmt: skip


def write(table: pa.Table, path: Path) -> None:
    """Write the statistics to a Parquet or CSV file.

    Raises:
        InputError: another kind of file.
    """
    kind = path.suffix.lower()
    if kind not in {".parquet", ".csv"}:
        raise InputError(
            f"--out {str(path)!r}", wanted="a .parquet or .csv file", mend="give it such a name"
        )
    with replacing(path) as temporary:
        if kind == ".csv":
            pa_csv.write_csv(table, temporary)
        else:
            pq.write_table(table, temporary, compression="zstd")
    say(f"Wrote {len(table)} items to {path}.")


def show(table: pa.Table) -> None:
    """Print the items that most deserve a look: the ones that separate models the wrong way."""
    order = pc.sort_indices(table, sort_keys=[("discrimination", "ascending")])
    first = table.take(order[:_SHOWN])
    rows = [
        [row["item_id"], *(_cell(row[name], digits) for name, digits in _COLUMNS.items())]
        for row in first.to_pylist()
    ]
    columns = ["item", *(name.replace("_", " ") for name in _COLUMNS)]
    print_table(columns, rows, title="Items of least discrimination: check their keys first")
    if len(table) > _SHOWN:
        say(f"{_SHOWN} of {len(table)} items; --json or --out FILE for all")
    most = pc.max(table["models"]).as_py() or 0
    if most < ENOUGH_MODELS:
        say(
            f"{most} models: discriminations of the item response model are not identified well by "
            f"fewer than about {ENOUGH_MODELS}; mind their errors"
        )


def _cell(value: Any, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
