"""The Batch API of an endpoint: files of requests that are answered within a day, for less."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from ..records.errors import EndpointError
from .endpoint import EndpointSettings, on_this_machine
from .faults import Response, fault_of

if TYPE_CHECKING:
    import openai
    from openai.types import Batch

ENDED = frozenset({"completed", "expired", "cancelled", "failed"})

_TAG = "benchprism"
_CLOCKS_DIFFER = 3600.0
_READS = 4
"""Attempts at a request that only reads; one that makes something is not repeated."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """What the endpoint says about a batch."""

    batch_id: str
    status: str
    total: int
    completed: int
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


class BatchService:
    """Files and batches at an endpoint; a context manager."""

    def __init__(self, settings: EndpointSettings) -> None:
        """Prepare the client; nothing is sent."""
        import openai

        self._settings = settings
        self._http = openai.DefaultHttpxClient(trust_env=not on_this_machine(settings.base_url))
        self._client = openai.OpenAI(
            base_url=settings.base_url,
            api_key=settings.api_key,
            max_retries=0,
            http_client=self._http,
        )
        self._reading = self._client.with_options(max_retries=_READS - 1)

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
        with self._spoken():
            return self._client.files.create(file=(f"{name}.jsonl", file), purpose="batch").id

    def create(self, file_id: str, key: str) -> str:
        """Start a batch under a key of our own; returns the endpoint's id for it."""
        with self._spoken():
            return self._client.batches.create(
                input_file_id=file_id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_TAG: key},
            ).id

    def find(self, key: str, since: datetime) -> str | None:
        """Find the batch that was started under a key; none when none was since then."""
        earliest = since.timestamp() - _CLOCKS_DIFFER
        with self._spoken():
            for batch in self._reading.batches.list(limit=100):
                if (batch.metadata or {}).get(_TAG) == key:
                    return batch.id
                if batch.created_at < earliest:
                    break
        return None

    def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is."""
        with self._spoken():
            return _state(self._reading.batches.retrieve(batch_id))

    def lines(self, file_id: str) -> Iterator[dict[str, Any] | None]:
        """Read a file of results line by line; none for a line that cannot be read."""
        opened = self._reading.files.with_streaming_response.content(file_id)
        with self._spoken(), opened as response:
            rest = b""
            for part in response.iter_bytes():
                *whole, rest = (rest + part).split(b"\n")
                yield from map(_line, filter(None, whole))
            if rest:
                yield _line(rest)

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Say in a sentence what goes wrong with the endpoint."""
        import openai

        address = str(self._client.base_url).rstrip("/")
        try:
            yield
        except openai.APIStatusError as error:
            raise self._refused(error, address) from error
        except openai.OpenAIError as error:
            raise EndpointError(
                f"no answer from {address} ({error.__cause__ or error})",
                wanted="an endpoint with files and batches",
                mend="run the same command again: what was sent is known",
            ) from error

    def _refused(self, error: openai.APIStatusError, address: str) -> Exception:
        response = Response(error.status_code, dict(error.response.headers), error.response.text)
        fault = fault_of(response, endpoint=address, model=self._settings.model)
        if fault and fault.error and error.status_code != 404:
            return fault.error
        return EndpointError(
            f"{address} refuses it ({fault.reason if fault else error})",
            wanted="an endpoint with files and batches",
            mend="check the annotator's base_url, or annotate without --batch",
        )


def _state(batch: Batch) -> BatchState:
    counts = batch.request_counts
    ended = {
        "completed": batch.completed_at,
        "expired": batch.expired_at,
        "cancelled": batch.cancelled_at,
        "failed": batch.failed_at,
    }.get(batch.status)
    problems = (batch.errors.data if batch.errors else None) or []
    return BatchState(
        batch_id=batch.id,
        status=batch.status,
        total=counts.total if counts else 0,
        completed=counts.completed if counts else 0,
        failed=counts.failed if counts else 0,
        files=tuple(name for name in (batch.output_file_id, batch.error_file_id) if name),
        ended_at=_iso(ended or batch.created_at) if batch.status in ENDED else "",
        problem="; ".join(str(problem.message) for problem in problems),
    )


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


def _line(text: bytes) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) else None
