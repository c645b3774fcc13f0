"""Fields: what conditions may ask of a table, and whether each condition fits its field."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from ...annotate.computed.answer_format import ANSWER_FORMATS
from ...annotate.consolidation.consolidate import Provenance
from ...prompts.catalogue import Catalogue
from ...records.errors import suggestion
from ...records.items.record import ItemKind
from ..rules import FieldRule, spell
from .conditions import Scalar
from .errors import CriteriaError
from .extends import Place

FieldKind = Literal["number", "truth value", "text", "label", "list of texts", "list of labels"]
_OPERATORS: dict[FieldKind, tuple[str, ...]] = {
    "number": ("min", "max", "is", "in", "missing"),
    "truth value": ("is", "in", "missing"),
    "label": ("is", "in", "missing"),
    "text": ("is", "in", "contains", "contains_any", "missing"),
    "list of texts": ("contains", "contains_any", "missing"),
    "list of labels": ("contains", "contains_any", "missing"),
}
_LISTED = ("benchmark", "subset", "split")
"""Texts of an item with few values: a value that no item has is a slip of the pen."""
_CLOSED: dict[str, tuple[str, ...]] = {
    "kind": get_args(ItemKind),
    "answer_format": ANSWER_FORMATS,
}
"""Texts with values that are known beforehand."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def field_kind(table: pa.Table, field: str, catalogue: Catalogue | None = None) -> FieldKind:
    """Say what a field of the table holds."""
    type_ = table.schema.field(field).type
    labels = catalogue is not None and field in {attribute.id for attribute in catalogue}
    if pa.types.is_boolean(type_):
        return "truth value"
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return "number"
    if pa.types.is_list(type_):
        return "list of labels" if labels else "list of texts"
    return "label" if labels else "text"


def known_values(
    table: pa.Table, field: str, catalogue: Catalogue | None = None
) -> Sequence[Scalar] | None:
    """List the values that a field may take; none when it may take any."""
    if catalogue is not None and field in {attribute.id for attribute in catalogue}:
        return [*catalogue[field].values]
    if field.endswith(".source"):
        return get_args(Provenance)
    if field in _CLOSED:
        return _CLOSED[field]
    if field in _LISTED:
        return sorted(pc.unique(table[field]).drop_null().to_pylist())
    return None


def require_field(table: pa.Table, field: str, place: Place) -> None:
    """Refuse a field that the table does not have."""
    if field in table.column_names:
        return
    plain = [name for name in table.column_names if "." in field or "." not in name]
    raise CriteriaError(
        f"the unknown field {field!r}",
        wanted="a field of the items, a computed attribute or an attribute of the catalogue",
        mend=suggestion(field, plain),
        place=place,
    )


def check_rule(rule: FieldRule, table: pa.Table, catalogue: Catalogue | None = None) -> None:
    """Refuse a test that its field cannot answer.

    Raises:
        CriteriaError: the field is unknown, the test does not go with what the field holds, or it
            names a value that the field never takes.
    """
    require_field(table, rule.field, rule.place[:-1])
    _check_trust(rule, table)
    kind = field_kind(table, rule.field, catalogue)
    allowed = _OPERATORS[kind]
    if rule.operator not in allowed:
        raise CriteriaError(
            f"{rule.operator!r} on {rule.field!r}, which holds a {kind}",
            wanted=f"one of {', '.join(allowed)}",
            mend="mend the condition",
            place=rule.place,
        )
    if rule.operator == "missing":
        return
    piece_of_text = kind == "text" and rule.operator.startswith("contains")
    known = None if piece_of_text else known_values(table, rule.field, catalogue)
    for value in rule.operand if isinstance(rule.operand, list) else [rule.operand]:
        _check_value(rule, value, kind, known)


def _check_trust(rule: FieldRule, table: pa.Table) -> None:
    if rule.trust.asks and f"{rule.field}.source" not in table.column_names:
        option = "human_only" if rule.trust.human_only else "min_confidence"
        raise CriteriaError(
            f"{option!r} on {rule.field!r}, whose values no annotator gives",
            wanted="an attribute of the catalogue",
            mend=f"leave out {option!r}",
            place=(*rule.place[:-1], option),
        )


def _check_value(
    rule: FieldRule, value: Scalar, kind: FieldKind, known: Sequence[Scalar] | None
) -> None:
    if isinstance(value, bool):
        fits = kind == "truth value"
    elif isinstance(value, str):
        fits = kind not in {"number", "truth value"}
    else:
        fits = kind == "number"
    if fits and (known is None or value in known):
        return
    if isinstance(value, str) and _is_quoted(value, kind):
        wanted, mend = f"a {kind}", f"write {value} without quotes"
    elif known is not None:
        wanted, mend = "a value it can take", suggestion(str(value), map(spell, known))
    elif kind in {"number", "truth value"}:
        wanted, mend = f"a {kind}", "mend the value"
    else:
        wanted, mend = "text", f'quote it: "{spell(value)}"'
    raise CriteriaError(
        f"the value {spell(value)} for {rule.field!r}", wanted=wanted, mend=mend, place=rule.place
    )


def _is_quoted(text: str, kind: FieldKind) -> bool:
    """Tell whether text is a number or a truth value but for its quotes."""
    if kind == "truth value":
        return text in {"true", "false"}
    return kind == "number" and bool(_NUMBER.fullmatch(text))
