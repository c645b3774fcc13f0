"""What comes back from a page or a sheet, checked answer by answer.

A file that is not this project's is refused as a whole. A response that cannot be taken as it
stands is told with its place, and the others are taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ....prompts.catalogue import Catalogue
from ....records.errors import InputError
from ..argilla.pull import ProjectItems
from ..form import Mode, Question, ReviewForm
from ..responses import Response, ResponseStatus, Via, in_utc, read_answers

LONGEST_NAME = 64
_NO_NAME = re.compile(r"[\x00-\x1f\x7f-\x9f#:]")


@dataclass(frozen=True, slots=True)
class Known:
    """What a file's answers have to fit."""

    project: str
    catalogues: Mapping[str, Catalogue]
    """By hash: today's, and those that annotations were made under."""
    items: ProjectItems
    """The project's items as they are today."""

    def catalogue(self, path: Path, project: str, catalogue: str) -> Catalogue:
        """Find the catalogue of a file.

        Raises:
            InputError: the file belongs to another project, or nobody here knows its catalogue.
        """
        if project != self.project:
            raise InputError(
                f"{path} belongs to the project {project!r}",
                wanted=f"answers to the project {self.project!r}",
                mend="import it in the project whose page or sheet it is",
            )
        if catalogue not in self.catalogues:
            raise InputError(
                f"{path} answers a catalogue that the project does not know ({catalogue!r})",
                wanted="the project's catalogue, or one that its ledger has",
                mend="take back the catalogue with which the page or sheet was made",
            )
        return self.catalogues[catalogue]


@dataclass(frozen=True, slots=True)
class Given:
    """One response as it stands in a file."""

    place: str
    """Where in the file."""
    item_id: str
    content_hash: str
    user: str
    status: ResponseStatus
    mode: Mode
    answers: Mapping[str, object]
    """Wire values by attribute."""
    note: str
    time: str
    suggested: Mapping[str, object]
    """Wire values by attribute."""
    raw: str


@dataclass(slots=True)
class Returned:
    """The responses of one file."""

    path: Path
    via: Via
    page: str
    """The id of the page or the sheet."""
    form: ReviewForm
    known: Known
    responses: list[Response] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What was not taken, each with its place and the reason."""
    pending: int = 0
    """Items of a sheet that nobody has answered yet."""
    ahead: int = 0
    """Responses of a time that is still to come; it is not believed."""
    _seen: set[tuple[str, str]] = field(default_factory=set)

    def fault(self, place: str, reason: str) -> None:
        """Note that something is not taken."""
        self.faults.append(f"{self.path}, {place}: {reason}")

    def take(self, given: Given) -> None:
        """Take a response, or note why not."""
        try:
            self.responses.append(self._checked(given))
        except ValueError as error:
            self.fault(given.place, str(error))

    def _checked(self, given: Given) -> Response:
        kind = self.known.items.kinds.get(given.item_id)
        if kind is None:
            raise ValueError(f"the unknown item {given.item_id!r}")
        check_name(given.user)
        who = (given.item_id, given.user)
        if who in self._seen:
            raise ValueError(f"{given.item_id!r} is answered by {given.user!r} a second time")
        values, invalid = read_answers(self.form, given.answers)
        _check_answers(self.form, kind, given, invalid)
        suggested, _ = read_answers(self.form, given.suggested)
        _check_mode(given)
        time = self._time(given.time)
        self._seen.add(who)
        return Response(
            item_id=given.item_id,
            content_hash=given.content_hash,
            user=given.user,
            status=given.status,
            values=values,
            note=given.note,
            time=time,
            via=self.via,
            mode=given.mode,
            dataset=f"{self.via}-{self.page}",
            suggested=suggested,
            raw=given.raw,
            dimension=self.form.dimension,
            kind=kind,
        )

    def _time(self, text: str) -> str:
        """Read a time; of one that is still to come, now.

        The clock was wrong, and the response would win over all that is answered until then.
        """
        try:
            time = in_utc(text)
        except (ValueError, OverflowError) as error:
            raise ValueError(f"the time {text!r} is none") from error
        now = in_utc(datetime.now(UTC).isoformat())
        self.ahead += time > now
        return min(time, now)


def check_name(name: str) -> None:
    """Check a reviewer's name.

    Raises:
        ValueError: it is none; the message says why.
    """
    if not name.strip() or name != name.strip():
        raise ValueError(f"no reviewer's name ({name!r})")
    if len(name) > LONGEST_NAME or _NO_NAME.search(name):
        raise ValueError(
            f"{name[:70]!r} is no name of up to {LONGEST_NAME} characters without '#' and ':'"
        )


def _check_mode(given: Given) -> None:
    if given.mode == "blind" and given.suggested:
        raise ValueError("'blind', and with suggestions: it was changed after it was saved")


def _check_answers(form: ReviewForm, kind: str, given: Given, invalid: Mapping[str, str]) -> None:
    asked = {question.name: question for question in form.asked_of(kind)}
    for name in given.answers:
        if name not in asked:
            raise ValueError(f"{name!r} is not asked about {given.item_id!r}")
    for name, reason in invalid.items():
        raise ValueError(f"{name}: {reason}")
    if given.status == "submitted":
        _check_complete(asked, given.answers)


def _check_complete(asked: Mapping[str, Question], answers: Mapping[str, Any]) -> None:
    missing = [name for name, q in asked.items() if q.required and name not in answers]
    if missing:
        raise ValueError(f"submitted without an answer to {', '.join(missing)}")
