"""Variants of criteria: one threshold moved by one level, or another seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from benchprism.compose.language.criteria import Criteria
from benchprism.compose.rules import FieldRule
from benchprism.prompts.catalogue import Catalogue

_THRESHOLDS = ("min", "max", "is", "in")
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class CriteriaVariant:
    """Criteria with one change."""

    change: str
    criteria: Criteria | None
    """None when there are no such criteria."""
    reason: str = ""
    """Why there are none."""


def threshold_variants(criteria: Criteria, catalogue: Catalogue) -> Iterator[CriteriaVariant]:
    """Move each condition on a level by one level up, then down, one at a time.

    Conditions under ``where`` and ``prefer`` count, as they decide which items are chosen. A set of
    levels moves as a whole, without those that then do not exist.

    Args:
        criteria: the criteria.
        catalogue: its attributes of the type ``level`` are meant.
    """
    levels = {one.id: [*map(int, one.values)] for one in catalogue if one.type == "level"}
    plain = criteria.plain()
    for path in _conditions({key: plain.get(key) or [] for key in ("where", "prefer")}, levels):
        for step in (1, -1):
            yield _moved(plain, path, step, levels[str(path[-2])])


def _conditions(node: Any, levels: Mapping[str, object], path: _Path = ()) -> Iterator[_Path]:
    """Where tests of levels stand in plain criteria."""
    inner = enumerate(node) if isinstance(node, list) else node.items()
    for key, value in inner:
        if key in levels and isinstance(value, dict):
            yield from ((*path, key, test) for test in _THRESHOLDS if test in value)
        elif isinstance(value, dict | list):
            yield from _conditions(value, levels, (*path, key))


def _moved(plain: Mapping[str, Any], path: _Path, step: int, levels: list[int]) -> CriteriaVariant:
    changed = deepcopy(dict(plain))
    node: Any = changed
    for key in path[:-1]:
        node = node[key]
    field, test = str(path[-2]), str(path[-1])
    old = node[test]
    several = isinstance(old, list)
    moved = [level + step for level in (old if several else [old])]
    there = [level for level in moved if levels[0] <= level <= levels[-1]]
    node[test] = (there or moved) if several else moved[0]
    now, then = (FieldRule(field, test, operand).text for operand in (node[test], old))
    change = f"{now}, not {then.removeprefix(field).strip()}"
    if not there:
        reason = f"levels of {field} go from {levels[0]} to {levels[-1]}"
        return CriteriaVariant(change, None, reason)
    try:
        return CriteriaVariant(change, Criteria.model_validate(changed))
    except ValidationError as error:
        wanted = error.errors()[0]["msg"].removeprefix("Value error, ")
        return CriteriaVariant(change, None, f"criteria want {wanted}")


def seed_variants(criteria: Criteria, seeds: int) -> Iterator[CriteriaVariant]:
    """Put the next seeds in place of the criteria's own; none where nothing is left to chance.

    Args:
        criteria: resolved criteria.
        seeds: how many.
    """
    parts = {key: getattr(criteria, key) for key in ("select", "sample")}
    given = {key: part for key, part in parts.items() if part is not None}
    for number in range(1, seeds + 1 if given else 1):
        seed = max(part.seed or 0 for part in given.values()) + number
        changed = {key: part.model_copy(update={"seed": seed}) for key, part in given.items()}
        yield CriteriaVariant(f"seed {seed}", criteria.model_copy(update=changed))
