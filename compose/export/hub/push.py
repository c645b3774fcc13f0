"""A push of an exported folder to the Hub: compared first, then one commit or none.

The library's ``upload_folder`` cuts what it sends into several commits once it is large, or slow;
``create_commit`` makes one, on the commit that was compared. It is also told each path to remove by
its name, where ``upload_folder`` takes patterns.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Literal

from ....records.errors import ConfirmationNeeded, EndpointError, InputError
from ..card import CARD, card, merged_card
from ..folder import MANIFEST, read_card, read_manifest
from ..subset import ExportedSubset
from .refusals import hub_errors
from .remote import FileState, Remote, file_state, read_remote
from .repository import Hub
from .transfer import transfer


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that the commit adds, changes or removes."""

    path: str
    change: Literal["added", "changed", "removed"]
    before: int | None
    """Bytes on the Hub."""
    after: int | None
    """Bytes after the push."""


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """The items of the subset against those on the Hub, by id."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Under the same id, another content."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a push would do."""

    name: str
    folder: Path
    commit: str | None
    """What it was compared with; none where there is no repository yet."""
    private: bool
    """Whether the repository is, or will be."""
    files: tuple[FileChange, ...]
    card: str
    """As it will be."""
    card_diff: str
    """Unified; empty when nothing changes."""
    items: ItemChanges
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pushed:
    """What a push has done."""

    url: str
    """The repository's page."""
    commit: str
    pull_request: str | None


def plan_push(hub: Hub, folder: Path, export: ExportedSubset, *, public: bool) -> Plan:
    """Compare an exported folder with the repository; only files of its manifest count.

    Args:
        hub: the repository.
        folder: where ``export_subset`` wrote the export.
        export: the export.
        public: whether a repository that is made for it is open to all.

    Raises:
        InputError: a file of the repository that benchprism has not written is in the way.
        EndpointError: the Hub refused, or cannot be reached.
    """
    remote = read_remote(hub)
    text, notes = _card(folder, export, remote)
    states = {**_states(folder), CARD: file_state(BytesIO(text.encode()))}
    _check_foreign(hub, states, remote)
    before = (remote.card or "").splitlines(keepends=True)
    diff = difflib.unified_diff(
        before, text.splitlines(keepends=True), f"{CARD} on the Hub", f"{CARD} pushed"
    )
    if remote.commit is not None and remote.private and public:
        notes = (*notes, f"{hub.repo_id} is private and stays so: its settings make it public")
    return Plan(
        name=export.name,
        folder=folder,
        commit=remote.commit,
        private=remote.private if remote.commit is not None else not public,
        files=tuple(sorted(_changes(states, remote), key=lambda change: change.path)),
        card=text,
        card_diff="".join(diff),
        items=_item_changes(remote.contents, export.lock["items"]),
        notes=notes,
    )


def _states(folder: Path) -> dict[str, FileState]:
    states = {}
    for path in (*read_manifest(folder)["files"], MANIFEST):
        with (folder / path).open("rb") as file:
            states[path] = file_state(file)
    return states


def _card(folder: Path, export: ExportedSubset, remote: Remote) -> tuple[str, tuple[str, ...]]:
    """The card as it will be: a hand in the Hub's own goes before one in the folder's."""
    local, plain = read_card(folder), card(export)
    if remote.card is None or not remote.is_edited:
        return local, ()
    text = merged_card(remote.card, plain)
    if local in {plain, text}:
        return text, ()
    return text, (
        f"your own text in {folder / CARD} is not pushed: the card on the Hub has its own",
    )


def _check_foreign(hub: Hub, states: Mapping[str, FileState], remote: Remote) -> None:
    for path in sorted({*states} & {*remote.files} - remote.own - {CARD}):
        if not remote.files[path].is_same(states[path]):
            raise InputError(
                f"{hub.repo_id!r} has a file {path!r} that benchprism has not written",
                wanted="a new repository, or one of an earlier export",
                mend="rename the file there, or name another repository",
            )


def _changes(states: Mapping[str, FileState], remote: Remote) -> Iterator[FileChange]:
    for path, state in states.items():
        there = remote.files.get(path)
        if there is None:
            yield FileChange(path, "added", None, state.size)
        elif not there.is_same(state):
            yield FileChange(path, "changed", there.size, state.size)
    for path in remote.own & {*remote.files} - {*states}:
        yield FileChange(path, "removed", remote.files[path].size, None)


def _item_changes(before: Mapping[str, str], after: Mapping[str, str]) -> ItemChanges:
    return ItemChanges(
        added=tuple(item for item in after if item not in before),
        removed=tuple(item for item in before if item not in after),
        changed=tuple(item for item in after if before.get(item, after[item]) != after[item]),
    )


def require_visibility(hub: Hub, plan: Plan, *, public: bool) -> None:
    """Refuse to publish what nobody has said is to be public.

    Raises:
        ConfirmationNeeded: the repository is public.
    """
    if not plan.private and not public:
        raise ConfirmationNeeded(
            f"{hub.repo_id!r} is public",
            wanted="your word that the items are to be public",
            mend="add --public, or make the repository private in its settings",
        )


def push(hub: Hub, plan: Plan, *, create_pr: bool = False) -> Pushed:
    """Carry out a plan in one commit; the repository is made when there is none.

    Raises:
        InputError: a pull request is wanted, and there is no repository.
        EndpointError: the Hub refused or was lost; its files are as they were.
    """
    made = plan.commit is None
    if made and create_pr:
        raise InputError(
            f"the dataset {hub.repo_id!r} does not exist, or is private",
            wanted="a repository to offer a change to",
            mend="check the name, or leave out --create-pr",
        )
    commit = _make(hub, plan) if plan.commit is None else plan.commit
    try:
        return _commit(hub, plan, commit, create_pr=create_pr)
    except EndpointError as error:
        if not made:
            raise
        found = f"{error.found}; the repository {hub.repo_id!r} was made for it"
        raise EndpointError(found, wanted=error.wanted, mend=error.mend) from error


def _make(hub: Hub, plan: Plan) -> str:
    with hub_errors(hub.repo_id):
        hub.api.create_repo(hub.repo_id, repo_type="dataset", private=plan.private)
        made = hub.api.dataset_info(hub.repo_id)
    if plan.private and not made.private:
        raise EndpointError(
            f"the Hub made the dataset {hub.repo_id!r} public",
            wanted="a private one; nothing was sent to it",
            mend="make it private in its settings and run the same command again, or add --public",
        )
    return str(made.sha)


def _commit(hub: Hub, plan: Plan, parent: str, *, create_pr: bool) -> Pushed:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    operations: list[CommitOperationAdd | CommitOperationDelete] = []
    for change in plan.files:
        if change.change == "removed":
            operations.append(CommitOperationDelete(change.path, is_folder=False))
        else:
            content = plan.card.encode() if change.path == CARD else plan.folder / change.path
            operations.append(CommitOperationAdd(change.path, content))
    with hub_errors(hub.repo_id), transfer(hub):
        done = hub.api.create_commit(
            hub.repo_id,
            operations,
            repo_type="dataset",
            commit_message=f"{plan.name}, exported by benchprism {version('benchprism')}",
            create_pr=create_pr,
            parent_commit=parent,
        )
    page = f"{hub.api.endpoint}/datasets/{hub.repo_id}"
    return Pushed(url=page, commit=done.oid, pull_request=done.pr_url)
