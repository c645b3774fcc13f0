"""What an annotation will take: calls, tokens and price of each way of asking, before it is sent.

Tokens are counted without the model's vocabulary, then corrected by what the ledger has: replies of
the same model say how many tokens such requests really had, and how long the replies are.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Attribute, Catalogue
from ...prompts.messages import Prompt, item_message
from ...records.items.record import item_from_row
from ..asking.annotator import Annotator
from ..asking.plan import Asking
from ..ledger.outcome import Status
from ..ledger.store import Ledger
from .prices import Price
from .tokens import count_tokens

_NOTE_TOKENS = 40
_NUMBER_TOKENS = 4  # the line above an item, where several share a call
_SAMPLE = 200
_FEWEST_REPLIES = 10
_REPLIES = """
    SELECT item_id, content_hash, prompt_hash, prompt_tokens, completion_tokens, items FROM reply
    WHERE model = ? AND status = 'ok' AND prompt_tokens > 0 AND completion_tokens > 0
    ORDER BY time DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the ledger's counts compare with ours, and how far an estimate may be off."""

    replies: int = 0
    """Replies that were compared; 0 when there are too few."""
    prompt: float = 1.0
    """Tokens of a request for each that we count."""
    completion: float = 1.0
    """Tokens of a reply for each that we expect."""

    @property
    def prompt_margin(self) -> float:
        """How far the tokens of the requests may be off, as a share of them."""
        return 0.05 if self.replies else 0.2

    @property
    def completion_range(self) -> tuple[float, float]:
        """The least and the most tokens of the replies, as multiples of what is expected."""
        return (0.85, 1.25) if self.replies else (0.6, 2.5)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the missing requests of one annotator take, asked in one way."""

    asking: Asking
    items: int
    requests: int
    calls: int
    prompt_tokens: int
    shared_tokens: int
    """Part of the prompt tokens that repeats the rubric of an earlier call: cached at best."""
    completion_tokens: int
    too_long: int
    """Requests that will not be sent."""
    price: tuple[float, float] | None
    """From short replies and a rubric that is always cached, to long replies and no cache."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """The estimate for the way that was chosen, and for others."""

    calibration: Calibration
    chosen: Estimate
    others: tuple[Estimate, ...]


@dataclass(frozen=True, slots=True)
class _Message:
    kind: str
    tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class _Load:
    """The requests that share a prompt."""

    prompt: Prompt
    messages: list[_Message]
    alone: int = 0
    """How many of them share no call."""


def estimates(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledgers: Sequence[Ledger],
    *,
    others: Sequence[Asking] = (),
    retry: Collection[Status] = (),
    batch: bool = False,
) -> Estimates:
    """Estimate what an annotator's missing requests take.

    Args:
        annotator: Who is asked, and how.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: What is asked.
        ledgers: What was asked before.
        others: Other ways to ask about the same items.
        retry: How a request must have ended to be made again.
        batch: Whether the calls go as batches.
    """
    calibration = calibrated(annotator, items, catalogue, ledgers, [annotator.asking, *others])
    missing: dict[str, _Load] = {}
    messages: dict[str, _Message] = {}
    for request in annotator.plan(catalogue).requests(items, ledgers, retry=retry):
        item, prompt = request.item, request.prompt
        if item.item_id not in messages:
            messages[item.item_id] = _counted(item.kind, item_message(item))
        load = missing.get(prompt.hash, _Load(prompt, []))
        load.messages.append(messages[item.item_id])
        missing[prompt.hash] = _Load(prompt, load.messages, load.alone + request.alone)

    def estimate(asking: Asking, loads: Iterable[_Load]) -> Estimate:
        return _estimate(asking, [*loads], len(messages), annotator, calibration, batch=batch)

    return Estimates(
        calibration,
        estimate(annotator.asking, missing.values()),
        tuple(
            estimate(asking, _loads(annotator.plan(catalogue, asking).prompts, messages.values()))
            for asking in others
        ),
    )


def calibrated(
    annotator: Annotator,
    items: pa.Table,
    catalogue: Catalogue,
    ledgers: Sequence[Ledger],
    askings: Sequence[Asking],
) -> Calibration:
    """Compare our counts with the latest replies of the model about items that are there."""
    prompts = {p.hash: p for asking in askings for p in annotator.plan(catalogue, asking).prompts}
    replies = [reply for ledger in ledgers for reply in _replies(ledger, annotator.endpoint.model)]
    wanted = pa.array({reply[0] for reply in replies}, pa.string())
    rows = items.filter(pc.is_in(items["item_id"], value_set=wanted)).to_pylist()
    known = {(row["item_id"], row["content_hash"]): item_from_row(row) for row in rows}
    compared = ours = theirs = expected = written = 0
    for item_id, content_hash, prompt_hash, prompt_tokens, completion_tokens, together in replies:
        item, prompt = known.get((item_id, content_hash)), prompts.get(prompt_hash)
        if item is None or prompt is None:
            continue
        compared += 1
        ours += round(_fixed_tokens(prompt.of(together)) / together)
        ours += count_tokens(item_message(item)) + _NUMBER_TOKENS * prompt.several
        theirs += prompt_tokens
        expected += _expected_tokens(prompt.attributes)
        written += completion_tokens
    if compared < _FEWEST_REPLIES:
        return Calibration()
    return Calibration(compared, theirs / ours, written / expected)


def _estimate(
    asking: Asking,
    loads: Sequence[_Load],
    items: int,
    annotator: Annotator,
    calibration: Calibration,
    *,
    batch: bool,
) -> Estimate:
    calls = prompt_tokens = shared = completion = too_long = requests = 0
    for load in loads:
        room = annotator.max_prompt_characters - len(load.prompt.system)
        sent = [message for message in load.messages if message.characters <= room]
        requests += len(load.messages)
        too_long += len(load.messages) - len(sent)
        alone = min(load.alone, len(sent))
        own_calls = alone - (alone - len(sent)) // asking.items_per_call
        fixed = _fixed_tokens(load.prompt.of(asking.items_per_call))
        calls += own_calls
        shared += max(0, own_calls - 1) * fixed
        prompt_tokens += own_calls * fixed + sum(message.tokens for message in sent)
        prompt_tokens += _NUMBER_TOKENS * len(sent) * load.prompt.several
        completion += len(sent) * _expected_tokens(load.prompt.attributes)
    most = (requests - too_long) * annotator.endpoint.max_output_tokens
    return _priced(
        Estimate(
            asking=asking,
            items=items,
            requests=requests,
            calls=calls,
            prompt_tokens=round(prompt_tokens * calibration.prompt),
            shared_tokens=round(shared * calibration.prompt),
            completion_tokens=min(most, round(completion * calibration.completion)),
            too_long=too_long,
            price=None,
        ),
        annotator.price,
        calibration,
        most_completion=most,
        batch=batch,
    )


def _priced(
    estimate: Estimate,
    price: Price | None,
    calibration: Calibration,
    *,
    most_completion: int,
    batch: bool,
) -> Estimate:
    if price is None:
        return estimate
    margin, (short, long) = calibration.prompt_margin, calibration.completion_range
    cached, fresh = estimate.shared_tokens, estimate.prompt_tokens - estimate.shared_tokens
    low = price.of_tokens(
        fresh * (1 - margin),
        cached * (1 - margin),
        estimate.completion_tokens * short,
        batch=batch,
    )
    high = price.of_tokens(
        estimate.prompt_tokens * (1 + margin),
        0,
        min(most_completion, estimate.completion_tokens * long),
        batch=batch,
    )
    return replace(estimate, price=(low, high))


def _loads(prompts: Sequence[Prompt], messages: Iterable[_Message]) -> Iterator[_Load]:
    """What other prompts carry, when they ask about the same items."""
    all_messages = [*messages]
    for prompt in prompts:
        yield _Load(prompt, [message for message in all_messages if message.kind == prompt.kind])


def _replies(ledger: Ledger, model: str) -> Iterator[tuple[str, str, str, int, int, int]]:
    rows = ledger.query(_REPLIES, model, _SAMPLE)
    return cast(Iterator[tuple[str, str, str, int, int, int]], rows)


def _counted(kind: str, message: str) -> _Message:
    return _Message(kind, count_tokens(message), len(message))


def _fixed_tokens(prompt: Prompt) -> int:
    """Tokens of a request without its items."""
    return count_tokens(prompt.system) + count_tokens(json.dumps(prompt.schema))


def _expected_tokens(attributes: Sequence[Attribute]) -> int:
    """Tokens of a reply about one item, with the first value of each attribute."""
    firsts = {attribute.id: next(iter(attribute.values)) for attribute in attributes}
    values = {
        attribute.id: [firsts[attribute.id]] if attribute.type == "labels" else firsts[attribute.id]
        for attribute in attributes
    }
    return _NOTE_TOKENS + count_tokens(json.dumps({"note": "", "values": values, "doubt": []}))
