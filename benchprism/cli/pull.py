"""``benchprism compose --from-hub``: a subset that was published, taken up again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchprism.cli.output import counted, print_json, say
from benchprism.project import Project

if TYPE_CHECKING:
    import pyarrow as pa


def pull(project: Project, repo_id: str, revision: str | None, *, as_json: bool) -> None:
    """Put the subset of a dataset of the Hub into the project.

    Raises:
        InputError: there is none, it is not what its lock says, or texts are missing.
        EndpointError: the Hub refused, or cannot be reached.
    """
    from benchprism.cli.environment import environment
    from benchprism.cli.publish import show_transfers
    from benchprism.compose.export.hub.pull import pull_subset, write_pulled
    from benchprism.compose.export.hub.repository import connect

    hub = connect(repo_id, environment(project.root))
    show_transfers()
    pulled = pull_subset(hub, lambda ids: _own_items(project, ids), revision=revision)
    written = write_pulled(pulled, project.subsets)
    folder = project.subsets / pulled.criteria.name
    if as_json:
        print_json(
            {
                "name": pulled.criteria.name,
                "repository": pulled.repo_id,
                "commit": pulled.commit,
                "items": pulled.items.num_rows,
                "ids_only": pulled.ids_only,
                "folder": str(folder),
                "written": written,
            }
        )
    items = counted(pulled.items.num_rows, "item")
    source = " (their texts are the project's own)" if pulled.ids_only else ""
    done = "Wrote" if written else "Left as they are:"
    say(
        f"{done} {items}{source} of {repo_id} at {pulled.commit[:12]} in"
        f" {os.path.relpath(folder)}. Next: benchprism score {folder.name}"
    )


def _own_items(project: Project, ids: Sequence[str]) -> pa.Table:
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchprism.records.items.record import ITEM_SCHEMA
    from benchprism.records.items.store import items_files, project_items

    if not items_files(project.items):
        return ITEM_SCHEMA.empty_table()
    items = project_items(project.items)
    return items.filter(pc.is_in(items["item_id"], value_set=pa.array(ids, pa.string())))
