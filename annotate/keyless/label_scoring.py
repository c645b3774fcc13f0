"""Label scoring: read from a local model how likely each value is, instead of letting it write.

A small model that is made to write valid JSON writes valid JSON, and little else: it favours the
same labels whatever it reads. Its probabilities hold more. Batch calibration subtracts from each
label's log-probability its mean over the items (after Zhou et al., Batch Calibration, ICLR 2024),
which takes out what the model favours by itself. It needs no labelled items, but many of mixed
content, and values none of which is rare: truth values and levels are not calibrated.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from ...prompts.catalogue import Attribute, Value
from ...prompts.messages import Message
from ..ledger.outcome import Usage, total
from ..ledger.store import digest
from .label_tree import Fork, forks, log_probability
from .llama_cpp import LlamaCpp, PromptTooLongError
from .proposals import Proposal

FEWEST_TO_CALIBRATE = 30
"""With fewer items a label's mean says more about the items than about the model."""
CONFIDENCE_TO_PROPOSE = 0.5
"""With less, no value is likelier than all others together."""

_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Scored:
    """How likely a model finds an attribute's values for one item."""

    log_probabilities: tuple[float, ...]
    """In the order of ``attribute.values``; NaN when the item does not fit the server's context."""
    usage: Usage

    @property
    def fits(self) -> bool:
        """Whether the item fits the server's context."""
        return not math.isnan(self.log_probabilities[0])


def proposals(
    items: pa.Table,
    attribute: Attribute,
    scores: npt.NDArray[np.float64],
    *,
    confidence_to_propose: float = CONFIDENCE_TO_PROPOSE,
) -> Iterator[Proposal]:
    """Give each item the value that a model finds likeliest; abstain where it is not sure enough.

    Labels are calibrated over the items from ``FEWEST_TO_CALIBRATE`` on. The confidence is the
    value's probability among the attribute's values. A tie is no value. About an item without
    scores nothing is proposed.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        attribute: What was asked.
        scores: What ``score_values`` gave for these items.
        confidence_to_propose: With less, the annotator abstains.
    """
    if attribute.type == "label" and _whole(scores).sum() >= FEWEST_TO_CALIBRATE:
        scores = batch_calibrated(scores)
    values = list(attribute.values)
    names = zip(items["item_id"].to_pylist(), items["content_hash"].to_pylist(), strict=True)
    for (item_id, content_hash), row in zip(names, np.exp(scores), strict=True):
        best = int(row.argmax())
        if np.isnan(row[0]):
            continue
        if row[best] >= confidence_to_propose and (row == row[best]).sum() == 1:
            yield Proposal(item_id, content_hash, attribute.id, values[best], float(row[best]))
        else:
            yield Proposal(item_id, content_hash, attribute.id, None, None)


def score_values(
    items: pa.Table,
    attribute: Attribute,
    base_url: str,
    *,
    parallel: int = 1,
    scored: Callable[[int, Scored], None] = lambda _row, _scored: None,
) -> npt.NDArray[np.float64]:
    """Log-probabilities of an attribute's values, item by item.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        attribute: What is asked; one with a single value an item.
        base_url: A llama.cpp server, such as ``local_server`` yields.
        parallel: Requests in flight at once; no more than the server works on.
        scored: Called with the row of each item and what came, as soon as it came.

    Returns:
        One row an item, one column a value in the order of ``attribute.values``; the probabilities
        of a row sum to one. NaN for an item that does not fit the server's context.

    Raises:
        EndpointError: the server cannot be reached, or is not llama.cpp's.
    """
    return asyncio.run(_score_values(items, attribute, base_url, parallel, scored))


def batch_calibrated(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Subtract each value's mean over the items; make the rows' probabilities sum to one again.

    >>> biased = np.log([[0.9, 0.1], [0.6, 0.4]])
    >>> np.exp(batch_calibrated(biased)).round(2)
    array([[0.71, 0.29],
           [0.29, 0.71]])
    """
    whole = _whole(scores)
    centred = scores[whole] - scores[whole].mean(axis=0)
    result = np.full_like(scores, np.nan)
    result[whole] = centred - np.logaddexp.reduce(centred, axis=1, keepdims=True)
    return result


def scoring_messages(attribute: Attribute, row: Mapping[str, object]) -> list[Message]:
    """The question about one attribute of one item; the rubric first, the same for all items."""
    words = [(_word(value), text) for value, text in attribute.values.items()]
    system = _template("scoring_system.jinja").render(attribute=attribute, words=words)
    item = _template("scoring_item.jinja").render(row)
    return [{"role": "system", "content": system}, {"role": "user", "content": item}]


def prompt_hash(attribute: Attribute) -> str:
    """Identify what is asked about an attribute, in which words: 32 hexadecimal digits."""
    blank = {"context": "", "question": "", "choices": []}
    (system, _) = scoring_messages(attribute, blank)
    return digest(system["content"], _source("scoring_item.jinja"))


async def _score_values(
    items: pa.Table,
    attribute: Attribute,
    base_url: str,
    parallel: int,
    scored: Callable[[int, Scored], None],
) -> npt.NDArray[np.float64]:
    import aiohttp

    slots = asyncio.Semaphore(parallel)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS)) as session:
        server = LlamaCpp(session, base_url)
        spellings = [
            await server.tokens(f"{attribute.name}: {_word(value)}\n") for value in attribute.values
        ]
        places = forks(spellings)

        async def score(place: int, row: Mapping[str, object]) -> tuple[float, ...]:
            async with slots:
                prompt = await server.rendered(scoring_messages(attribute, row))
                made = await _scored(server, prompt, spellings, places)
                scored(place, made)
                return made.log_probabilities

        rows = items.select(["context", "question", "choices"]).to_pylist()
        return np.array(await asyncio.gather(*(score(*one) for one in enumerate(rows))))


async def _scored(
    server: LlamaCpp, prompt: str, spellings: Sequence[Sequence[int]], places: Sequence[Fork]
) -> Scored:
    found: dict[tuple[int, ...], Mapping[int, float]] = {}
    usages = []
    try:
        for fork in places:
            chances = await server.choice(prompt, fork.path, fork.choices)
            found[fork.path] = chances.log_probabilities
            usages.append(chances.usage)
    except PromptTooLongError:
        return Scored((math.nan,) * len(spellings), total(usages))
    logs = tuple(log_probability(spelling, found) for spelling in spellings)
    return Scored(logs, total(usages))


def _whole(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which rows have their numbers."""
    return ~np.isnan(scores[:, 0])


def _word(value: Value) -> str:
    """How the model is to write a value.

    >>> _word("everyday_life"), _word(True), _word(2)
    ('everyday life', 'yes', '2')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


@cache
def _template(name: str) -> Template:
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    return environment.from_string(_source(name))


def _source(name: str) -> str:
    return files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")
