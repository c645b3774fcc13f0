"""What is known of a model at an endpoint: how it can be asked for a structured reply.

The ways form a ladder, the surest first:

===============  ==============================================================================
rung             how the reply gets its structure
===============  ==============================================================================
``decisions``    typed questions at ``/decisions``, answered with probabilities
``json_schema``  a chat completion that the endpoint holds to the reply's schema
``json_object``  a chat completion that is some JSON object; the schema stands in the prompt
``tool``         the arguments of a function that the model has to call
``text``         a chat completion without any constraint; broken JSON is repaired
===============  ==============================================================================

Names and versions of servers do not tell which rung holds: some reject a constraint, some take it
and ignore it. It is found out once, with the first items, and kept in the ledger.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from ..ledger.store import Ledger
from ..traffic.faults import Fault

Rung = Literal["decisions", "json_schema", "json_object", "tool", "text"]
RUNGS: tuple[Rung, ...] = get_args(Rung)
Hold = Literal["open", "holds", "best"]

_REJECTING = {400, 404, 405, 415, 422, 500, 501}
_NO_DECISIONS = {403, *_REJECTING}
_NOT_THERE = {404, 405, 501}
_LIMITS = ("max_completion_tokens", "max_tokens")
_FORM = {
    "json_schema": re.compile(r"response_format|json_schema|schema|grammar|structured", re.I),
    "json_object": re.compile(r"response_format|json_object|json mode|schema|grammar", re.I),
    "tool": re.compile(r"\btools?\b|tool_choice|\bfunctions?\b", re.I),
}
_UNSUPPORTED = re.compile(
    r"support|unavailable|unknown|invalid|unrecognized|unexpected|permitted|allowed|should be", re.I
)
_TOO_MUCH = re.compile(r"too (?:large|high|many)|at most|exceeds?|maximum|greater than", re.I)


@dataclass(frozen=True, slots=True)
class Capability:
    """How a model at an endpoint is asked."""

    rung: Rung
    limit: str = "max_tokens"
    """The parameter that limits the reply's length; empty when it takes none."""
    left_out: tuple[str, ...] = ()
    """Parameters that it rejects."""
    hold: Hold = "open"
    """``holds`` when a valid reply has come on the rung; ``best`` when no rung holds and this one
    gave the most; ``open`` before either."""
    notes: tuple[str, ...] = ()
    """What was learned, a sentence each."""

    @property
    def is_bounded(self) -> bool:
        """Whether something bounds the length, and so the price, of a reply."""
        return bool(self.limit) or self.rung == "decisions"

    def without(self, parameter: str, reason: str) -> Capability:
        """The same without a parameter; a limit is tried under its other name first."""
        note, left_out = f"{parameter} is left out ({reason})", (*self.left_out, parameter)
        if parameter not in _LIMITS:
            return self._noting(note, left_out=left_out)
        other = next(name for name in _LIMITS if name != parameter)
        if other in self.left_out:
            return self._noting(note, left_out=left_out, limit="")
        return self._noting(f"{other} in place of {parameter} ({reason})", left_out=left_out,
                            limit=other)  # fmt: skip

    def on(self, rung: Rung, reason: str) -> Capability:
        """The same on another rung."""
        note = f"{rung} in place of {self.rung} ({reason})"
        return self._noting(note, rung=rung, hold="open")

    def asks_like(self, other: Capability) -> bool:
        """Tell whether requests are made in the same way."""
        return (self.rung, self.limit, self.left_out) == (other.rung, other.limit, other.left_out)

    def text(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def _noting(self, note: str, **changes: Any) -> Capability:
        return replace(self, notes=(*self.notes, note), **changes)


def capability_of(text: str) -> Capability:
    """Read what ``Capability.text`` wrote."""
    given = json.loads(text)
    lists = {name: tuple(given[name]) for name in ("left_out", "notes")}
    return Capability(**{**given, **lists})


def recall(
    ledgers: Sequence[Ledger], base_url: str | None, model: str, ladder: Sequence[Rung]
) -> Capability | None:
    """Find what ledgers know of a model that may be asked on these rungs; none when nothing."""
    query = (
        "SELECT time, content FROM capability WHERE base_url = ? AND model = ? AND ladder = ?"
        " ORDER BY time DESC LIMIT 1"
    )
    key = (base_url or "", model, ",".join(ladder))
    found = [row for ledger in ledgers for row in ledger.query(query, *key)]
    return capability_of(str(max(found, key=str)[1])) if found else None


def keep(
    ledger: Ledger, base_url: str | None, model: str, ladder: Sequence[Rung], known: Capability
) -> None:
    """Add what is known now to a ledger."""
    time = datetime.now(UTC).isoformat(timespec="microseconds")
    row = (base_url or "", model, ",".join(ladder), time, known.text())
    ledger.insert(capability=[row])


def next_rung(rung: Rung, ladder: Sequence[Rung]) -> Rung | None:
    """The next lower rung of a ladder; none below the last.

    >>> next_rung("json_schema", ["decisions", "json_schema", "text"])
    'text'
    """
    return next((other for other in ladder if RUNGS.index(other) > RUNGS.index(rung)), None)


def learned(
    known: Capability, fault: Fault, *, sent: Sequence[str], ladder: Sequence[Rung]
) -> Capability | None:
    """Learn from a rejected request how the next one should be.

    Args:
        known: How the rejected request was made.
        fault: Its rejection.
        sent: The optional parameters that it had.
        ladder: The rungs that may be used.

    Returns:
        How to ask from now on; none when the rejection is about nothing that could be changed.
    """
    if fault.status != "error" or fault.remedy == "wait" or fault.code not in _NO_DECISIONS:
        return None
    lower = next_rung(known.rung, ladder)
    if known.rung == "decisions":
        return _without_decisions(known, fault, lower)
    unsupported = _UNSUPPORTED.search(fault.names) is not None
    if not unsupported and (fault.code >= 500 or known.hold != "open"):
        return None
    parameter = _named(sent, fault.names) if unsupported else None
    if parameter is not None:
        return known.without(parameter, fault.reason)
    words = _FORM.get(known.rung)
    rejected = words is not None and words.search(fault.names) is not None
    return known.on(lower, fault.reason) if rejected and lower else None


def _without_decisions(known: Capability, fault: Fault, lower: Rung | None) -> Capability | None:
    """Go on without decisions, which most endpoints do not have: that is not worth a note."""
    if known.hold != "open" or lower is None:
        return None
    return replace(known, rung=lower) if fault.code in _NOT_THERE else known.on(lower, fault.reason)


def _named(sent: Sequence[str], names: str) -> str | None:
    """Find the parameter that an error names first; a limit that is too large is no wrong name."""
    places = {name: found.start() for name in sent if (found := re.search(rf"\b{name}\b", names))}
    first = min(places, key=lambda name: places[name], default=None)
    return None if first in _LIMITS and _TOO_MUCH.search(names) else first
