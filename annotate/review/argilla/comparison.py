"""What a server does not have yet of what is to be reviewed.

Every record carries the state that it was sent in; only what is in another state today is to be
sent. A record that people have answered is never changed in what they answered to: when the item's
text or the meaning of a question is another now, today's record goes in beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ....records.errors import InputError
from ..case import Case
from ..form import Mode, ReviewForm
from .client import Argilla
from .dataset import Found, Mark, find
from .layout import Layout, faults, layout_of
from .record import Record, Terms, item_id_of, meaning_of, record_faults, record_of
from .withdrawal import Withdrawal

_FAULTS_TOLD = 20
_LISTINGS = 3

Change = Literal["new", "changed", "beside"]
"""Not there yet; there in another state; new beside a record that was answered on other terms."""


class Encoder(Protocol):
    """What makes vectors of texts."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row a text."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is to be in one dataset."""

    name: str
    """Without a version."""
    form: ReviewForm
    mode: Mode
    cases: Callable[[], Iterable[Case]]
    """Gives the cases; called more than once, and each time it must give the same."""
    overlap: int = 1
    """How many submitted responses complete a record."""
    encoder: Encoder | None = None
    """Makes the vectors by which similar records are found; none without them."""
    dimensions: int | None = None
    """Of the vectors."""
    whole: bool = False
    """Whether these are all that is to be reviewed: of other records reviewers are taken off."""

    @property
    def layout(self) -> Layout:
        """The settings of the dataset."""
        return layout_of(self.name, self.form, self.mode, dimensions=self.dimensions)


@dataclass(frozen=True, slots=True)
class Sending:
    """What becomes of one case."""

    change: Change
    external_id: str
    record: str = ""
    """The id that the server gave to the record; empty for one that is not there."""
    suggested: frozenset[str] = frozenset()
    """The questions to which the server has a suggestion."""


@dataclass(frozen=True, slots=True)
class Push:
    """What a push would send to one dataset."""

    delivery: Delivery
    found: Found
    sendings: tuple[Sending | None, ...]
    """By case; none where the server has today's state."""
    left: int
    """Records of the dataset that are about none of the cases, or not on today's terms."""
    withdrawals: tuple[Withdrawal, ...] = ()
    """Records that reviewers are taken off."""

    @property
    def counts(self) -> Counter[str]:
        """How many cases are ``new``, ``changed``, ``beside`` and ``unchanged``."""
        return Counter(sending.change if sending else "unchanged" for sending in self.sendings)

    @property
    def size(self) -> int:
        """How many records are sent, or have their reviewers taken off."""
        return sum(sending is not None for sending in self.sendings) + self.withdrawn

    @property
    def withdrawn(self) -> int:
        """How many records have their reviewers taken off."""
        return sum(len(one.external_ids) for one in self.withdrawals)


def compare(argilla: Argilla, deliveries: Sequence[Delivery], project: str = "") -> list[Push]:
    """Check what is to be sent, and compare it with what the server has; nothing is changed.

    Args:
        argilla: The server.
        deliveries: What is to be there. One without cases makes no dataset.
        project: The id of the project whose datasets they are.

    Raises:
        InputError: Argilla would not take it; all faults are told at once. A dataset is another
            project's, or not of benchprism's.
        EndpointError: the server does not answer, or refuses.
    """
    _check([fault for delivery in deliveries for fault in faults(delivery.layout)])
    told = [_told(delivery) for delivery in deliveries]
    _check([fault for one in told for fault in one.faults])
    found = [
        _compare(argilla, delivery, one, project)
        for delivery, one in zip(deliveries, told, strict=True)
    ]
    return [push for push in found if push.sendings or push.found.id]


@dataclass(frozen=True, slots=True)
class _Told:
    """What there is to say of a delivery's records, in their order."""

    item_ids: list[str]
    states: list[str]
    terms: list[Terms]
    later_ids: list[str]
    faults: list[str]


@dataclass(frozen=True, slots=True)
class _There:
    """A record that the server has."""

    id: str
    external_id: str
    state: str
    terms: Terms
    assigned: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    """What else the server has of a record."""

    answered: bool
    suggested: frozenset[str]


def _check(found: Sequence[str]) -> None:
    if not found:
        return
    told = "; ".join(found[:_FAULTS_TOLD])
    more = f"; and {len(found) - _FAULTS_TOLD} more" if len(found) > _FAULTS_TOLD else ""
    raise InputError(
        f"Argilla would not take this ({told}{more})",
        wanted="what is within its limits",
        mend="mend the catalogue or the items; nothing was sent",
    )


def _told(delivery: Delivery) -> _Told:
    told = _Told([], [], [], [], [])
    vector = delivery.encoder is not None
    for _, record in records_of(delivery):
        told.item_ids.append(record.item_id)
        told.states.append(record.state(vector=vector))
        told.terms.append(record.terms)
        told.later_ids.append(record.later_id)
        told.faults.extend(record_faults(record))
    twice = [name for name, count in Counter(told.item_ids).items() if count > 1]
    told.faults.extend(f"{delivery.name}: the item {name!r} stands twice" for name in twice)
    return told


def records_of(delivery: Delivery) -> Iterator[tuple[Case, Record]]:
    """Each case with its record."""
    meaning = meaning_of(delivery.form)
    for case in delivery.cases():
        yield case, record_of(case, delivery.form, delivery.mode, meaning)


def _compare(argilla: Argilla, delivery: Delivery, told: _Told, project: str) -> Push:
    mark = Mark(
        name=delivery.name,
        version=0,
        mode=delivery.mode,
        dimension=delivery.form.dimension,
        catalogue=delivery.form.catalogue.hash,
        project=project,
    )
    found = find(argilla, delivery.layout, mark)
    there = _there(argilla, found.id) if found.id else {}
    matches = [
        _match(there.get(item, ()), terms)
        for item, terms in zip(told.item_ids, told.terms, strict=True)
    ]
    differing = [
        match.external_id
        for match, state, terms in zip(matches, told.states, told.terms, strict=True)
        if match is not None and not _stands(match, state, terms)
    ]
    seen = dict(_look_up(argilla, found.id, differing))
    sendings = tuple(_sending(told, row, match, seen) for row, match in enumerate(matches))
    stay = {
        match.id
        for match, sending in zip(matches, sendings, strict=True)
        if match is not None and not (sending and sending.change == "beside")
    }
    left = sum(map(len, there.values())) - len(stay)
    if not delivery.whole:
        return Push(delivery, found, sendings, left)
    withdrawals = [_withdrawal(found.id, there, stay)]
    withdrawals += [_withdrawal(one, _there(argilla, one), ()) for one in found.former]
    return Push(
        delivery, found, sendings, left, tuple(one for one in withdrawals if one.external_ids)
    )


def _withdrawal(
    dataset: str, there: Mapping[str, Sequence[_There]], stay: Collection[str]
) -> Withdrawal:
    """The assigned records of a dataset, but for those that stay so."""
    records = [record for of_item in there.values() for record in of_item]
    gone = [one.external_id for one in records if one.assigned and one.id not in stay]
    return Withdrawal(dataset, tuple(gone))


def _there(argilla: Argilla, dataset: str) -> dict[str, list[_There]]:
    """The records of a dataset by item, in the order in which they came."""
    total = argilla.get(f"datasets/{dataset}/progress").get("total", 0)
    records: dict[str, _There] = {}
    # Records of the same moment have no order, so that one may be passed over between two pages.
    for _ in range(_LISTINGS):
        records.update((str(one["id"]), _read(one)) for one in argilla.records(dataset))
        if len(records) >= total:
            break
    found: dict[str, list[_There]] = {}
    for record in records.values():
        found.setdefault(item_id_of(record.external_id), []).append(record)
    return found


def _read(record: Mapping[str, Any]) -> _There:
    metadata = record.get("metadata") or {}
    return _There(
        id=str(record["id"]),
        external_id=str(record["external_id"]),
        state=str(metadata.get("state", "")),
        terms=Terms(metadata.get("content_hash", ""), metadata.get("meaning", "")),
        assigned=bool(metadata.get("reviewer")),
    )


def _match(there: Sequence[_There], terms: Terms) -> _There | None:
    """The record on the same terms, or else the latest of the item."""
    same = [record for record in there if record.terms == terms]
    found = same or there
    return found[-1] if found else None


def _stands(match: _There, state: str, terms: Terms) -> bool:
    """Whether the server has it already; a vector that is there does no harm."""
    return match.terms == terms and match.state in {state, f"{state}v"}


def _sending(told: _Told, row: int, match: _There | None, seen: dict[str, _Seen]) -> Sending | None:
    if match is None:
        return Sending("new", told.item_ids[row])
    if _stands(match, told.states[row], told.terms[row]):
        return None
    of_record = seen.get(match.external_id, _Seen(answered=True, suggested=frozenset()))
    if match.terms != told.terms[row] and of_record.answered:
        return Sending("beside", told.later_ids[row])
    return Sending("changed", match.external_id, match.id, of_record.suggested)


def _look_up(
    argilla: Argilla, dataset: str, external_ids: Sequence[str]
) -> Iterator[tuple[str, _Seen]]:
    """Look which records were answered, and which suggestions they have."""
    if not external_ids:
        return
    listed = argilla.get(f"datasets/{dataset}/questions")["items"]
    names = {question["id"]: question["name"] for question in listed}
    kept: dict[frozenset[str], frozenset[str]] = {}
    for record in argilla.named_records(dataset, external_ids, ["responses", "suggestions"]):
        suggested = frozenset(names[s["question_id"]] for s in record["suggestions"])
        # Most records have suggestions to the same questions: one set serves them all.
        suggested = kept.setdefault(suggested, suggested)
        yield str(record["external_id"]), _Seen(bool(record["responses"]), suggested)
