"""Reading the answers of a decisions endpoint: probabilities become values with a confidence.

A value is the likeliest one, and its confidence that probability; when two are equally likely there
is no value. Several labels are decided one by one, and are as sure as the least sure of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...prompts.catalogue import NONE_LABEL, Attribute, Value
from ...prompts.typed_questions import predicate_labels
from ..ledger.outcome import Status, Verdict
from .parsing import EVEN

_HALF = 0.5


class _NoDecisionError(ValueError):
    """An answer that gives no value; the message says why."""

    status: Status = "invalid"


class _DeclinedError(_NoDecisionError):
    """A question that the model declined."""

    status = "refused"


@dataclass(frozen=True, slots=True)
class _Decided:
    value: Value
    confidence: float


def read_decisions(answers: Iterable[Any], attributes: Sequence[Attribute]) -> tuple[Verdict, ...]:
    """Judge what the answers say about each attribute that was asked.

    Args:
        answers: The answers as they came; they are known by the names of their questions.
        attributes: What was asked.
    """
    named = {
        answer["name"]: answer
        for answer in answers
        if isinstance(answer, dict) and isinstance(answer.get("name"), str)
    }
    return tuple(_verdict(attribute, named) for attribute in attributes)


def _verdict(attribute: Attribute, answers: dict[str, dict[str, Any]]) -> Verdict:
    try:
        decided = _decided(attribute, answers)
    except _NoDecisionError as error:
        return Verdict(attribute.id, None, error.status, str(error))
    return Verdict(attribute.id, decided.value, "ok", "", decided.confidence)


def _decided(attribute: Attribute, answers: dict[str, dict[str, Any]]) -> _Decided:
    match attribute.type:
        case "boolean":
            return _predicate(_answer(answers, attribute.id, "predicate"))
        case "level":
            answer = _answer(answers, attribute.id, "score")
            levels = {str(level): level for level in attribute.levels}
            return _likeliest(answer, "label", levels)
        case "label":
            answer = _answer(answers, attribute.id, "choice")
            return _likeliest(
                answer, "value", {str(label): str(label) for label in attribute.values}
            )
        case "labels":
            return _labels(attribute, answers)


def _labels(attribute: Attribute, answers: dict[str, dict[str, Any]]) -> _Decided:
    each = {
        label: _predicate(_answer(answers, name, "predicate"))
        for name, label in predicate_labels(attribute).items()
    }
    chosen = [label for label, decided in each.items() if decided.value]
    if not chosen and NONE_LABEL in attribute.values:
        chosen = [NONE_LABEL]
    return _Decided(chosen, min((one.confidence for one in each.values()), default=1.0))


def _answer(answers: dict[str, dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    answer = answers.get(name)
    if answer is None:
        raise _NoDecisionError(f"no answer to {name!r}")
    if answer.get("type") == "refusal":
        raise _DeclinedError(f"the model declines {name!r}")
    if answer.get("type") != kind:
        raise _NoDecisionError(f"{answer.get('type')!r} is no answer to a {kind}")
    return answer


def _predicate(answer: dict[str, Any]) -> _Decided:
    likely = _probability(answer.get("probability"))
    if likely == _HALF:
        raise _NoDecisionError(f"true and false {EVEN}")
    return _Decided(likely > _HALF, max(likely, 1 - likely))


def _likeliest(answer: dict[str, Any], key: str, values: Mapping[str, int | str]) -> _Decided:
    given = answer.get("probabilities")
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    likely = {str(part.get(key)): _probability(part.get("probability")) for part in parts}
    if likely.keys() != values.keys():
        raise _NoDecisionError("probabilities of other values than were asked for")
    first, second = sorted(likely, key=lambda name: -likely[name])[:2]
    if likely[first] == likely[second]:
        raise _NoDecisionError(f"{first} and {second} {EVEN}")
    return _Decided(values[first], likely[first])


def _probability(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise _NoDecisionError(f"{given!r} is no probability")
    if not (math.isfinite(given) and 0 <= given <= 1):
        raise _NoDecisionError(f"{given!r} is no probability")
    return float(given)
