"""Values inside JSON columns, as SQL of SQLite and of PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Float, String, and_, case, cast, column, exists, func, or_, select, text
from sqlalchemy.dialects.postgresql import JSONB

from .pool import POSTGRESQL

Sql = Any
"""An expression of SQLAlchemy, which has no types here: it is not in benchprism's environment."""


@dataclass(frozen=True, slots=True)
class Elements:
    """A list's elements, or a single value, as rows of a table; null is no element."""

    table: Sql
    text: Sql
    number: Sql
    """Null where the value is no number."""
    present: Sql

    def any_of(self, values: list[str]) -> Sql:
        """Some element is one of the values, as text or as a number."""
        numbers = [number for number in map(as_number, values) if number is not None]
        return self._some(or_(self.text.in_(values), self.number.in_(numbers)))

    def between(self, low: object, high: object) -> Sql:
        """Some element is a number inside the bounds; a bound that is none is open."""
        return self._some(within(self.number, low, high, as_number))

    def first(self, what: Sql, *, descending: bool) -> Sql:
        """The least or the greatest of ``what`` (``text`` or ``number``) over the elements."""
        order = what.desc() if descending else what.asc()
        return (
            select(what)
            .select_from(self.table)
            .where(self.present, what.is_not(None))
            .order_by(order)
            .limit(1)
            .scalar_subquery()
        )

    def _some(self, test: Sql) -> Sql:
        return exists(select(1).select_from(self.table).where(self.present, test))


def elements(json_column: Sql, *path: str) -> Elements:
    """The elements of the JSON value at ``path``."""
    return _of_postgresql(json_column, path) if POSTGRESQL else _of_sqlite(json_column, path)


def _of_sqlite(json_column: Sql, path: tuple[str, ...]) -> Elements:
    where = "$" + "".join(f'."{step}"' for step in path)
    table = func.json_each(json_column, where).table_valued("value", "type", name="element")
    value, kind = table.c.value, table.c.type
    number = case((kind.in_(["integer", "real"]), cast(value, Float)))
    return Elements(table, cast(value, String), number, kind != "null")


def _of_postgresql(json_column: Sql, path: tuple[str, ...]) -> Elements:
    found = cast(json_column, JSONB)
    for step in path:
        found = found.op("->")(step)
    rows = func.jsonb_path_query(found, text("'lax $[*]'::jsonpath"))
    table = rows.table_valued(column("value", JSONB)).render_derived(name="element")
    kind = func.jsonb_typeof(table.c.value)
    # "C" orders by code point, as SQLite and Elasticsearch do.
    plain = table.c.value.op("#>>")(text("'{}'"))
    number = case((kind == "number", cast(plain, Float)))
    return Elements(table, cast(plain, String).collate("C"), number, kind != "null")


def within(expression: Sql, low: object, high: object, read: Any) -> Sql:
    """The bounds as SQL; a bound that ``read`` cannot make sense of lets nothing through."""
    tests = []
    for bound, test in ((low, expression.__ge__), (high, expression.__le__)):
        if bound is not None:
            value = read(bound)
            tests.append(test(value) if value is not None else text("1 = 0"))
    return and_(*tests)


def as_number(value: object) -> float | None:
    """Read a number; none where there is none."""
    try:
        return float(str(value))
    except ValueError:
        return None
