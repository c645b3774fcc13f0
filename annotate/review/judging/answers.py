"""What the answers of people tell: of each other, of the models, and of what they were shown.

A suggestion fills in the form: to submit is to accept it. So what people say after they saw one
agrees with the model more than what they say without, and the two are told apart here. They are
seldom about the same items: a blind sample is drawn at random, the rest for a reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from ....metrics.proportions import Proportion, wilson_interval
from ....metrics.raters.patterns import Codes
from ....prompts.catalogue import Catalogue, Value
from ...consolidation.agreement import AttributeAgreement, Resampling, attribute_agreement
from ...consolidation.policy import ConsolidationSettings, Policy
from ...consolidation.rating_matrix import RatingMatrix, coded, possible_values, rating_matrix
from ...consolidation.settling import settle
from ...ledger.current import current_annotations
from ...ledger.panel import kind_of, rater_of
from ...ledger.store import Ledger
from ..form import Mode
from ..responses import Response

TOGETHER = "people"
"""The annotator that people are when their answers are made one."""
_MODES = """
    SELECT reply_id, json_extract(body, '$.mode') FROM reply JOIN body USING (body_hash)
    WHERE annotator GLOB 'human:*' AND model IN ('argilla', 'page', 'sheet')
"""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How often one person left a suggestion as it was."""

    attribute: str
    user: str
    shown: int
    """Submitted responses in which the suggestion was filled in."""
    accepted: Proportion
    """Share of them that have the suggested value."""


@dataclass(frozen=True, slots=True, eq=False)
class ModelAnswers:
    """One model beside people, on one attribute."""

    model: str
    accuracy: Proportion
    """Share of the items on which it gave what people settled on, of those that both answered."""
    agreement: AttributeAgreement
    """Between the model and what people settled on."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What people said when they were asked in one way."""

    mode: Mode | None
    """None for all ways together."""
    people: tuple[str, ...]
    between_people: tuple[AttributeAgreement, ...]
    """One an attribute; empty when fewer than two people answered."""
    models: tuple[ModelAnswers, ...]
    """One an attribute and model."""


def acceptance(responses: Iterable[Response]) -> list[Acceptance]:
    """Count how often suggestions were accepted, by attribute and person.

    Only submitted responses count in which it is known what the person saw.
    """
    shown, accepted = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for response in responses:
        if response.status == "submitted" and response.mode == "seen":
            for attribute, value in response.suggested.items():
                shown[attribute, response.user] += 1
                accepted[attribute, response.user] += response.values.get(attribute) == value
    return [
        Acceptance(*who, number, wilson_interval(accepted[who], number))
        for who, number in sorted(shown.items())
    ]


def answers(
    ledger: Ledger,
    catalogue: Catalogue,
    items: pa.Table,
    *,
    policy: ConsolidationSettings,
    resampling: Resampling,
    attributes: Collection[str] = (),
) -> list[Answers]:
    """Compare people with each other and with each model: in all, blind, and with suggestions.

    Args:
        ledger: The ledger.
        catalogue: The criteria of today.
        items: A table with ``ITEM_SCHEMA``.
        policy: How ties between people are broken.
        resampling: How intervals are made.
        attributes: The attributes that are compared; all when none are named.

    Returns:
        First all answers, then those of each mode in which there are any.
    """
    by_mode = _replies_by_mode(ledger)
    everything = {name for replies in by_mode.values() for name in replies}

    def of(mode: Mode | None) -> Answers:
        without = everything - by_mode[mode] if mode else set()
        said = current_annotations(ledger, catalogue, items, without=without)
        matrices = [
            rating_matrix(one, items.num_rows)
            for one in said
            if not attributes or one.attribute.id in attributes
        ]
        return _answers(mode, matrices, policy, resampling)

    if not by_mode:
        return []
    together = of(None)
    if len(by_mode) == 1:
        return [together, replace(together, mode=next(iter(by_mode)))]
    return [together, *(of(mode) for mode in sorted(by_mode))]


def beside_people(matrix: RatingMatrix, policy: Policy) -> RatingMatrix:
    """Put one column for what people settle on (``TOGETHER``) beside those of the models.

    Args:
        matrix: What all annotators say of one attribute.
        policy: How ties between people are broken.
    """
    people, models = _people([matrix]), _models(matrix)
    settled = settle(matrix.of(people), policy.for_others)
    said = matrix.of(models)
    values = possible_values(matrix.attribute, [*matrix.values, *settled.values])
    together = _recoded(settled.codes, settled.values, values)
    codes = np.column_stack([together, _recoded(said.codes, said.values, values)])
    unknown = np.full(codes.shape, np.nan)
    return replace(
        matrix,
        annotators=(TOGETHER, *models),
        values=values,
        codes=codes,
        confidences=unknown,
        doubts=unknown,
    )


def _replies_by_mode(ledger: Ledger) -> dict[Mode, set[str]]:
    found: defaultdict[Mode, set[str]] = defaultdict(set)
    for reply, mode in cast(Iterator[tuple[str, Mode]], ledger.query(_MODES)):
        found[mode].add(reply)
    return found


def _answers(
    mode: Mode | None,
    matrices: Sequence[RatingMatrix],
    policy: ConsolidationSettings,
    resampling: Resampling,
) -> Answers:
    people = _people(matrices)
    answered = [matrix for matrix in matrices if _people([matrix])]
    between = [attribute_agreement(matrix.of(people), resampling) for matrix in answered]
    return Answers(
        mode=mode,
        people=tuple(people),
        between_people=tuple(between) if len(people) > 1 else (),
        models=tuple(
            one
            for matrix in answered
            for one in _model_answers(matrix, policy.of(matrix.attribute.type), resampling)
        ),
    )


def _model_answers(
    matrix: RatingMatrix, policy: Policy, resampling: Resampling
) -> Iterator[ModelAnswers]:
    both = beside_people(matrix, policy)
    for model in both.annotators[1:]:
        agreement = attribute_agreement(both.of([TOGETHER, model]), resampling)
        alpha = agreement.alpha
        same = round(alpha.raw * alpha.pairable) if alpha.pairable else 0
        yield ModelAnswers(model, wilson_interval(same, alpha.pairable), agreement)


def _people(matrices: Sequence[RatingMatrix]) -> list[str]:
    names = {name for matrix in matrices for name in matrix.annotators}
    return sorted(name for name in names if kind_of(name) == "human")


def _models(matrix: RatingMatrix) -> list[str]:
    """The first pass of each model."""
    first: dict[str, str] = {}
    for name in sorted(matrix.annotators, key=lambda name: (len(name), name)):
        if kind_of(name) == "llm":
            first.setdefault(rater_of(name), name)
    return sorted(first.values())


def _recoded(codes: Codes, values: Sequence[Value], new: Sequence[Value]) -> Codes:
    places: Codes = np.append(coded(values, new), -1)[codes]
    return places
