"""A review's dataset on the server: found again, made, brought up to date, or made anew.

A published dataset takes no new question and no new label. What it cannot take goes into a further
version, ``name-2``; the former ones stay as they are, with everything that people answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from ....records.errors import InputError
from ..form import Mode
from ..project_id import PROJECT_ID
from .client import Argilla
from .layout import VECTOR, Layout

MARK = "benchprism"
"""Under this name a dataset says in its metadata what it is."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a dataset of benchprism's says of itself."""

    name: str
    """Without the version."""
    version: int
    mode: Mode
    dimension: str
    """The only dimension that is asked; empty when all are."""
    catalogue: str
    """The hash of the catalogue that it was made from: the server never changes a mark."""
    project: str = ""
    """The id of the project whose it is."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A published dataset."""

    id: str
    name: str
    mark: Mark
    questions: Mapping[str, str]
    """Name to id."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a push is to go."""

    id: str
    """Of the dataset that takes it; empty when one has to be made."""
    name: str
    mark: Mark
    misfits: tuple[str, ...]
    """Why the newest version does not take it; empty when one takes it, or none is there."""
    drafts: tuple[str, ...]
    """Ids of datasets that were begun and never published: they hold nothing."""
    former: tuple[str, ...] = ()
    """Ids of the versions that were made from other catalogues."""


def mark_of(dataset: Mapping[str, Any]) -> Mark | None:
    """What a dataset, as the API tells of it, says of itself; none when it is another's."""
    told = (dataset.get("metadata") or {}).get(MARK)
    try:
        return Mark(**told) if isinstance(told, dict) else None
    except TypeError:
        return None


def marked(argilla: Argilla) -> Iterator[tuple[Mark, dict[str, Any]]]:
    """The published datasets of benchprism's in the workspace, each with its mark."""
    for dataset in argilla.datasets():
        mark = mark_of(dataset)
        if mark is not None and dataset["status"] == "ready":
            yield mark, dataset


def find(argilla: Argilla, layout: Layout, mark: Mark) -> Found:
    """Find the newest version of a dataset that takes a layout, or tell why none does.

    Args:
        argilla: The server.
        layout: What the dataset should be; its name is without a version.
        mark: What it should say of itself; its version does not count.

    Raises:
        InputError: the name belongs to a dataset of another project, or not of benchprism's.
    """
    listed = argilla.datasets()
    ours = [(own, d) for d in listed if (own := mark_of(d)) is not None and own.name == mark.name]
    for own, dataset in ours:
        _require_own(own, dataset["name"], mark)
    ready = [(own, d) for own, d in ours if d["status"] == "ready"]
    drafts = tuple(str(d["id"]) for _, d in ours if d["status"] != "ready")
    misfits: tuple[str, ...] = ()
    for own, dataset in sorted(ready, key=lambda pair: -pair[0].version):
        found = tuple(_misfits(argilla, str(dataset["id"]), layout))
        if not found:
            identity, version = str(dataset["id"]), own.version
            former = _former(ready, mark, identity)
            return Found(identity, dataset["name"], _of(mark, version), (), drafts, former)
        misfits = misfits or found
    version = max((own.version for own, _ in ready), default=0) + 1
    name = layout.name if version == 1 else f"{layout.name}-{version}"
    if any(d["name"] == name and str(d["id"]) not in drafts for d in listed):
        raise InputError(
            f"the workspace has a dataset {name!r} that benchprism has not made",
            wanted="a name that is free",
            mend="choose another with --name",
        )
    return Found("", name, _of(mark, version), misfits, drafts, _former(ready, mark, ""))


def _require_own(own: Mark, name: str, mark: Mark) -> None:
    if own.project not in {"", mark.project}:
        raise InputError(
            f"the dataset {name!r} on the server is of another project ({own.project})",
            wanted="one of this project's, or a name that is free",
            mend="choose another with --name; where it is this project's and its review/"
            f"{PROJECT_ID} was lost, write {own.project} into that file",
        )


def _former(
    ready: Sequence[tuple[Mark, Mapping[str, Any]]], mark: Mark, identity: str
) -> tuple[str, ...]:
    ids = [str(dataset["id"]) for own, dataset in ready if own.catalogue != mark.catalogue]
    return tuple(one for one in ids if one != identity)


def make_ready(argilla: Argilla, found: Found, layout: Layout, overlap: int) -> Dataset:
    """Make the dataset, or bring it up to date in what a published one takes.

    Args:
        argilla: The server.
        found: Where the push goes.
        layout: What the dataset is to be.
        overlap: How many submitted responses complete a record.
    """
    identity = found.id or _make(argilla, found, layout, overlap)
    if found.id:
        _update(argilla, found, layout, overlap)
    listed = argilla.get(f"datasets/{identity}/questions")["items"]
    return Dataset(identity, found.name, found.mark, {q["name"]: q["id"] for q in listed})


def _of(mark: Mark, version: int) -> Mark:
    return replace(mark, version=version)


def _misfits(argilla: Argilla, dataset: str, layout: Layout) -> Iterator[str]:
    """Tell everything that a published dataset would have to change and cannot."""
    there = {q["name"]: q for q in argilla.get(f"datasets/{dataset}/questions")["items"]}
    for question in layout.questions:
        name = question["name"]
        if name not in there:
            yield f"the question {name} is new"
        elif (misfit := _misfit(there[name], question)) is not None:
            yield f"{name} has {misfit}"
    for name in sorted(there.keys() - {question["name"] for question in layout.questions}):
        yield f"the question {name} is gone"
    fields = {field["name"] for field in argilla.get(f"datasets/{dataset}/fields")["items"]}
    if fields != {field["name"] for field in layout.fields}:
        yield "the item is shown in other fields"


def _misfit(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    if there["settings"]["type"] != wanted["settings"]["type"]:
        return "another type"
    if _values(there) != _values(wanted):
        return "other values"
    return "become required or optional" if there["required"] != wanted["required"] else None


def _values(question: Mapping[str, Any]) -> set[int | str]:
    return {option["value"] for option in question["settings"].get("options", ())}


def _make(argilla: Argilla, found: Found, layout: Layout, overlap: int) -> str:
    for draft in found.drafts:
        argilla.delete(f"datasets/{draft}")
    description = {
        "name": found.name,
        "guidelines": layout.guidelines,
        "workspace_id": argilla.workspace_id(),
        "allow_extra_metadata": False,
        "distribution": _distribution(overlap),
        "metadata": {MARK: asdict(found.mark)},
    }
    identity = str(argilla.post("datasets", description)["id"])
    for field in layout.fields:
        argilla.post(f"datasets/{identity}/fields", field)
    for question in layout.questions:
        argilla.post(f"datasets/{identity}/questions", question)
    _add_properties(argilla, identity, layout)
    argilla.put(f"datasets/{identity}/publish")
    return identity


def _update(argilla: Argilla, found: Found, layout: Layout, overlap: int) -> None:
    there = argilla.get(f"datasets/{found.id}")
    # Records of a former push may need more responses than those of this one.
    most = max(overlap, there["distribution"]["min_submitted"])
    wanted = {
        "guidelines": layout.guidelines,
        "distribution": _distribution(most),
    }
    # A change makes the server look at every record again, so only a change is sent.
    changes = {name: value for name, value in wanted.items() if there.get(name) != value}
    if changes:
        argilla.patch(f"datasets/{found.id}", changes)
    listed = argilla.get(f"datasets/{found.id}/questions")["items"]
    known = {question["name"]: question for question in listed}
    for question in layout.questions:
        _update_question(argilla, known[question["name"]], question)
    _add_properties(argilla, found.id, layout)


def _update_question(argilla: Argilla, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    changes = {
        name: wanted.get(name)
        for name in ("title", "description")
        if there.get(name) != wanted.get(name)
    }
    options = wanted["settings"].get("options")
    if wanted["settings"]["type"] != "rating" and options != there["settings"].get("options"):
        changes["settings"] = wanted["settings"]
    if changes:
        argilla.patch(f"questions/{there['id']}", changes)


def _add_properties(argilla: Argilla, dataset: str, layout: Layout) -> None:
    """Add the metadata properties and vectors that are not there yet."""
    known = _names(argilla.get(f"me/datasets/{dataset}/metadata-properties"))
    for prop in layout.metadata:
        if prop.name not in known:
            description = {
                "name": prop.name,
                "title": prop.name.replace("_", " ").capitalize(),
                "settings": {"type": prop.type},
                "visible_for_annotators": prop.shown,
            }
            argilla.post(f"datasets/{dataset}/metadata-properties", description)
    if layout.dimensions is None:
        return
    if VECTOR not in _names(argilla.get(f"datasets/{dataset}/vectors-settings")):
        vector = {"name": VECTOR, "title": "Likeness", "dimensions": layout.dimensions}
        argilla.post(f"datasets/{dataset}/vectors-settings", vector)


def _names(answer: Mapping[str, Any]) -> set[str]:
    return {part["name"] for part in cast(Sequence[Mapping[str, Any]], answer["items"])}


def _distribution(overlap: int) -> dict[str, Any]:
    return {"strategy": "overlap", "min_submitted": overlap}
