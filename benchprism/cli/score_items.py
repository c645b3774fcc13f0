"""Statistics of items, as ``benchprism score --items`` prints and writes them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchprism.cli.output import counted, print_table, say
from benchprism.records.errors import InputError
from benchprism.records.files import replacing

if TYPE_CHECKING:
    from benchprism.scoring.item_numbers import ItemModel

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
    say(f"Wrote {counted(len(table), 'item')} to {path}.")


def show(table: pa.Table, response: ItemModel | None) -> None:
    """Print the items that most deserve a look: the ones that separate models the wrong way."""
    order = pc.sort_indices(table, sort_keys=[("discrimination", "ascending")])
    first = table.take(order[:_SHOWN]).to_pylist()
    learned = table.filter(pc.invert(table["irt_from_prior"]))
    of_items = {"irt_difficulty", *["irt_discrimination"] * (response == "2PL")}
    rows = []
    for row in first:
        guessed = of_items if row["irt_from_prior"] else set()
        cells = [_cell(row[name], digits, name in guessed) for name, digits in _COLUMNS.items()]
        rows.append([row["item_id"], *cells])
    columns = ["item", *(name.replace("_", " ") for name in _COLUMNS)]
    print_table(columns, rows, title="Items of least discrimination: check their keys first")
    if len(table) > _SHOWN:
        say(f"{_SHOWN} of {len(table)} items; --json or --out FILE for all")
    if any(row["irt_from_prior"] for row in first):
        say(
            "(in brackets): all models or none solve the item, and its number in the item response"
            " model comes from the prior alone"
        )
    for benchmark in pc.unique(table["benchmark"]).to_pylist() if response == "1PL" else ():
        source = "one for all items"
        if benchmark not in learned["benchmark"].to_pylist():
            source += ", from the prior alone"
        say(f"{benchmark}: irt discrimination: {source}")


def _cell(value: Any, digits: int, guessed: bool) -> str:
    if value is None:
        return "–"
    return f"({value:.{digits}f})" if guessed else f"{value:.{digits}f}"
