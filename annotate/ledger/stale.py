"""What a ledger has that does not count today: a text or a meaning has changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pyarrow as pa

from ...prompts.catalogue import Catalogue
from .current import meant
from .store import Ledger

_ITEMS = """
    SELECT annotator, count(*) FROM (
        SELECT annotator, item_id, max(
            catalogue_hash = ?1
            AND item_id || ' ' || content_hash IN (SELECT value FROM json_each(?2))
        ) AS now
        FROM reply
        WHERE annotator LIKE 'llm:%' AND item_id IN (SELECT value FROM json_each(?3))
        GROUP BY annotator, item_id
    )
    WHERE NOT now GROUP BY annotator
"""
_ANY_OTHER = """
    SELECT EXISTS (
        SELECT 1 FROM reply
        WHERE item_id IN (SELECT value FROM json_each(?3)) AND NOT (
            catalogue_hash = ?1
            AND item_id || ' ' || content_hash IN (SELECT value FROM json_each(?2))
        )
    )
"""
_VALUES = """
    SELECT annotator, count(*), count(DISTINCT item_id) FROM (
        SELECT annotator, item_id, max(a.status = 'ok') AS given, max(
            catalogue_hash || ' ' || attribute IN (SELECT value FROM json_each(?1))
            AND item_id || ' ' || content_hash IN (SELECT value FROM json_each(?2))
        ) AS now
        FROM reply JOIN annotation a USING (reply_id)
        WHERE item_id IN (SELECT value FROM json_each(?3))
        GROUP BY annotator, item_id, attribute
    )
    WHERE given AND NOT now GROUP BY annotator
"""


@dataclass(frozen=True, slots=True)
class Stale:
    """What one annotator said that does not count today, of items that are there today."""

    annotator: str
    values: int
    """Values that nothing said under today's meaning and text takes the place of."""
    items: int
    """Items that have such values."""
    asked_again: int
    """Items that nothing was asked about under today's catalogue and text: a model that annotates
    is asked about them again."""

    def __str__(self) -> str:
        again = f"; {self.asked_again} items are asked about again" if self.asked_again else ""
        if not self.values:
            return (
                f"the catalogue of {self.annotator} has changed, its values count as before{again}"
            )
        return (
            f"{self.values} values of {self.annotator}, of {self.items} items, are stale: the"
            f" catalogue or the item has changed, and they do not count{again}"
        )


def stale(ledger: Ledger, catalogue: Catalogue, items: pa.Table) -> list[Stale]:
    """Count what does not count today, annotator by annotator; nothing where everything counts.

    Args:
        ledger: The ledger.
        catalogue: The criteria of today.
        items: The items of today, with ``ITEM_SCHEMA``.
    """
    ids, contents = items["item_id"].to_pylist(), items["content_hash"].to_pylist()
    texts = json.dumps([" ".join(pair) for pair in zip(ids, contents, strict=True)])
    today = catalogue.hash, texts, json.dumps(ids)
    ((other,),) = ledger.query(_ANY_OTHER, *today)
    if not other:
        return []
    meanings = json.dumps([" ".join(pair) for pair in meant(ledger, catalogue)])
    rows = cast(Iterator[tuple[str, int, int]], ledger.query(_VALUES, meanings, *today[1:]))
    values = {annotator: (number, of) for annotator, number, of in rows}
    asked = dict(cast(Iterator[tuple[str, int]], ledger.query(_ITEMS, *today)))
    return [
        Stale(annotator, *values.get(annotator, (0, 0)), asked.get(annotator, 0))
        for annotator in sorted({*values, *asked})
    ]
