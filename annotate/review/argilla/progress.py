"""How far reviewers are with the datasets on an Argilla server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ....records.errors import InputError, suggestion
from .client import Argilla
from .dataset import marked

_REVIEWER = "reviewer"


@dataclass(frozen=True, slots=True)
class UserProgress:
    """How far one reviewer is with one dataset."""

    user: str
    submitted: int
    draft: int
    discarded: int
    assigned: int | None
    """Records that are this reviewer's; none where nothing is assigned to anyone."""
    remaining: int
    """Records that this reviewer has neither submitted nor discarded."""


@dataclass(frozen=True, slots=True)
class DatasetProgress:
    """How far one dataset is."""

    dataset: str
    records: int
    pending: int
    """Records that nobody, or too few, have submitted."""
    users: tuple[UserProgress, ...]

    @property
    def responses(self) -> int:
        """Responses on the server, whatever their status."""
        return sum(one.submitted + one.draft + one.discarded for one in self.users)


def pushed_datasets(argilla: Argilla, names: Collection[str] = ()) -> list[dict[str, Any]]:
    """The datasets of the workspace that pushes made, in the order of their names.

    Args:
        argilla: The server.
        names: The only ones that are wanted, with their version; all when none are named.

    Raises:
        InputError: no push made such a dataset.
    """
    pushed = {str(dataset["name"]): dataset for _, dataset in marked(argilla)}
    for name in names:
        if name not in pushed:
            raise InputError(
                f"no dataset {name!r} of benchprism's in the workspace"
                f" {argilla.access.workspace!r}",
                wanted="one that 'benchprism review push' made",
                mend=suggestion(name, pushed) if pushed else "push one",
            )
    return [pushed[name] for name in sorted(names or pushed)]


def dataset_progress(argilla: Argilla, dataset: Mapping[str, Any]) -> DatasetProgress:
    """Ask the server how far the reviewers of a dataset are."""
    place = f"datasets/{dataset['id']}"
    whole = argilla.get(f"{place}/progress")
    given = argilla.get(f"{place}/users/progress")["users"]
    counts = {one["username"]: _statuses(one) for one in given}
    assigned = _assigned(argilla, place)
    names = [*counts, *sorted({*assigned, *_annotators(argilla, dataset)} - set(counts))]
    records = int(whole["total"])
    return DatasetProgress(
        dataset=dataset["name"],
        records=records,
        pending=int(whole["pending"]),
        users=tuple(_user(name, counts.get(name, {}), assigned, records) for name in names),
    )


def _statuses(one: Mapping[str, Any]) -> Counter[str]:
    """Responses by status, of records that are complete and of others."""
    total = Counter[str]()
    for part in ("completed", "pending"):
        total.update(one[part])
    return total


def _assigned(argilla: Argilla, place: str) -> dict[str, int]:
    """How many records are assigned to each reviewer; empty when none are."""
    properties = argilla.get(f"me/{place}/metadata-properties")["items"]
    found = next((one for one in properties if one["name"] == _REVIEWER), None)
    if found is None:
        return {}
    metrics = argilla.get(f"metadata-properties/{found['id']}/metrics")
    return {value["term"]: value["count"] for value in metrics["values"]}


def _annotators(argilla: Argilla, dataset: Mapping[str, Any]) -> set[str]:
    users = argilla.get(f"workspaces/{dataset['workspace_id']}/users")["items"]
    return {user["username"] for user in users if user["role"] == "annotator"}


def _user(
    name: str, counts: Mapping[str, int], assigned: Mapping[str, int], records: int
) -> UserProgress:
    own = assigned.get(name, 0) if assigned else None
    done = counts.get("submitted", 0) + counts.get("discarded", 0)
    return UserProgress(
        user=name,
        submitted=counts.get("submitted", 0),
        draft=counts.get("draft", 0),
        discarded=counts.get("discarded", 0),
        assigned=own,
        remaining=max(0, (records if own is None else own) - done),
    )
