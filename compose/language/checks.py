"""Checks: whether everything that criteria name is there, and can be asked what they ask."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Catalogue
from ...records.errors import InputError, suggestion
from ..evidence import STATISTICS, is_evidence
from ..explaining.values import values_in_words
from ..rules import FieldRule, conjuncts, field_rules
from .conditions import Preference, Where
from .criteria import Criteria
from .drawing import Grouping, value_text
from .errors import CriteriaError
from .extends import Place
from .fields import check_rule, field_kind, known_values, require_field
from .trust import NO_DEMANDS, Demands

RESERVED = Preference.words() | STATISTICS.keys()
"""Names that no attribute can have, as they mean something else in criteria."""


def named_fields(criteria: Criteria) -> dict[str, Place]:
    """Every field that criteria name, with where they name it first."""
    fields: dict[str, Place] = {}
    for where, place in conditions(criteria):
        for rule in field_tests(where, place):
            fields.setdefault(rule.field, rule.place[:-1])
    for field, place in _single_fields(criteria):
        fields.setdefault(field, place)
    return fields


def needs_results(criteria: Criteria) -> bool:
    """Whether criteria ask for anything that models scored."""
    return criteria.select is not None or any(map(is_evidence, named_fields(criteria)))


def conditions(criteria: Criteria) -> Iterator[tuple[Where, Place]]:
    """All conditions of criteria, with where they stand."""
    if criteria.where is not None:
        yield criteria.where, ("where",)
    for position, preference in enumerate(criteria.prefer or []):
        yield preference, ("prefer", position)
    for position, expectation in enumerate(criteria.expect or []):
        for key, value in (("count", expectation.count), ("share", expectation.share)):
            if isinstance(value, Where):
                yield value, ("expect", position, key)


def field_tests(where: Where, place: Place, demands: Demands = NO_DEMANDS) -> Iterator[FieldRule]:
    """The tests of single fields that conditions are made of."""
    for rule in conjuncts(where, place, demands):
        yield from field_rules(rule)


def _single_fields(criteria: Criteria) -> Iterator[tuple[str, Place]]:
    yield from ((field, place) for field, place in _numbers(criteria))
    yield from ((grouping.field, place) for grouping, place in _groupings(criteria))


def _numbers(criteria: Criteria) -> Iterator[tuple[str, Place]]:
    """Fields that have to hold numbers."""
    for position, preference in enumerate(criteria.prefer or []):
        for key, field in (("highest", preference.highest), ("lowest", preference.lowest)):
            if field is not None:
                yield field, ("prefer", position, key)
    for position, expectation in enumerate(criteria.expect or []):
        if expectation.mean is not None:
            yield expectation.mean, ("expect", position, "mean")


def _groupings(criteria: Criteria) -> Iterator[tuple[Grouping, Place]]:
    """Fields whose values have to be groups."""
    if criteria.sample is not None:
        for grouping, place in criteria.sample.grouping_places():
            yield grouping, ("sample", *place)
        for field in criteria.sample.crossing:
            yield Grouping(field=field), ("sample", "quotas", field)
    for position, expectation in enumerate(criteria.expect or []):
        if expectation.per is not None:
            yield Grouping(field=expectation.per), ("expect", position, "per")


def check_criteria(criteria: Criteria, table: pa.Table, catalogue: Catalogue | None) -> None:
    """Refuse criteria that do not fit a table of items.

    Raises:
        CriteriaError: a field or a value is unknown, or cannot be asked what the criteria ask.
        InputError: an attribute of the catalogue has a reserved name.
    """
    check_names(catalogue)
    demands = Demands.of(criteria, table)
    for where, place in conditions(criteria):
        for rule in field_tests(where, place, demands):
            check_rule(rule, table, catalogue)
    for field, place in _numbers(criteria):
        _check_number(field, place, table, catalogue)
    for grouping, place in _groupings(criteria):
        _check_grouping(grouping, place, table, catalogue)
    _check_group_values(criteria, table, catalogue)
    _check_keep(criteria, table)


def check_names(catalogue: Catalogue | None) -> None:
    """Refuse attributes that are named like a word of the language or an item statistic.

    Raises:
        InputError: it names the attribute.
    """
    for attribute in catalogue or ():
        if attribute.id in RESERVED:
            raise InputError(
                f"the attribute {attribute.id!r} of the catalogue has a name that means something"
                " else in criteria",
                wanted="a name of its own",
                mend=f"rename it, for instance to 'annotated_{attribute.id}'",
            )


def _check_number(field: str, place: Place, table: pa.Table, catalogue: Catalogue | None) -> None:
    require_field(table, field, place)
    kind = field_kind(table, field, catalogue)
    if kind != "number":
        raise CriteriaError(
            f"{field!r}, which holds a {kind}",
            wanted="a field of numbers",
            mend="choose another field",
            place=place,
        )


def _check_grouping(
    grouping: Grouping, place: Place, table: pa.Table, catalogue: Catalogue | None
) -> None:
    field = grouping.field
    require_field(table, field, place)
    kind = field_kind(table, field, catalogue)
    continuous = pa.types.is_floating(table.schema.field(field).type)
    if grouping.cuts and kind != "number":
        raise CriteriaError(
            f"cuts of {field!r}, which holds a {kind}",
            wanted="a field of numbers",
            mend="leave out the cuts",
            place=place,
        )
    if kind.startswith("list") or (continuous and not grouping.cuts):
        mend = f"cut it: {{field: {field}, cuts: [...]}}" if continuous else "choose another field"
        raise CriteriaError(
            f"{field!r} cannot be balanced",
            wanted="a field with one of a few values an item, such as benchmark or a level",
            mend=mend,
            place=place,
        )


def _check_group_values(criteria: Criteria, table: pa.Table, catalogue: Catalogue | None) -> None:
    """Refuse quotas and weights for values that their field never takes."""
    sample = criteria.sample
    if sample is None:
        return
    cut = {grouping.field for grouping in sample.groupings if grouping.cuts}
    for key, given in (("quotas", sample.quotas), ("weights", sample.weights)):
        for field, values in (given or {}).items():
            if field in cut:
                raise CriteriaError(
                    f"{key} on {field!r}, which is cut into ranges",
                    wanted=f"{key} on a field that is grouped by its values",
                    mend=f"leave out the {key}, or the cuts",
                    place=("sample", key, field),
                )
            for value in values:
                _check_group_value(field, value, ("sample", key, field, value), table, catalogue)


def _check_group_value(
    field: str, value: str, place: Place, table: pa.Table, catalogue: Catalogue | None
) -> None:
    known = [value_text(v) for v in known_values(table, field, catalogue) or ()]
    known = known or values_in_words(pa.chunked_array([pc.unique(table[field])])).to_pylist()
    if value not in known:
        raise CriteriaError(
            f"the value {value} for {field!r}",
            wanted="a value it can take",
            mend=suggestion(value, known),
            place=place,
        )


def _check_keep(criteria: Criteria, table: pa.Table) -> None:
    keep = criteria.deduplicate.keep if criteria.deduplicate is not None else "first"
    known = pc.unique(table["benchmark"]).to_pylist()
    for position, name in enumerate(keep if isinstance(keep, list) else []):
        if name not in known:
            raise CriteriaError(
                f"the unknown benchmark {name!r}",
                wanted="a benchmark that copies can be of",
                mend=suggestion(name, known),
                place=("deduplicate", "keep", position),
            )
