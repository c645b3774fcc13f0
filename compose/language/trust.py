"""Trust: which annotated values count, by who gave them and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from .conditions import Condition
from .criteria import Criteria

HUMAN = ("human_adjudicated", "human_majority")
"""The provenances of values that people gave."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What an annotated value needs to count; a value that does not count is missing."""

    human_only: bool = False
    min_confidence: float | None = None

    def within(self, condition: Condition) -> Trust:
        """What a condition asks: its own options, and this where it has none."""
        human, sure = condition.human_only, condition.min_confidence
        return Trust(
            self.human_only if human is None else human,
            self.min_confidence if sure is None else sure,
        )

    @property
    def asks(self) -> bool:
        """Whether anything is asked."""
        return self.human_only or self.min_confidence is not None

    @property
    def text(self) -> str:
        """What is asked, such as ``by people, confidence >= 0.7``."""
        parts = ["by people"] if self.human_only else []
        if self.min_confidence is not None:
            parts.append(f"confidence >= {self.min_confidence}")
        return ", ".join(parts)

    def columns(self, field: str) -> tuple[str, ...]:
        """The columns that decide whether values of a field count."""
        return (f"{field}.source", f"{field}.confidence") if self.asks else ()

    def counted(self, table: pa.Table, field: str) -> pa.ChunkedArray:
        """A field's values, missing where they do not count."""
        column = table[field]
        if not self.asks:
            return column
        keep = pc.is_valid(column)
        if self.human_only:
            people = pa.array(HUMAN, pa.string())
            keep = pc.and_(keep, pc.is_in(table[f"{field}.source"], value_set=people))
        if self.min_confidence is not None:
            sure = pc.greater_equal(table[f"{field}.confidence"], float(self.min_confidence))
            keep = pc.and_(keep, pc.fill_null(sure, False))
        return pc.if_else(keep, column, pa.scalar(None, column.type))


NO_TRUST = Trust()
"""Every value counts."""


@dataclass(frozen=True, slots=True)
class Demands:
    """What criteria ask of values in general: of the annotated ones, as no other can be asked."""

    trust: Trust = NO_TRUST
    annotated: frozenset[str] = frozenset()

    @classmethod
    def of(cls, criteria: Criteria, table: pa.Table) -> Demands:
        """What criteria ask of the values of a table."""
        sources = (name for name in table.column_names if name.endswith(".source"))
        annotated = frozenset(name.removesuffix(".source") for name in sources)
        return cls(Trust(criteria.human_only, criteria.min_confidence), annotated)

    def on(self, field: str) -> Trust:
        """What is asked of the values of one field."""
        return self.trust if field in self.annotated else NO_TRUST


NO_DEMANDS = Demands()
