"""Files of answers into the ledger: those that a page saved, and sheets that were filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ....records.errors import InputError
from ....records.files import reason, remedy
from ...ledger.store import Ledger
from ..recording import (
    Recorded,
    record_responses,
    recorded_responses,
    recorded_states,
    request_key,
)
from ..responses import Response, in_utc
from .page_reading import read_page
from .returned import Known, Returned
from .sheet_reading import is_sheet, read_sheet


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one file."""

    path: Path
    recorded: Recorded
    faults: tuple[str, ...]
    """What was not taken, each with its place and the reason."""
    pending: int
    """Rows of a sheet that nobody has answered yet."""
    changed: int
    """Responses about another text than the item has today; they are kept and do not count."""
    ahead: int
    """Responses of a time that was still to come; they are taken as given when they came in."""


def read_returned(path: Path, known: Known, reviewer: str | None = None) -> Returned:
    """Read a file of answers; its content says what it is.

    Args:
        path: The file.
        known: What the answers have to fit.
        reviewer: Who gave them, in place of the names in the file.

    Raises:
        InputError: the file cannot be read, is neither, is damaged, or is another project's.
    """
    text = _text(path)
    if text.lstrip().startswith("{"):
        return read_page(path, text, known, reviewer)
    if is_sheet(text):
        changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        return read_sheet(path, text, changed.isoformat(), known, reviewer)
    raise InputError(
        f"{path} is neither a file that a review page saved nor a review sheet",
        wanted="JSON, or CSV whose first column is 'item_id'",
        mend="check the path",
    )


def record_returned(ledger: Ledger, returned: Returned) -> Imported:
    """Put the responses of a file into the ledger; what it has already is left alone.

    Raises:
        InputError: the ledger cannot be written.
    """
    responses = returned.responses
    if returned.via == "sheet":
        responses = [*_as_known(ledger, responses)]
    else:
        responses = [*_as_saved(ledger, returned)]
    contents = returned.known.items.contents
    return Imported(
        path=returned.path,
        recorded=record_responses(ledger, responses, returned.form),
        faults=tuple(returned.faults),
        pending=returned.pending,
        changed=sum(contents[one.item_id] != one.content_hash for one in responses),
        ahead=returned.ahead,
    )


def _as_known(ledger: Ledger, responses: list[Response]) -> Iterator[Response]:
    """Give a row that the ledger has the time that it has there.

    A sheet has no times of its own; a copy of the file, or a sheet that was saved again, would
    otherwise bring every row once more.
    """
    known = {request_key(one): one for one in recorded_responses(ledger) if one.via == "sheet"}
    for response in responses:
        before = known.get(request_key(response))
        same = before is not None and before.raw == response.raw
        yield replace(response, time=before.time) if before and same else response


def _as_saved(ledger: Ledger, returned: Returned) -> Iterator[Response]:
    """Give a response that the ledger has the time that it has there.

    A page gives each change a time of its own: what differs under the same one was changed after
    the page had saved it, is told, and is not taken.
    """
    known = {_state(one): one for one in recorded_states(ledger) if one.via == "page"}
    for response in returned.responses:
        before = known.get(_state(response))
        if before is None:
            yield response
        elif _said(before) == _said(response):
            yield replace(response, time=before.time)
        else:
            returned.fault(
                response.item_id,
                "not what the ledger has of the same time: changed after it was saved",
            )


def _state(response: Response) -> tuple[str, str]:
    """Identify a state of a response by the time that its page gave it."""
    return request_key(response), in_utc(json.loads(response.raw)["time"])


def _said(response: Response) -> tuple[object, ...]:
    return response.status, response.mode, dict(response.values), response.note


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({reason(error)})",
            wanted="a file of answers",
            mend=remedy(error),
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text (at byte {error.start + 1})",
            wanted="a file in UTF-8",
            mend="save it again: the answers from the page, a sheet as CSV in UTF-8",
        ) from error
