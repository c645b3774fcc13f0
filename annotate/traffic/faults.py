"""What went wrong with a request, and what is to be done about it.

==========  ====================================================================================
remedy      meaning
==========  ====================================================================================
``wait``    the endpoint is asked too much: every worker slows down, then the request goes again
``again``   a passing fault: this request goes again after a while, a bounded number of times
``settle``  a fault of this item: it is recorded with its status, the run goes on
``stop``    no request can succeed: what is in flight is finished, and the run ends
==========  ====================================================================================
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property, partial
from typing import Any, Final, Literal

from ...records.errors import BenchprismError, BudgetReached, EndpointError
from ..ledger.outcome import Status

Remedy = Literal["wait", "again", "settle", "stop"]

_OUT_OF_MONEY = {"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"}
_FILTERED = {"content_filter", "content_policy_violation", "moderation_blocked"}
_TOO_LONG = {"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"}
_TOO_LONG_WORDS = ("context length", "context size", "context window", "too long")
_FLAGGED = re.compile(
    r"\bmoderation\b|\bcontent (?:management )?policy\b|\bsafety (?:system|filter)"
    r"|\b(?:input|prompt|content|message|request)\b[^.]{0,40}\bflagged\b",
    re.I,
)
"""How providers say without a code of their own that they filter what was asked."""
_MAY_BE_FILTERED = {400, 403, 451}
_PASSING = {408, 409, 425}
_OVERLOADED = {503, 529}
_ABOUT_EVERY_REQUEST = {400, 401, 403, 404, 405}
_LONGEST_NAMES = 2000


NO_JSON: Final = object()
"""In place of the content of a body that is not JSON."""


@dataclass(frozen=True)
class Response:
    """An HTTP response."""

    status_code: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: str

    @cached_property
    def content(self) -> Any:
        """The body's JSON, or ``NO_JSON``."""
        return decoded(self.body)


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with a request, and what is to be done."""

    remedy: Remedy
    reason: str
    status: Status = "error"
    """The item's status when the request is given up."""
    seconds: float | None = None
    """How long the endpoint asks to wait."""
    error: BenchprismError | None = None
    """What ends the run: always for ``stop``, and when the very first request meets it."""
    code: int = 0
    """The HTTP status; 0 when nothing came."""
    names: str = ""
    """What an error names as its cause: its ``param``, then its message."""

    @property
    def unreached(self) -> bool:
        """Whether not even a connection was made, so that nothing can have been done."""
        return self.remedy == "again" and self.code == 0 and self.error is not None


def decoded(body: str) -> Any:
    """Decode JSON; ``NO_JSON`` when it is none."""
    try:
        return json.loads(body.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return NO_JSON


def fault_of(response: Response, *, endpoint: str, model: str) -> Fault | None:
    """Classify a response; none when it is the answer that was asked for.

    Args:
        response: What came.
        endpoint: The endpoint's address, for the sentence that a person reads.
        model: The model that was asked, likewise.
    """
    code = response.status_code
    if code == 200:
        return _fault_in_success(response, endpoint)
    words = _error_words(response)
    reason = f"HTTP {code}: {words.message}".removesuffix(": ")
    fault = partial(Fault, reason=reason, code=code, names=words.names)
    if code == 402 or words.codes & _OUT_OF_MONEY:
        return fault("stop", error=_out_of_money(endpoint, words.message))
    if words.codes & _FILTERED or (code in _MAY_BE_FILTERED and _FLAGGED.search(words.names)):
        return fault("settle", status="filtered")
    if code == 413 or (code == 400 and _says_too_long(words)):
        return fault("settle", status="too_long")
    pause = _asked_to_wait(response.headers)
    if code == 429 or (code in _OVERLOADED and pause is not None):
        return fault("wait", seconds=pause)
    if code in _PASSING or code >= 500:
        return fault("again")
    if code not in _ABOUT_EVERY_REQUEST:
        return fault("settle")
    error = _refused_by(endpoint, model, code, words.message)
    return fault("settle" if code == 400 else "stop", error=error)


def fault_of_silence(error: Exception, *, endpoint: str, reached: bool) -> Fault:
    """Classify a request that got no response.

    Args:
        error: What the HTTP client raised.
        endpoint: The endpoint's address.
        reached: False when not even a connection was made.
    """
    reason = f"{type(error).__name__}: {error}".removesuffix(": ")
    unreachable = EndpointError(
        f"no connection to {endpoint} ({reason})",
        wanted="an OpenAI-compatible endpoint",
        mend="is it running? Check base_url and the network",
    )
    return Fault("again", reason, error=None if reached else unreachable)


@dataclass(frozen=True, slots=True)
class _ErrorWords:
    message: str
    codes: frozenset[str]
    names: str


def _error_words(response: Response) -> _ErrorWords:
    """Read an error body; codes stand under ``code`` or ``type``, by the provider's habit."""
    error = response.content
    if isinstance(error, dict) and isinstance(error.get("error"), dict | str):
        error = error["error"]
    if not isinstance(error, dict):
        text = error if isinstance(error, str) else response.body
        return _ErrorWords(_one_line(text), frozenset(), text[:_LONGEST_NAMES])
    codes = frozenset(str(error[key]).lower() for key in ("code", "type") if error.get(key))
    message = str(error.get("message") or _detail(error.get("detail")) or response.body)
    names = f"{error.get('param') or ''} {message}"
    return _ErrorWords(_one_line(message), codes, names[:_LONGEST_NAMES])


def _detail(given: Any) -> str:
    """Read the detail of an error: a text, or a list with the place and text of each."""
    if not isinstance(given, list):
        return str(given or "")
    parts = [part for part in given if isinstance(part, dict)]
    return "; ".join(f"{part.get('loc', '')}: {part.get('msg', '')}" for part in parts)


def _one_line(text: str) -> str:
    folded = " ".join(text.encode("utf-8", "replace").decode().split())
    return folded if len(folded) <= 200 else f"{folded[:197]}..."


def _fault_in_success(response: Response, endpoint: str) -> Fault | None:
    """Find the fault in a 200: a body that is cut off, or an error dressed as success."""
    body = response.content
    if body is NO_JSON:
        return Fault("again", "HTTP 200 with a body that is not JSON")
    error = body.get("error") if isinstance(body, dict) else None
    if not error or body.get("choices") or body.get("answers"):
        return None
    words = _error_words(response)
    reason = f"HTTP 200 with an error: {words.message}"
    if words.codes & _OUT_OF_MONEY:
        return Fault("stop", reason, error=_out_of_money(endpoint, words.message))
    if words.codes & _FILTERED:
        return Fault("settle", reason, "filtered")
    if words.codes & {"429", "rate_limit_exceeded"}:
        return Fault("wait", reason, seconds=_asked_to_wait(response.headers))
    return Fault("again", reason)


def _says_too_long(words: _ErrorWords) -> bool:
    message = words.message.lower()
    return bool(words.codes & _TOO_LONG) or any(word in message for word in _TOO_LONG_WORDS)


def _out_of_money(endpoint: str, message: str) -> BudgetReached:
    return BudgetReached(
        f"the account at {endpoint} has no quota left ({message})",
        wanted="quota for the items that are left",
        mend="raise it, then run the same command again: what came is saved",
    )


def _refused_by(endpoint: str, model: str, code: int, message: str) -> EndpointError:
    if code in {401, 403}:
        return EndpointError(
            f"{endpoint} rejects the key (HTTP {code}: {message})",
            wanted="a key that may use the endpoint",
            mend="check OPENAI_API_KEY in the environment or in .env",
        )
    return EndpointError(
        f"{endpoint} refuses the request for {model!r} (HTTP {code}: {message})",
        wanted="a chat completion",
        mend="check the annotator's model, base_url and, if given, rung in benchprism.yaml",
    )


def _asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Read how long to wait: ``retry-after-ms``, or ``retry-after`` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
