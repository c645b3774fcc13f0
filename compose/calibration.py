"""Calibration: whether conditions rest on attributes that agree with people well enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from ..annotate.ledger.panel import PEOPLE, kind_of
from ..annotate.review.judging.gate import Gate, Judgement, signature
from .language.checks import field_tests
from .language.criteria import Criteria
from .language.errors import CriteriaError
from .language.extends import Place
from .language.trust import Demands

_MEND = (
    "let only values by people count ('human_only: true'), move the condition to 'prefer', mend the"
    " rubric, or leave out 'require_calibrated'"
)
_UNKNOWN = "run 'benchprism review calibrate', or leave out 'require_calibrated'"


def judgements(criteria: Criteria, table: pa.Table, gate: Gate | None) -> dict[str, Judgement]:
    """Find what people's review says of the attributes that decide over items.

    These are the annotated attributes of the conditions under ``where``, unless only people's
    values count there, or it is only asked whether there is a value.

    Args:
        criteria: What is wanted.
        table: An attribute table.
        gate: What the last calibration says; none when there was none.

    Returns:
        The judgements by attribute; an attribute that was not calibrated has none.

    Raises:
        CriteriaError: calibrated attributes are required, and one is not, or is not usable.
    """
    fields = _deciding(criteria, table)
    known = {field: (gate or {}).get(field) for field in fields}
    if criteria.require_calibrated:
        for field, judgement in known.items():
            if judgement is None or judgement.verdict != "usable":
                raise CriteriaError(
                    f"{field}: not calibrated" if judgement is None else judgement.sentence,
                    wanted="an attribute that is usable, as 'require_calibrated' asks",
                    mend=_UNKNOWN if judgement is None else _MEND,
                    place=fields[field],
                )
    return {field: judgement for field, judgement in known.items() if judgement is not None}


def _deciding(criteria: Criteria, table: pa.Table) -> dict[str, Place]:
    """The attributes that decide, each with where it is named first."""
    demands, fields = Demands.of(criteria, table), dict[str, Place]()
    if criteria.where is not None:
        for rule in field_tests(criteria.where, ("where",), demands):
            by_people = rule.trust.human_only or rule.operator == "missing"
            if rule.field in demands.annotated and not by_people:
                fields.setdefault(rule.field, rule.place)
    return fields


def calibration_data(found: Mapping[str, Judgement]) -> dict[str, Any]:
    """Write judgements down for a lock."""
    return {
        field: {
            "verdict": judgement.verdict,
            "sentence": judgement.sentence,
            "alpha": judgement.alpha,
            "interval": None if judgement.interval is None else [*judgement.interval],
            "items": judgement.items,
        }
        for field, judgement in sorted(found.items())
    }


def unjudged(found: Mapping[str, Judgement], annotators: Iterable[Mapping[str, Any]]) -> list[str]:
    """Name the annotators, people aside, whose values the last calibration has not seen.

    Args:
        found: What was judged of the attributes that decide.
        annotators: Who gave values, as a lock names them.
    """
    known = {name for judgement in found.values() for name in judgement.annotators}
    now = {signature(one) for one in annotators if kind_of(one["annotator"]) not in PEOPLE}
    return sorted(now - known) if found else []


def cautions(lock: Mapping[str, Any]) -> list[str]:
    """The sentences about attributes that decided and are not known to be usable."""
    found = lock.get("calibration", {}).values()
    return [judged["sentence"] for judged in found if judged["verdict"] != "usable"]
