"""Rules that need no model: each decides what the form of an item decides, and else abstains.

The annotator is called ``heuristic`` so that nobody reads its values as a judgement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from ...prompts.catalogue import Catalogue, Value
from .calculation import requires_calculation
from .negation import uses_negation
from .proposals import Proposal
from .task_kind import task_kind
from .wording import Wording

HEURISTIC = "heuristic"

RULES: dict[str, Callable[[Wording], Value | None]] = {
    "requires_calculation": requires_calculation,
    "task_kind": task_kind,
    "uses_negation": uses_negation,
}
"""Attribute id to rule."""


def propose_by_rule(items: pa.Table, catalogue: Catalogue) -> Iterator[Proposal]:
    """Say what the rules decide about each item.

    A rule speaks only for an attribute that the catalogue has under the rule's id, only for items
    that the attribute is asked of, and only with a value that the catalogue allows.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        catalogue: The criteria that are asked.
    """
    asked = [attribute for attribute in catalogue if attribute.id in RULES]
    columns = items.select(["item_id", "content_hash", "kind", "question", "context", "choices"])
    for batch in columns.to_batches():
        for row in batch.to_pylist():
            wording = Wording.of(row)
            for attribute in asked:
                if not attribute.asks(row["kind"]):
                    continue
                value = RULES[attribute.id](wording)
                if value is not None and value in attribute.values:
                    yield Proposal(row["item_id"], row["content_hash"], attribute.id, value, None)
