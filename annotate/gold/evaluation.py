"""How well annotators find values that are known to be right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from ...metrics.proportions import Proportion
from ...metrics.raters.agreement import Agreement
from ...metrics.raters.gold import LevelErrors, ValueScores, gold_scores, level_errors
from ...metrics.raters.patterns import Codes
from ...prompts.catalogue import Attribute, Value
from ...records.errors import InputError
from ...records.items.cells import text_of
from ..consolidation.agreement import Resampling
from ..consolidation.rating_matrix import RatingMatrix, possible_values

Given = Sequence[Value | None]
"""What one annotator gave for each item with a gold value; none where it gave nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """One annotator compared with gold values of one attribute."""

    attribute: str
    annotator: str
    items: int
    """Items with both: all numbers are over these."""
    missing: int
    """Items with a gold value and none by the annotator. Missing is not wrong."""
    accuracy: Proportion
    """Share of the items with the gold value; of several labels, with all of them and no other."""
    kappa: Agreement
    """Cohen's kappa of gold and annotator, with quadratic weights for levels."""
    values: tuple[str, ...]
    by_value: tuple[ValueScores, ...]
    """Precision, recall and F1 of each value; of several labels, of each label."""
    confusion: Codes | None
    """(V, V): ``[t, v]`` is how many items with gold value t were given v; none for several labels
    at once."""
    errors: LevelErrors | None
    """How far levels are off; none for what has no levels."""

    @property
    def reason(self) -> str | None:
        """Why everything is undefined; none when there is an item to compare."""
        return None if self.items else "no item has both a gold value and an annotation"


@dataclass(frozen=True, slots=True)
class Collapse:
    """Some values of an attribute against all others."""

    values: frozenset[str]
    """As they are written: ``ok``, ``2``, ``true``."""

    def code(self, value: Value) -> int:
        """0 for one of them, 1 for any other."""
        return int(text_of(value) not in self.values)

    def names(self, attribute: Attribute) -> tuple[str, str]:
        """Name both sides.

        Raises:
            InputError: the attribute has several labels at once, lacks one of the values, or has
                no other.
        """
        known = [text_of(value) for value in attribute.values]
        unknown = sorted(self.values - set(known))
        if attribute.type == "labels" or unknown or not set(known) - self.values:
            found = ", ".join(map(repr, unknown)) or "all of its values"
            raise InputError(
                f"{attribute.id!r} cannot be collapsed to {found}",
                wanted=f"an attribute with one value an item, and some of {', '.join(known)}",
                mend="mend --collapse, or name the attribute it is for with --attribute",
            )
        some = ", ".join(name for name in known if name in self.values)
        return some, f"not {some}"


def given_values(matrix: RatingMatrix, items: Sequence[int]) -> dict[str, Given]:
    """What each annotator gave for some items."""
    columns = matrix.codes[list(items)].T.tolist()
    return {
        name: [None if code < 0 else matrix.values[code] for code in column]
        for name, column in zip(matrix.annotators, columns, strict=True)
    }


def evaluate(
    attribute: Attribute,
    given: Mapping[str, Given],
    gold: Sequence[Value],
    resampling: Resampling,
    collapse: Collapse | None = None,
) -> list[Evaluation]:
    """Compare annotators with gold values.

    Args:
        attribute: What is compared.
        given: What each annotator gave for the items.
        gold: Their right values.
        resampling: How the intervals of kappa and of level errors are made; the others are
            Wilson's.
        collapse: Compare only whether a value is one of some.
    """
    if collapse is not None:
        sides = _Coding(collapse.names(attribute), collapse.code)
        return [_single(attribute, name, v, gold, sides, resampling) for name, v in given.items()]
    if attribute.type == "labels":
        return [_several(attribute, name, v, gold, resampling) for name, v in given.items()]
    names = tuple(text_of(value) for value in possible_values(attribute, ()))
    place = {name: code for code, name in enumerate(names)}
    values = _Coding(names, lambda value: place[text_of(value)], levels=attribute.type == "level")
    return [_single(attribute, name, v, gold, values, resampling) for name, v in given.items()]


@dataclass(frozen=True, slots=True)
class _Coding:
    names: tuple[str, ...]
    code: Callable[[Value], int]
    levels: bool = False

    def codes(self, values: Given) -> Codes:
        codes = [-1 if value is None else self.code(value) for value in values]
        return np.array(codes, dtype=np.int64)


def _single(
    attribute: Attribute,
    annotator: str,
    given: Given,
    gold: Given,
    coding: _Coding,
    resampling: Resampling,
) -> Evaluation:
    codes, right = coding.codes(given), coding.codes(gold)
    scores = gold_scores(
        codes,
        right,
        values=len(coding.names),
        weights="quadratic" if coding.levels else "none",
        rng=resampling.stream(attribute.id, annotator, "kappa"),
        level=resampling.level,
        replicates=resampling.replicates,
    )
    errors = None
    if coding.levels:
        errors = level_errors(
            codes,
            right,
            values=len(coding.names),
            rng=resampling.stream(attribute.id, annotator, "errors"),
            level=resampling.level,
            replicates=resampling.replicates,
        )
    return Evaluation(
        attribute=attribute.id,
        annotator=annotator,
        items=scores.items,
        missing=scores.missing,
        accuracy=scores.accuracy,
        kappa=scores.kappa,
        values=coding.names,
        by_value=scores.by_value,
        confusion=scores.confusion,
        errors=errors,
    )


def _several(
    attribute: Attribute, annotator: str, given: Given, gold: Given, resampling: Resampling
) -> Evaluation:
    """Whole sets for accuracy and kappa, each label by itself for precision and recall."""
    sets = possible_values(attribute, [value for value in (*given, *gold) if value is not None])
    place = {text_of(value): code for code, value in enumerate(sets)}
    whole = _Coding(tuple(place), lambda value: place[text_of(value)])
    scores = _single(attribute, annotator, given, gold, whole, resampling)
    labels = tuple(str(label) for label in attribute.values)
    return replace(
        scores,
        values=labels,
        by_value=tuple(_one_label(label, given, gold, resampling) for label in labels),
        confusion=None,
    )


def _one_label(label: str, given: Given, gold: Given, resampling: Resampling) -> ValueScores:
    """Precision, recall and F1 of one label; kappa, which needs many replicates, is not asked."""
    has = _Coding(("no", "yes"), lambda value: int(label in cast(list[str], value)))
    scores = gold_scores(
        has.codes(given),
        has.codes(gold),
        values=2,
        rng=resampling.stream(label),
        level=resampling.level,
        replicates=1,
    )
    return scores.by_value[1]
