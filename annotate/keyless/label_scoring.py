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
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from ...prompts.catalogue import Attribute, Catalogue, Value
from ...prompts.messages import Message
from .label_tree import forks, log_probability
from .llama_cpp import LlamaCpp, PromptTooLongError
from .proposals import Proposal

FEWEST_TO_CALIBRATE = 30
"""With fewer items a label's mean says more about the items than about the model."""

_SECONDS = 600.0


def propose_by_score(
    items: pa.Table,
    catalogue: Catalogue,
    *,
    base_url: str,
    parallel: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> Iterator[Proposal]:
    """Give each item the value that a local model finds likeliest, attribute by attribute.

    Attributes with several labels at once are left out. Labels are calibrated over the items from
    ``FEWEST_TO_CALIBRATE`` on; the confidence is the value's normalised probability. An item that
    does not fit the server's context gets no value.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        catalogue: The criteria that are asked.
        base_url: A llama.cpp server, such as ``local_server`` yields.
        parallel: Requests in flight at once; no more than the server works on.
        progress: Called after each item of each attribute.

    Raises:
        EndpointError: the server cannot be reached, or is not llama.cpp's.
    """
    kinds = items["kind"].to_pylist()
    for attribute in catalogue:
        asked = items.filter(pa.array([attribute.asks(kind) for kind in kinds]))
        if attribute.type == "labels" or not asked.num_rows:
            continue
        scores = score_values(asked, attribute, base_url, parallel=parallel, progress=progress)
        if attribute.type == "label" and _whole(scores).sum() >= FEWEST_TO_CALIBRATE:
            scores = batch_calibrated(scores)
        values = list(attribute.values)
        names = zip(asked["item_id"].to_pylist(), asked["content_hash"].to_pylist(), strict=True)
        for (item_id, content_hash), row in zip(names, np.exp(scores), strict=True):
            if not np.isnan(row[0]):
                best = int(row.argmax())
                yield Proposal(item_id, content_hash, attribute.id, values[best], float(row[best]))


def score_values(
    items: pa.Table,
    attribute: Attribute,
    base_url: str,
    *,
    parallel: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> npt.NDArray[np.float64]:
    """Log-probabilities of an attribute's values, item by item.

    Returns:
        One row an item, one column a value in the order of ``attribute.values``; the probabilities
        of a row sum to one. NaN for an item that does not fit the server's context.
    """
    return asyncio.run(_score_values(items, attribute, base_url, parallel, progress))


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


async def _score_values(
    items: pa.Table,
    attribute: Attribute,
    base_url: str,
    parallel: int,
    progress: Callable[[], None],
) -> npt.NDArray[np.float64]:
    import aiohttp

    slots = asyncio.Semaphore(parallel)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=_SECONDS)) as session:
        server = LlamaCpp(session, base_url)
        spellings = [
            await server.tokens(f"{attribute.name}: {_word(value)}\n") for value in attribute.values
        ]
        places = forks(spellings)

        async def score(row: Mapping[str, object]) -> list[float]:
            async with slots:
                prompt = await server.rendered(scoring_messages(attribute, row))
                try:
                    found = {
                        fork.path: await server.choice(prompt, fork.path, fork.choices)
                        for fork in places
                    }
                except PromptTooLongError:
                    return [math.nan] * len(spellings)
                finally:
                    progress()
                return [log_probability(spelling, found) for spelling in spellings]

        columns = items.select(["context", "question", "choices"])
        return np.array(await asyncio.gather(*(score(row) for row in columns.to_pylist())))


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
    source = files(__name__.rpartition(".")[0]).joinpath(name).read_text(encoding="utf-8")
    return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False).from_string(source)
