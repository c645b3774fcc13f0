"""Pulling: the responses on an Argilla server, into the ledger.

A response is kept in every state in which it was pulled. What is deleted on the server stays in the
ledger. Everything that is needed to read a response lies beside it on the server, or in the ledger.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, cast

import pyarrow as pa

from ....prompts.catalogue import Catalogue, Value
from ...ledger.store import Ledger
from ..form import NOTE, Mode, ReviewForm, form_of
from ..recording import Recorded, record_responses
from ..responses import Response, ResponseStatus, in_utc, read_answers
from .client import Argilla
from .dataset import Mark, mark_of
from .record import item_id_of

_AT_ONCE = 500
"""Records whose responses are committed together."""
_FIRST = 100


@dataclass(slots=True)
class Pulled:
    """What came of one dataset."""

    dataset: str
    records: int = 0
    recorded: Recorded = field(default_factory=Recorded)
    changed: int = 0
    """Responses about another text than the item has today: kept, and not counted."""
    gone: int = 0
    """Responses about items that the project does not have: kept, and not counted."""
    outdated: int = 0
    """Answers to an attribute that means something else today: kept, and not counted."""
    unreadable: int = 0
    """Responses to a catalogue that this ledger does not know: left on the server."""
    missed: int = 0
    """Records that the server has and did not list, since it changed meanwhile."""


@dataclass(frozen=True, slots=True)
class ProjectItems:
    """What pulling has to know of today's items, by id."""

    contents: Mapping[str, str]
    kinds: Mapping[str, str]

    @classmethod
    def of(cls, items: pa.Table) -> ProjectItems:
        """Take it out of a table with ``ITEM_SCHEMA``."""
        ids, contents, kinds = (
            items[name].to_pylist() for name in ("item_id", "content_hash", "kind")
        )
        return cls(dict(zip(ids, contents, strict=True)), dict(zip(ids, kinds, strict=True)))


def pull(
    argilla: Argilla,
    dataset: Mapping[str, Any],
    ledger: Ledger,
    items: ProjectItems,
    catalogue: Catalogue,
    *,
    progress: Callable[[int], object] = lambda _: None,
) -> Pulled:
    """Put the responses of one dataset into the ledger.

    However often it runs, and wherever it is stopped, each state of a response is there once.

    Args:
        argilla: The server.
        dataset: The dataset as the server tells of it; one that a push made.
        ledger: The ledger, open for writing.
        items: Today's items.
        catalogue: Today's criteria.
        progress: Called with the number of records that are done.

    Raises:
        EndpointError: the server does not answer; what came is kept.
        InputError: the ledger cannot be written.
    """
    mark = mark_of(dataset)
    if mark is None:
        raise ValueError(f"no push made {dataset['name']!r}")
    reader = _Reader.of(argilla, dataset, mark, ledger.catalogues(), items)
    pulled = Pulled(dataset["name"])
    coming = argilla.records(dataset["id"], ["responses", "suggestions"])
    seen: set[str] = set()
    while batch := list(islice(coming, _AT_ONCE)):
        _record(ledger, reader, batch, catalogue, pulled)
        seen.update(record["id"] for record in batch)
        progress(len(batch))
    pulled.records = len(seen)
    total = argilla.get(f"datasets/{dataset['id']}/progress")["total"]
    pulled.missed = max(0, total - len(seen))
    return pulled


def belongs(
    argilla: Argilla, dataset: Mapping[str, Any], items: ProjectItems, project: str
) -> bool:
    """Tell whether a dataset is the project's.

    A workspace may hold datasets of several projects, also about the same items. A dataset says
    whose it is; of one that does not, the first items that it holds tell, and one that is empty is
    nobody's.
    """
    mark = mark_of(dataset)
    if mark is not None and mark.project:
        return mark.project == project
    path = f"datasets/{dataset['id']}/records"
    first = argilla.get(path, limit=_FIRST)["items"]
    ids = (item_id_of(str(record["external_id"])) for record in first)
    return any(item_id in items.contents for item_id in ids)


def _record(
    ledger: Ledger,
    reader: _Reader,
    records: Iterable[Mapping[str, Any]],
    catalogue: Catalogue,
    pulled: Pulled,
) -> None:
    by_catalogue: defaultdict[str, list[Response]] = defaultdict(list)
    for record in records:
        metadata = record["metadata"] or {}
        name = metadata.get("catalogue", "")
        if name in reader.forms:
            by_catalogue[name] += reader.responses(record, metadata, reader.forms[name])
        else:
            pulled.unreadable += len(record["responses"] or [])
    for name, responses in by_catalogue.items():
        form = reader.forms[name]
        pulled.recorded.add(record_responses(ledger, responses, form))
        outdated = _outdated(form, catalogue)
        for response in responses:
            today = reader.items.contents.get(response.item_id)
            pulled.gone += today is None
            pulled.changed += today not in {None, response.content_hash}
            if response.status == "submitted":
                pulled.outdated += len(outdated & response.values.keys())


def _outdated(form: ReviewForm, catalogue: Catalogue) -> set[str]:
    """The attributes that are no more, or mean something else by now."""
    today = {attribute.id: attribute for attribute in catalogue}
    return {
        one.name
        for one in form
        if one.name not in today or not one.attribute.means_the_same_as(today[one.name])
    }


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the records of one dataset."""

    argilla: Argilla
    dataset: str
    mode: Mode
    users: dict[str, str]
    """Id to name."""
    questions: Mapping[str, str]
    """Id to name."""
    forms: Mapping[str, ReviewForm]
    """By the hash of the catalogue."""
    items: ProjectItems

    @classmethod
    def of(
        cls,
        argilla: Argilla,
        dataset: Mapping[str, Any],
        mark: Mark,
        catalogues: Mapping[str, Catalogue],
        items: ProjectItems,
    ) -> _Reader:
        listed = argilla.get(f"datasets/{dataset['id']}/questions")["items"]
        questions = {question["id"]: question["name"] for question in listed}
        names = set(questions.values())
        asked = {
            name: [attribute.id for attribute in catalogue if attribute.id in names]
            for name, catalogue in catalogues.items()
        }
        forms = {
            name: replace(form_of(catalogues[name], attributes), dimension=mark.dimension)
            for name, attributes in asked.items()
            if attributes
        }
        users = _users(argilla)
        return cls(argilla, dataset["name"], mark.mode, users, questions, forms, items)

    def responses(
        self, record: Mapping[str, Any], metadata: Mapping[str, Any], form: ReviewForm
    ) -> Iterator[Response]:
        """Read the responses of a record."""
        for given in record["responses"] or []:
            yield self._response(given, record, metadata, form)

    def _response(
        self,
        given: Mapping[str, Any],
        record: Mapping[str, Any],
        metadata: Mapping[str, Any],
        form: ReviewForm,
    ) -> Response:
        answers = {name: said["value"] for name, said in (given["values"] or {}).items()}
        values, invalid = read_answers(form, answers)
        name, time = record["external_id"] or record["id"], in_utc(given["updated_at"])
        item_id = item_id_of(name)
        return Response(
            item_id=item_id,
            content_hash=metadata.get("content_hash", ""),
            user=self._user(given["user_id"]),
            status=cast(ResponseStatus, given["status"]),
            values=values,
            note=str(answers.get(NOTE) or ""),
            time=time,
            via="argilla",
            mode=cast(Mode, metadata.get("mode", self.mode)),
            dataset=self.dataset,
            suggested=self._suggested(record, time, form),
            raw=json.dumps(given),
            dimension=form.dimension,
            invalid=invalid,
            kind=self.items.kinds.get(item_id, ""),
            record=name,
        )

    def _user(self, identity: str) -> str:
        if identity not in self.users:  # made a moment ago
            self.users.update(_users(self.argilla))
        return self.users.get(identity, identity)

    def _suggested(
        self, record: Mapping[str, Any], time: str, form: ReviewForm
    ) -> dict[str, Value]:
        """What was filled in: a suggestion that is newer than the response was not, or not so."""
        there = {
            self.questions[one["question_id"]]: one["value"]
            for one in record["suggestions"] or []
            if in_utc(one["updated_at"]) <= time
        }
        return read_answers(form, there)[0]


def _users(argilla: Argilla) -> dict[str, str]:
    return {user["id"]: user["username"] for user in argilla.get("users")["items"]}
