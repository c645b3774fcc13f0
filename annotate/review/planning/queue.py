"""The queue: what a look by a person is worth most for, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...ledger.current import Current
from ...ledger.outcome import FAILURES
from ...ledger.panel import KINDS, Kind, kind_of
from ...ledger.store import Ledger
from .sample import key_of

Reason = Literal["consequence", "failed", "disagreement", "low_confidence"]
"""A change of value would move the item into or out of a subset; an annotator failed or refused and
no other gave a value; annotators are at odds; a value's confidence is low."""
REASONS: tuple[Reason, ...] = get_args(Reason)

_FAILED = f"""
    SELECT DISTINCT item_id, content_hash, attribute
    FROM latest_reply JOIN annotation a USING (reply_id)
    WHERE a.status IN ({", ".join(f"'{status}'" for status in FAILURES)})
        AND annotator NOT GLOB 'human:*' AND annotator NOT GLOB 'adjudicator:*'
"""  # noqa: S608 - the statuses are constants
_ASKED = """
    SELECT DISTINCT item_id, content_hash, annotator FROM reply
    WHERE annotator NOT GLOB 'human:*' AND annotator NOT GLOB 'adjudicator:*'
"""


@dataclass(frozen=True, slots=True)
class Need:
    """Why a person should look at an item."""

    doubts: Mapping[Reason, frozenset[str]] = field(default_factory=dict)
    """The attributes that are in doubt, by reason; of each reason one at least."""
    decided: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The subsets that a change of one value would move the item into or out of, with the
    attributes that do so."""

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """All the reasons, in the order of ``REASONS``."""
        return tuple(
            r for r in REASONS if (self.decided if r == "consequence" else r in self.doubts)
        )

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes that are in doubt."""
        return frozenset[str]().union(*self.doubts.values())

    @property
    def urgency(self) -> tuple[int, int, int, int]:
        """Subsets that an attribute in doubt decides, all subsets that the item may move into or
        out of, reasons, attributes in doubt: the higher, the sooner."""
        doubted = sum(not self.attributes.isdisjoint(found) for found in self.decided.values())
        return doubted, len(self.decided), len(self.reasons), len(self.attributes)


def queue(needs: Mapping[str, Need], seed: int) -> list[str]:
    """Put items into the order in which they are to be reviewed; a hash decides between equals.

    Args:
        needs: By item id; an item without any reason comes last.
        seed: Of the hash.
    """

    def place(item_id: str) -> tuple[list[int], bytes]:
        return [-number for number in needs[item_id].urgency], key_of(seed, item_id)

    return sorted(needs, key=place)


def asked_items(ledger: Ledger, items: pa.Table) -> dict[str, Kind]:
    """Find the items that an annotator other than a person was asked about.

    Returns:
        The best kind of annotator that was asked, by item id.
    """
    best: dict[tuple[str, str], Kind] = {}
    rows = cast(Iterator[tuple[str, str, str]], ledger.query(_ASKED))
    for item, content, annotator in rows:
        kinds = kind_of(annotator), best.get((item, content), KINDS[-1])
        best[item, content] = min(kinds, key=KINDS.index)
    return {pair[0]: best[pair] for pair in _identity(items) if pair in best}


def candidates(items: pa.Table, asked: Mapping[str, Kind]) -> pa.Table:
    """Keep the items that annotators of the best kind were asked about.

    Where models have seen part of the items and rules all of them, these are the models' items:
    what people say of another item tells nothing of the models.

    Args:
        items: Some of the items.
        asked: ``asked_items``.
    """
    kinds = [asked.get(item_id) for item_id in items["item_id"].to_pylist()]
    best = next((kind for kind in KINDS if kind in kinds), None)
    return items.filter(pa.array([kind == best for kind in kinds], pa.bool_()))


def failed_annotations(ledger: Ledger, items: pa.Table) -> set[tuple[str, str]]:
    """The items and attributes of which an annotator's last word on today's text is a failure."""
    today = set(_identity(items))
    rows = cast(Iterator[tuple[str, str, str]], ledger.query(_FAILED))
    return {(item, attribute) for item, content, attribute in rows if (item, content) in today}


def doubts(
    items: pa.Table,
    values: pa.Table,
    said: Sequence[Current],
    failed: Collection[tuple[str, str]],
    *,
    below: float,
) -> dict[str, dict[Reason, frozenset[str]]]:
    """Find the items and attributes that are in doubt.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        values: The consolidated values without people, with ``VALUES_SCHEMA``.
        said: What the annotators say of the items, without people; of the attributes that count.
        failed: ``failed_annotations``.
        below: The confidence below which a value is in doubt.
    """
    ids, wanted = items["item_id"].to_pylist(), [one.attribute.id for one in said]
    found: dict[str, dict[Reason, set[str]]] = {}

    def note(item_id: str, reason: Reason, attribute: str) -> None:
        found.setdefault(item_id, {}).setdefault(reason, set()).add(attribute)

    known = set(zip(values["item_id"].to_pylist(), values["attribute"].to_pylist(), strict=True))
    for item_id, attribute in failed:
        if attribute in wanted and (item_id, attribute) not in known:
            note(item_id, "failed", attribute)
    for one in said:
        for row in rows_at_odds(one):
            note(ids[row], "disagreement", one.attribute.id)
    counts = pc.is_in(values["attribute"], pa.array(wanted, pa.string()))
    low = pc.and_(counts, pc.fill_null(pc.less(values["confidence"], below), False))
    for value in values.filter(low).select(["item_id", "attribute"]).to_pylist():
        note(value["item_id"], "low_confidence", value["attribute"])
    return {
        item_id: {reason: frozenset(attributes) for reason, attributes in own.items()}
        for item_id, own in found.items()
    }


def rows_at_odds(said: Current) -> list[int]:
    """The items, by row, of which annotators gave different values."""
    pairs = np.unique(np.stack([said.rows, said.codes]), axis=1)[0]
    rows, counts = np.unique(pairs, return_counts=True)
    at_odds: list[int] = rows[counts > 1].tolist()
    return at_odds


def _identity(items: pa.Table) -> Iterator[tuple[str, str]]:
    return zip(items["item_id"].to_pylist(), items["content_hash"].to_pylist(), strict=True)
