"""Label scoring of many items: what was scored is in the ledger at once and is not asked again.

Labels are calibrated over the items, so that values come out of everything that was scored: the
scores of each item and attribute are a reply of their own, with its tokens, and the values of an
item are another reply, made of these when all are there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from time import perf_counter
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ...prompts.catalogue import Attribute, Catalogue
from ..ledger.outcome import Reply, Usage, total
from ..ledger.store import Ledger, digest
from .label_scoring import CONFIDENCE_TO_PROPOSE, Scored, prompt_hash, proposals, score_values
from .recording import record_proposals

TOO_LONG = "it does not fit the server's context"

_KNOWN = """
    SELECT request_key, body FROM reply JOIN body USING (body_hash)
    WHERE annotator = ? AND part = ? AND status = 'ok'
"""


@dataclass(frozen=True, slots=True)
class ScoringSummary:
    """What came of a run."""

    items: int
    """Items that have a value of some attribute."""
    asked: int
    """Scores that were asked, each of one item and attribute."""
    already: int
    """Scores that the ledger had."""
    too_long: int
    usage: Usage
    """The tokens of what was asked."""


def scored_attributes(catalogue: Catalogue) -> list[Attribute]:
    """The attributes that can be scored: those with one value an item."""
    return [attribute for attribute in catalogue if attribute.type != "labels"]


def scores_to_make(items: pa.Table, catalogue: Catalogue) -> int:
    """Count what a run over these items is about, each score of one item and attribute."""
    kinds = items["kind"].to_pylist()
    return sum(attribute.asks(kind) for attribute in scored_attributes(catalogue) for kind in kinds)


def annotate_by_score(
    ledger: Ledger,
    items: pa.Table,
    catalogue: Catalogue,
    *,
    base_url: str,
    model: str,
    parallel: int = 1,
    confidence_to_propose: float = CONFIDENCE_TO_PROPOSE,
    progress: Callable[[], object] = lambda: None,
) -> ScoringSummary:
    """Score what the ledger does not have yet, and add the values that come out.

    Attributes with several labels at once are left out; an item that does not fit the server's
    context gets no value.

    Args:
        ledger: Opened for writing.
        items: A table with ``ITEM_SCHEMA``.
        catalogue: The criteria that are asked.
        base_url: A llama.cpp server, such as ``local_server`` yields.
        model: Its model's name; the annotator is ``score:<model>``.
        parallel: Requests in flight at once; no more than the server works on.
        confidence_to_propose: With less, the annotator abstains.
        progress: Called after each item of each attribute.

    Raises:
        EndpointError: the server cannot be reached, or is not llama.cpp's; what came is saved.
    """
    ledger.remember(catalogue)
    annotator = f"score:{model}"
    kinds = items["kind"].to_pylist()
    parts = [
        _Part(
            ledger=ledger,
            items=items.filter(pa.array([attribute.asks(kind) for kind in kinds], pa.bool_())),
            attribute=attribute,
            catalogue=catalogue,
            annotator=annotator,
            model=model,
        )
        for attribute in scored_attributes(catalogue)
    ]
    made = [part.scores(base_url, parallel, progress) for part in parts]
    proposed = chain.from_iterable(
        proposals(
            part.items, part.attribute, found.scores, confidence_to_propose=confidence_to_propose
        )
        for part, found in zip(parts, made, strict=True)
    )
    return ScoringSummary(
        items=record_proposals(
            ledger, proposed, annotator=annotator, model=model, catalogue=catalogue
        ),
        asked=sum(len(found.usages) for found in made),
        already=sum(found.already for found in made),
        too_long=sum(int(np.isnan(found.scores[:, 0]).sum()) for found in made),
        usage=total([usage for found in made for usage in found.usages]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    scores: npt.NDArray[np.float64]
    already: int
    usages: list[Usage]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One attribute of the items of which it is asked."""

    ledger: Ledger
    items: pa.Table
    attribute: Attribute
    catalogue: Catalogue
    annotator: str
    model: str

    def scores(self, base_url: str, parallel: int, progress: Callable[[], object]) -> _Made:
        """Score what is missing; give what there is of all items."""
        asked_hash = prompt_hash(self.attribute)
        columns = self.items.select(["item_id", "content_hash"]).to_pydict()
        names = [*zip(columns["item_id"], columns["content_hash"], strict=True)]
        keys = [digest(*name, self.annotator, asked_hash) for name in names]
        known = self._known()
        scores = np.full((len(keys), len(self.attribute.values)), math.nan)
        missing = []
        for row, key in enumerate(keys):
            if key in known:
                scores[row] = known[key]
                progress()
            else:
                missing.append(row)
        usages: list[Usage] = []
        since = perf_counter()

        def keep(place: int, scored: Scored) -> None:
            nonlocal since
            row, now = missing[place], perf_counter()
            usages.append(scored.usage)
            self._keep(names[row], keys[row], asked_hash, scored, now - since)
            since = now
            progress()

        if missing:
            asked = self.items.take(missing)
            scores[missing] = score_values(
                asked, self.attribute, base_url, parallel=parallel, scored=keep
            )
        return _Made(scores, len(keys) - len(missing), usages)

    def _known(self) -> dict[str, list[float]]:
        rows = self.ledger.query(_KNOWN, self.annotator, self.attribute.id)
        return {
            key: [*json.loads(body).values()] for key, body in cast(list[tuple[str, str]], rows)
        }

    def _keep(
        self, name: tuple[str, str], key: str, asked_hash: str, scored: Scored, seconds: float
    ) -> None:
        if not scored.fits and self.ledger.status_of(key) == "too_long":
            return
        words = [json.dumps(value) for value in self.attribute.values]
        given = dict(zip(words, scored.log_probabilities, strict=True))
        reply = Reply(
            request_key=key,
            item_id=name[0],
            content_hash=name[1],
            annotator=self.annotator,
            model=self.model,
            prompt_hash=asked_hash,
            catalogue_hash=self.catalogue.hash,
            status="ok" if scored.fits else "too_long",
            reason="" if scored.fits else TOO_LONG,
            body=json.dumps(given) if scored.fits else "",
            usage=scored.usage,
            price=None,
            time=datetime.now(UTC).isoformat(timespec="microseconds"),
            seconds=seconds,
            attempts=1,
            part=self.attribute.id,
            final=False,
        )
        self.ledger.add([(reply, [])])
