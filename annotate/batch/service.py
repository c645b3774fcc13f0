"""The Batch API of an endpoint: files of requests that are answered within a day, for less."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from ...records.errors import BudgetReached, EndpointError
from ..traffic.endpoint import EndpointSettings, on_this_machine
from ..traffic.faults import Response, fault_of
from ..traffic.patience import Patience

if TYPE_CHECKING:
    import openai
    from openai import _legacy_response

T = TypeVar("T")

ENDED = frozenset({"completed", "expired", "cancelled", "failed"})

_QUEUE_FULL = ("enqueued token limit", "too many batches", "batch queue")
_TAG = "benchprism"
_CLOCKS_DIFFER = 3600.0
_READS = 4
"""Attempts at a request, while the faults are passing ones."""
_AT_ONCE = 1 << 20
_PAGE = 100
_WANTED: Final = "an endpoint with files and batches"
_AGAIN: Final = "run the same command again: what was sent is known"


@dataclass(frozen=True, slots=True)
class BatchState:
    """What the endpoint says about a batch."""

    batch_id: str
    status: str
    completed: int | None
    """Calls that were answered; none where the endpoint does not count them."""
    failed: int
    files: tuple[str, ...]
    """Ids of the output and of the error file, as far as there are any."""
    ended_at: str
    """ISO 8601, UTC; empty while it has not ended."""
    problem: str
    """Why it failed as a whole."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""
        return self.status in ENDED


class GoneError(EndpointError):
    """The endpoint does not know a batch, or a file of one."""


class PassingError(EndpointError):
    """The endpoint did not answer, or could not; another attempt may go better."""

    seconds: float | None = None
    """How long it asks to wait."""


class BatchService:
    """Files and batches at an endpoint; a context manager.

    A request that fails for a passing reason is made again, four times in all. Nothing starts twice
    by that: whether a batch was made is looked up first.
    """

    def __init__(self, settings: EndpointSettings, patience: Patience | None = None) -> None:
        """Prepare the client; nothing is sent."""
        import openai

        self._settings = settings
        self._patience = patience or Patience()
        self._rng = random.Random()
        self._client = openai.OpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(trust_env=not on_this_machine(settings.base_url)),
        )
        self._address = str(self._client.base_url).rstrip("/")

    def __enter__(self) -> BatchService:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def upload(self, file: IO[bytes], name: str) -> str:
        """Upload a file of requests; returns its id.

        Raises:
            EndpointError: the endpoint cannot be reached, or takes no such file.
            BudgetReached: the account has no quota left.
        """

        def upload() -> str:
            file.seek(0)
            files = self._client.files.with_raw_response
            made = files.create(file=(f"{name}.jsonl", file), purpose="batch")
            return str(self._object(made)["id"])

        return self._answered(upload)

    def create(self, file_id: str, key: str) -> str:
        """Start a batch under a key of our own; returns the endpoint's id for it."""
        since = datetime.now(UTC)
        tried = False

        def create() -> str:
            nonlocal tried
            found = self._found(key, since) if tried else None
            if found is not None:
                return found
            tried = True
            made = self._client.batches.with_raw_response.create(
                input_file_id=file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_TAG: key},
            )
            return str(self._object(made)["id"])

        return self._answered(create)

    def find(self, key: str, since: datetime) -> str | None:
        """Find the batch that was started under a key; none when none was since then."""
        return self._answered(lambda: self._found(key, since))

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        batches = self._client.batches.with_raw_response
        return self._answered(lambda: _state(self._object(batches.retrieve(batch_id))))

    def cancel(self, batch_id: str) -> None:
        """Ask that a batch be ended."""
        batches = self._client.batches.with_raw_response
        self._answered(lambda: batches.cancel(batch_id))

    def lines(self, file_id: str) -> Iterator[dict[str, Any] | None]:
        """Read a file of results line by line; none for a line that cannot be read."""
        with self._answered(lambda: self._download(file_id)) as file:
            yield from (_line(text) for text in file if text.strip())

    def _download(self, file_id: str) -> IO[bytes]:
        """Keep a file here as a whole before anything of it is read."""
        file = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            opened = self._client.files.with_streaming_response.content(file_id)
            with opened as response:
                for part in response.iter_bytes(_AT_ONCE):
                    file.write(part)
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file

    def _found(self, key: str, since: datetime) -> str | None:
        import openai

        earliest = since.timestamp() - _CLOCKS_DIFFER
        after: str | openai.Omit = openai.omit
        while True:
            listed = self._client.batches.with_raw_response.list(limit=_PAGE, after=after)
            page = self._object(listed, "data")
            batches = [batch for batch in page["data"] or [] if isinstance(batch, dict)]
            for batch in batches:
                if (batch.get("metadata") or {}).get(_TAG) == key:
                    return str(batch["id"])
            if not (batches and page.get("has_more")):
                return None
            if (_number(batches[-1].get("created_at")) or earliest) < earliest:
                return None
            after = str(batches[-1].get("id"))

    def _object(
        self, answer: _legacy_response.LegacyAPIResponse[Any], needed: str = "id"
    ) -> dict[str, Any]:
        """Decode an answer of which a part is needed."""
        try:
            found = json.loads(answer.text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found.get(needed) is not None:
            return found
        begin = " ".join(answer.text[:80].split())
        raise PassingError(
            f"{self._address} answers with what is no answer to that ({begin!r})",
            wanted=_WANTED,
            mend=_AGAIN,
        )

    def _answered(self, ask: Callable[[], T]) -> T:
        """Ask until there is an answer, or no patience is left."""
        for attempt in count(1):
            try:
                with self._spoken():
                    return ask()
            except PassingError as error:
                if attempt == _READS:
                    raise
                own = self._patience.wait(attempt, self._rng)
                told = min(error.seconds or 0.0, self._patience.longest_wait)
                time.sleep(max(own, told))
        raise AssertionError

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Say in a sentence what goes wrong with the endpoint."""
        import httpx2
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise self._refused(error) from error
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise PassingError(
                f"no answer from {self._address} ({error.__cause__ or error})",
                wanted=_WANTED,
                mend=_AGAIN,
            ) from error

    def _refused(self, error: openai.APIStatusError) -> Exception:
        headers = {name.lower(): value for name, value in error.response.headers.items()}
        response = Response(error.status_code, headers, _text(error))
        fault = fault_of(response, endpoint=self._address, model=self._settings.model)
        reason = fault.reason if fault else str(error)
        if any(words in reason.lower() for words in _QUEUE_FULL):
            return EndpointError(
                f"{self._address} takes no more batches now ({reason})",
                wanted="room in its queue",
                mend="collect what is done, then submit again: what was sent is known",
            )
        if fault and (isinstance(fault.error, BudgetReached) or error.status_code in {401, 403}):
            return fault.error or _no(self._address, reason)
        if fault and fault.remedy in {"wait", "again"}:
            passing = PassingError(f"{self._address} fails ({reason})", wanted=_WANTED, mend=_AGAIN)
            passing.seconds = fault.seconds
            return passing
        kind = GoneError if error.status_code == 404 else EndpointError
        return _no(self._address, reason, kind)


def _no(address: str, reason: str, kind: type[EndpointError] = EndpointError) -> EndpointError:
    return kind(
        f"{address} refuses it ({reason})",
        wanted=_WANTED,
        mend="check the annotator's base_url, or annotate without --batch",
    )


def _text(error: openai.APIStatusError) -> str:
    """The body of an error; one that broke off, or was not read, is as good as none."""
    import httpx2

    try:
        error.response.read()
        return error.response.text
    except (httpx2.HTTPError, httpx2.StreamError):
        return ""


def _state(batch: Mapping[str, Any]) -> BatchState:
    status = str(batch.get("status"))
    counts = batch.get("request_counts")
    counts = counts if isinstance(counts, dict) and counts.get("total") != 0 else {}
    ended = _number(batch.get(f"{status}_at")) or _number(batch.get("created_at")) or 0
    errors = batch.get("errors")
    problems = (errors.get("data") if isinstance(errors, dict) else None) or []
    files = (batch.get("output_file_id"), batch.get("error_file_id"))
    return BatchState(
        batch_id=str(batch["id"]),
        status=status,
        completed=_number(counts.get("completed")),
        failed=_number(counts.get("failed")) or 0,
        files=tuple(str(name) for name in files if name),
        ended_at=_iso(ended) if status in ENDED else "",
        problem="; ".join(str(one.get("message")) for one in problems if isinstance(one, dict)),
    )


def _number(given: object) -> int | None:
    fits = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 2**40
    return int(given) if fits else None  # type: ignore[call-overload]


def _iso(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC).isoformat(timespec="microseconds")


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None
