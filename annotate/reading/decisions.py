"""Reading the answers of a decisions endpoint: probabilities become values with a confidence.

A value is the likeliest one, and its confidence that probability; when two are equally likely there
is no value, and none in an answer that contradicts itself. Several labels are decided one by one,
and are as sure as the least sure of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...prompts.catalogue import NONE_LABEL, Attribute, Value
from ...prompts.typed_questions import predicate_labels
from ..ledger.outcome import Status, Verdict
from .parsing import EVEN

_HALF = 0.5
_ROUNDING = 0.1
"""How far the sum of rounded probabilities may be from 1."""


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
    named: dict[str, list[dict[str, Any]]] = {}
    for answer in answers:
        if isinstance(answer, dict) and isinstance(answer.get("name"), str):
            named.setdefault(answer["name"], []).append(answer)
    return tuple(_verdict(attribute, named) for attribute in attributes)


_Answers = Mapping[str, Sequence[dict[str, Any]]]


def _verdict(attribute: Attribute, answers: _Answers) -> Verdict:
    try:
        decided = _decided(attribute, answers)
    except _NoDecisionError as error:
        return Verdict(attribute.id, None, error.status, str(error))
    return Verdict(attribute.id, decided.value, "ok", "", decided.confidence)


def _decided(attribute: Attribute, answers: _Answers) -> _Decided:
    match attribute.type:
        case "boolean":
            return _predicate(_answer(answers, attribute.id, "predicate"))
        case "level":
            return _level(_answer(answers, attribute.id, "score"), attribute.levels)
        case "label":
            answer = _answer(answers, attribute.id, "choice")
            return _label(answer, [str(label) for label in attribute.values])
        case "labels":
            return _labels(attribute, answers)


def _labels(attribute: Attribute, answers: _Answers) -> _Decided:
    each = {
        label: _predicate(_answer(answers, name, "predicate"))
        for name, label in predicate_labels(attribute).items()
    }
    chosen = [label for label, decided in each.items() if decided.value]
    if not chosen and NONE_LABEL in attribute.values:
        chosen = [NONE_LABEL]
    return _Decided(chosen, min((one.confidence for one in each.values()), default=1.0))


def _answer(answers: _Answers, name: str, kind: str) -> dict[str, Any]:
    given = answers.get(name, ())
    if not given:
        raise _NoDecisionError(f"no answer to {name!r}")
    answer = given[0]
    if any(other != answer for other in given):
        raise _NoDecisionError(f"{len(given)} different answers to {name!r}")
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


def _level(answer: dict[str, Any], levels: Collection[int]) -> _Decided:
    decided = _likeliest(answer, "label", {str(level): level for level in levels})
    for part in answer["probabilities"]:
        if "value" in part and str(part["value"]) != str(part["label"]):
            raise _NoDecisionError(f"the level {part['label']} has the value {part['value']!r}")
    mean = answer.get("score")
    if mean is not None and not (_is_number(mean) and min(levels) <= mean <= max(levels)):
        raise _NoDecisionError(
            f"the score {mean!r} is on no scale of {min(levels)} to {max(levels)}"
        )
    return decided


def _label(answer: dict[str, Any], labels: Iterable[str]) -> _Decided:
    decided = _likeliest(answer, "value", {label: label for label in labels})
    choice = answer.get("choice")
    if choice is not None and choice != decided.value:
        raise _NoDecisionError(f"the choice is {choice!r}, and {decided.value} is likeliest")
    return decided


def _likeliest(answer: dict[str, Any], key: str, values: Mapping[str, int | str]) -> _Decided:
    given = answer.get("probabilities")
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    likely = {str(part.get(key)): _probability(part.get("probability")) for part in parts}
    if likely.keys() != values.keys():
        raise _NoDecisionError("probabilities of other values than were asked for")
    if len(parts) > len(likely):
        raise _NoDecisionError("a value has two probabilities")
    if abs(sum(likely.values()) - 1) > _ROUNDING:
        raise _NoDecisionError(f"probabilities that add up to {sum(likely.values()):.3g}")
    first, second = sorted(likely, key=lambda name: -likely[name])[:2]
    if likely[first] == likely[second]:
        raise _NoDecisionError(f"{first} and {second} {EVEN}")
    return _Decided(values[first], likely[first])


def _probability(given: Any) -> float:
    if not (_is_number(given) and 0 <= given <= 1):
        raise _NoDecisionError(f"{given!r} is no probability")
    return float(given)


def _is_number(given: Any) -> bool:
    return isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given)
