"""How far reviewers are with the datasets on an Argilla server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ....records.errors import InputError, suggestion
from .client import Argilla
from .dataset import marked
from .withdrawal import withdrawn_responses

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
    assigned, annotators = _assigned(argilla, place), _annotators(argilla, dataset)
    withdrawn, finished = withdrawn_responses(argilla, str(dataset["id"]))
    # where records are assigned, one who has none and has done nothing has no part in it
    others = {*assigned} if assigned or withdrawn else {*annotators.values()}
    names = [*counts, *sorted(others - counts.keys())]
    records = int(whole["total"])
    elsewhere = {annotators.get(user, user): number for user, number in finished.items()}
    work = _Work(assigned, records - withdrawn, elsewhere)
    return DatasetProgress(
        dataset=dataset["name"],
        records=records,
        pending=int(whole["pending"]),
        users=tuple(work.of(name, counts.get(name, {})) for name in names),
    )


@dataclass(frozen=True, slots=True)
class _Work:
    """What there is to do in a dataset."""

    assigned: Mapping[str, int]
    """By user; empty when nothing is assigned to anyone."""
    records: int
    """Without those that were withdrawn."""
    finished: Mapping[str, int]
    """By user, of the records that were withdrawn."""

    def of(self, name: str, counts: Mapping[str, int]) -> UserProgress:
        """How far a user is, by the numbers of their responses."""
        own = self.assigned.get(name, 0) if self.assigned else None
        done = counts.get("submitted", 0) + counts.get("discarded", 0)
        to_do = self.records if own is None else own
        return UserProgress(
            user=name,
            submitted=counts.get("submitted", 0),
            draft=counts.get("draft", 0),
            discarded=counts.get("discarded", 0),
            assigned=own,
            remaining=max(0, to_do - done + self.finished.get(name, 0)),
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


def _annotators(argilla: Argilla, dataset: Mapping[str, Any]) -> dict[str, str]:
    """Id to name."""
    users = argilla.get(f"workspaces/{dataset['workspace_id']}/users")["items"]
    return {str(one["id"]): one["username"] for one in users if one["role"] == "annotator"}
