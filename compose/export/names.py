"""A lock without the names of people, as it is passed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_PEOPLE = ("human", "adjudicator")


def without_names(lock: Mapping[str, Any]) -> dict[str, Any]:
    """Number the people among a lock's annotators, in the order of their names.

    The same lock gives the same numbers, and a person has one number in every role.

    >>> lock = {"annotators": [{"annotator": a} for a in ("adjudicator:bo", "human:al", "llm:x")]}
    >>> [one["annotator"] for one in without_names(lock)["annotators"]]
    ['adjudicator:2', 'human:1', 'llm:x']
    """
    annotators = lock.get("annotators", [])
    people = sorted({_split(one["annotator"])[1] for one in annotators if _is_person(one)})
    numbers = {name: str(number) for number, name in enumerate(people, 1)}
    named = [_numbered(one, numbers) if _is_person(one) else one for one in annotators]
    return {**lock, "annotators": named}


def _split(annotator: str) -> tuple[str, str]:
    role, _, name = annotator.partition(":")
    return role, name


def _is_person(annotator: Mapping[str, Any]) -> bool:
    return _split(annotator["annotator"])[0] in _PEOPLE


def _numbered(annotator: Mapping[str, Any], numbers: Mapping[str, str]) -> dict[str, Any]:
    role, name = _split(annotator["annotator"])
    return {**annotator, "annotator": f"{role}:{numbers[name]}"}
