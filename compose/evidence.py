"""Evidence: what models scored on the items, as fields that criteria can ask about.

Statistics of an item are worked out over all models with results; which models they are is part
of the lock. Numbers are rounded to nine decimals, so that the last bits of a processor's
arithmetic decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..metrics.alignment import families_of, item_alignment, item_inversions
from ..metrics.counting.division import ratio
from ..metrics.items import item_statistics as statistics
from ..metrics.scorecard import Model
from ..records.errors import suggestion
from ..records.results.matrix import Outcomes
from .language.errors import CriteriaError
from .language.extends import Place

OUTCOME = "outcome:"
"""How the field is named that holds a model's score on each item: ``outcome:MODEL``."""
DECIMALS = 9

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Scores of models on items."""

    outcomes: tuple[Outcomes, ...]
    """By benchmark."""
    models: tuple[Model, ...]
    """Every model with scores: its family and size, as far as they are declared."""

    def of(self, names: Iterable[str]) -> tuple[Model, ...]:
        """The models of these names, in their order."""
        known = {model.name: model for model in self.models}
        return tuple(known.get(name, Model(name)) for name in names)


def inversion_rates(given: Outcomes, models: tuple[Model, ...]) -> Column:
    """Share of a family's pairs of models that an item turns round, over all families."""
    found = item_inversions(given.scores, families_of(*_declared(models)))
    return ratio(found.inverted, found.compared)


def alignments(given: Outcomes, models: tuple[Model, ...]) -> Column:
    """The item's own CAD."""
    return item_alignment(item_inversions(given.scores, families_of(*_declared(models))))


def _declared(models: tuple[Model, ...]) -> tuple[list[str | None], list[float | None]]:
    return [model.family for model in models], [model.size for model in models]


STATISTICS: Mapping[str, Callable[[Outcomes, tuple[Model, ...]], Column]] = {
    "difficulty": lambda given, _: statistics.difficulty(given.scores),
    "discrimination": lambda given, _: statistics.discrimination(given.scores),
    "variance": lambda given, _: statistics.variance(given.scores),
    "inversion_rate": inversion_rates,
    "cad": alignments,
}
"""The statistics of an item, by the name of the field."""


def is_evidence(field: str) -> bool:
    """Whether a field needs results."""
    return field in STATISTICS or field.startswith(OUTCOME)


def with_evidence(
    table: pa.Table, fields: Mapping[str, Place], evidence: Evidence | None
) -> pa.Table:
    """Add the fields among ``fields`` that need results.

    An item without results, or for which a statistic is undefined, has none.

    Args:
        table: an attribute table.
        fields: fields that criteria name, with where they do.
        evidence: the results; none when there are not any.

    Raises:
        CriteriaError: there are no results, or a model has none.
    """
    for field, place in fields.items():
        if not is_evidence(field) or field in table.column_names:
            continue
        if evidence is None:
            raise CriteriaError(
                f"{field!r}, which needs results",
                wanted="scores of models on the items",
                mend="add them with 'benchprism results add FILE'",
                place=place,
            )
        table = table.append_column(field, _column(table["item_id"], field, place, evidence))
    return table


def _column(
    item_ids: pa.ChunkedArray, field: str, place: Place, evidence: Evidence
) -> pa.ChunkedArray:
    if field in STATISTICS:
        measure = STATISTICS[field]
        return joined(item_ids, {g: measure(g, evidence.of(g.models)) for g in evidence.outcomes})
    model = field.removeprefix(OUTCOME)
    _check_model(model, {name for given in evidence.outcomes for name in given.models}, place)
    return joined(
        item_ids,
        {
            given: given.scores[:, given.models.index(model)].astype(np.float64)
            for given in evidence.outcomes
            if model in given.models
        },
    )


def _check_model(model: str, known: Collection[str], place: Place) -> None:
    if model not in known:
        raise CriteriaError(
            f"the unknown model {model!r}",
            wanted="a model with results",
            mend=suggestion(model, known),
            place=place,
        )


def joined(item_ids: pa.ChunkedArray, columns: Mapping[Outcomes, Column]) -> pa.ChunkedArray:
    """Bring numbers about the items of several benchmarks into the order of ``item_ids``."""
    names = pa.chunked_array([pa.array(given.item_ids, pa.string()) for given in columns] or [[]])
    numbers = np.concatenate([np.empty(0), *columns.values()]).round(DECIMALS)
    values = pa.array(numbers, pa.float64(), from_pandas=True)
    found = pc.index_in(item_ids, value_set=names.cast(pa.string()).combine_chunks())
    return pa.chunked_array([values.take(found.combine_chunks())])
