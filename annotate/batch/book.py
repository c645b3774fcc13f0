"""What the ledger knows of batches: what each carries, and how far it has come.

A batch goes through events, each of which is kept before the next step is taken:

=============  ===================================================================
event          what is known then
=============  ===================================================================
(planned)      its requests, under a key that is made from them
``largest``    with a price: the most that one of its calls can cost
``uploaded``   the endpoint's id of the file
``created``    the endpoint's id of the batch
``ended``      everything that came is kept; what did not come is missing again
``abandoned``  the endpoint has no batch of that key, or it was let go
=============  ===================================================================
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast

from ...prompts.catalogue import Catalogue
from ...prompts.messages import Prompt, make_prompt
from ...prompts.templates import Wording
from ...records.items.record import ItemKind
from ..asking.capabilities import Rung
from ..asking.entries import About
from ..asking.pending import Call
from ..ledger.store import Ledger

Event = Literal["largest", "uploaded", "created", "ended", "abandoned"]

_OPEN = """
    SELECT batch_key, annotator, model, base_url, rung, calls, most, time,
           (SELECT detail FROM batch_event e
            WHERE e.batch_key = open_batch.batch_key AND event = 'created'),
           (SELECT CAST(detail AS REAL) FROM batch_event e
            WHERE e.batch_key = open_batch.batch_key AND event = 'largest')
    FROM open_batch ORDER BY time, batch_key
"""
_REQUESTS = """
    SELECT custom_id, kind, part, several, may_abstain, request_key, item_id, content_hash,
           prompt_hash, catalogue_hash
    FROM batch_request WHERE batch_key = ? ORDER BY custom_id, place
"""


@dataclass(frozen=True, slots=True)
class Planned:
    """A batch that is not over."""

    key: str
    annotator: str
    model: str
    base_url: str
    rung: Rung
    calls: int
    most: float | None
    """The most that it can cost; none without a price."""
    time: str
    batch_id: str | None = None
    """The endpoint's id; none when it is not known to have started."""
    largest: float | None = None
    """The most that one of its calls can cost; none without a price."""

    @property
    def name(self) -> str:
        """What a person can call it: the endpoint's id, or our key while there is none."""
        return self.batch_id or self.key

    @property
    def most_of_one(self) -> float | None:
        """The most that one call can have cost; the mean where the largest is not known."""
        return self.largest if self.most is None or self.largest else self.most / self.calls


@dataclass(frozen=True, slots=True)
class Carried:
    """What one line of a batch asked."""

    prompt: Prompt
    subjects: tuple[About, ...]


class BatchBook:
    """The batches of a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def plan(self, batch: Planned, calls: Sequence[tuple[str, Call]]) -> None:
        """Keep what a batch will carry, by the ids of its lines."""
        requests = [
            (
                batch.key,
                custom_id,
                place,
                request.key,
                request.item.item_id,
                request.item.content_hash,
                request.prompt.kind,
                request.prompt.part,
                request.prompt.several,
                request.prompt.may_abstain,
                request.prompt.hash,
                request.prompt.catalogue_hash,
            )
            for custom_id, call in calls
            for place, request in enumerate(call.requests)
        ]
        row = (
            batch.key,
            batch.annotator,
            batch.model,
            batch.base_url,
            batch.rung,
            batch.calls,
            batch.most,
            batch.time,
        )
        largest = [] if batch.largest is None else [
            (batch.key, "largest", repr(batch.largest), batch.time)
        ]  # fmt: skip
        self._ledger.insert(batch=[row], batch_request=requests, batch_event=largest)

    def note(self, batch: Planned, event: Event, detail: str = "") -> None:
        """Keep how far a batch has come."""
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        self._ledger.insert(batch_event=[(batch.key, event, detail, time)])

    def open(self) -> list[Planned]:
        """The batches that are not over, the oldest first."""
        return [Planned(*row) for row in self._ledger.query(_OPEN)]  # type: ignore[arg-type]

    def requests(self, batch: Planned) -> int:
        """How many requests a batch carries."""
        ((count,),) = self._ledger.query(
            "SELECT count(*) FROM batch_request WHERE batch_key = ?", batch.key
        )
        return int(str(count))

    def carried(self, batch: Planned) -> dict[str, Carried]:
        """What a batch asked, by the ids of its lines."""
        lines: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for custom_id, *rest in self._ledger.query(_REQUESTS, batch.key):
            lines[str(custom_id)].append(cast(tuple[str, ...], tuple(rest)))
        catalogues = self._ledger.catalogues()
        prompts: dict[str, Prompt] = {}
        found: dict[str, Carried] = {}
        for custom_id, rows in lines.items():
            *form, _, _, _, prompt_hash, catalogue_hash = rows[0]
            if prompt_hash not in prompts:
                prompts[prompt_hash] = _prompt(catalogues[catalogue_hash], *form)
            subjects = tuple(
                About(key, item_id, content_hash, prompt_hash, catalogue_hash, form[1])
                for *_, key, item_id, content_hash, _, _ in rows
            )
            found[custom_id] = Carried(prompts[prompt_hash].of(len(rows)), subjects)
        return found


def _prompt(catalogue: Catalogue, *form: str) -> Prompt:
    """Make a prompt that reads the same replies; its words do not matter any more."""
    kind, part, several, may_abstain = form
    return make_prompt(
        catalogue,
        cast(ItemKind, kind),
        part=part,
        several=bool(several),
        wording=Wording(may_abstain=bool(may_abstain)),
    )
