"""Which of the project's items a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchprism.cli.output import say
from benchprism.project import Project
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

    from benchprism.annotate.replay import Recordings


def chosen_items(
    project: Project, benchmarks: Sequence[str], only: Path | None, limit: int | None
) -> pa.Table:
    """Read the items that were asked for.

    Args:
        project: The project.
        benchmarks: Of these benchmarks; of all when empty.
        only: A file that lists item ids, one a line.
        limit: At most so many of each benchmark.

    Raises:
        InputError: a benchmark or an id is unknown, or the file cannot be read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.records.items.store import project_items

    items = project_items(project.items, benchmarks)
    if only is not None:
        wanted = _listed_ids(only, items["item_id"].to_pylist())
        items = items.filter(pc.is_in(items["item_id"], value_set=pa.array(wanted, pa.string())))
    if limit is not None:
        names = pc.unique(items["benchmark"])
        parts = [items.filter(pc.equal(items["benchmark"], name))[:limit] for name in names]
        items = pa.concat_tables(parts) if parts else items
    return items


def recorded_items(items: pa.Table, recordings: Recordings) -> pa.Table:
    """Keep the items that have a recording, and say how many have none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    known = pc.is_in(items["content_hash"], value_set=pa.array(recordings, pa.string()))
    recorded = items.filter(known)
    if recorded.num_rows < items.num_rows:
        say(f"{items.num_rows - recorded.num_rows} items have no recording and are left out.")
    return recorded


def _listed_ids(path: Path, known: Sequence[str]) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise InputError(
            f"{path} cannot be read ({reason})",
            wanted="item ids, one a line",
            mend="check the path",
        ) from error
    ids = set(known)
    wanted = {line.strip(): number for number, line in enumerate(lines, 1) if line.strip()}
    for item_id, number in wanted.items():
        if item_id not in ids:
            raise InputError(
                f"{path}, line {number}: the unknown item {item_id!r}",
                wanted="an id of the project's items",
                mend="'benchprism items list' shows the benchmarks that are there",
            )
    return list(wanted)
