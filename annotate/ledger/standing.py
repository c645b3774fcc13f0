"""Where an annotation stands: how many items and values each annotator has, failures included."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from ...prompts.catalogue import Catalogue
from ..replay import REPLAY
from .outcome import Status
from .store import Ledger

Counts = dict[Status, int]

_DECLINED: tuple[Status, ...] = ("refused", "filtered")
_ITEMS = """
    SELECT annotator, benchmark, status, count(*) FROM item_state GROUP BY 1, 2, 3
"""
_VALUES = """
    SELECT annotator, attribute, benchmark, a.status, count(*)
    FROM latest_reply JOIN annotation a USING (reply_id) GROUP BY 1, 2, 3, 4
"""
_TOTALS = """
    SELECT annotator, max(model), count(*), total(prompt_tokens), total(cached_tokens),
           total(completion_tokens), sum(price), total(max(attempts - 1, 0)),
           count(price)
    FROM reply GROUP BY annotator ORDER BY annotator
"""


@dataclass(frozen=True, slots=True)
class AnnotatorStanding:
    """What one annotator has cost so far."""

    annotator: str
    model: str
    replies: int
    """Replies in the ledger, those to requests that were made again included."""
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    price: float | None
    repeated: int
    """Attempts beyond the first of each request."""
    priced: int = 0
    """Replies that have a price."""

    @property
    def replayed(self) -> bool:
        """Whether its replies were recorded earlier and are replayed."""
        return self.model.startswith(REPLAY)


@dataclass(frozen=True, slots=True)
class ItemCount:
    """Items of one benchmark that ended one way with one annotator."""

    annotator: str
    benchmark: str
    status: Status
    items: int


@dataclass(frozen=True, slots=True)
class ValueCount:
    """Values of one attribute, over the items of one benchmark, that ended one way."""

    annotator: str
    attribute: str
    benchmark: str
    status: Status
    values: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where an annotation stands. Each item counts by its latest reply."""

    annotators: tuple[AnnotatorStanding, ...]
    items: tuple[ItemCount, ...]
    values: tuple[ValueCount, ...]


def replayed_annotators(ledger: Ledger, item_id: str) -> list[str]:
    """Name the annotators whose replies about an item were recorded earlier and are replayed."""
    rows = ledger.query(
        "SELECT DISTINCT annotator FROM reply WHERE item_id = ? AND substr(model, 1, ?) = ?"
        " ORDER BY annotator", item_id, len(REPLAY), REPLAY,
    )  # fmt: skip
    return [str(annotator) for (annotator,) in rows]


def standing(ledger: Ledger) -> Standing:
    """Count what a ledger has."""
    totals = cast(
        Iterator[tuple[str, str, int, int, int, int, float | None, int, int]], ledger.query(_TOTALS)
    )
    items = cast(Iterator[tuple[str, str, Status, int]], ledger.query(_ITEMS))
    values = cast(Iterator[tuple[str, str, str, Status, int]], ledger.query(_VALUES))
    return Standing(
        tuple(
            AnnotatorStanding(
                name, model, replies, int(p), int(c), int(o), price, int(again), priced
            )
            for name, model, replies, p, c, o, price, again, priced in totals
        ),
        tuple(ItemCount(*row) for row in items),
        tuple(ValueCount(*row) for row in values),
    )


@dataclass(frozen=True, slots=True)
class Cluster:
    """A place where an annotator declines so often that what is missing is no accident."""

    annotator: str
    kind: Literal["dimension", "benchmark"]
    name: str
    """The dimension's id, or the benchmark."""
    title: str
    """The place's name for people."""
    here: float
    """Share of values that are refused or filtered."""
    elsewhere: float
    """The same share in all other places."""

    def __str__(self) -> str:
        return (
            f"{self.annotator} declines {self.here:.1%} of the values in the {self.kind}"
            f" {self.title!r} and {self.elsewhere:.1%} elsewhere: what is missing there is not"
            " missing at random"
        )


def declined_clusters(values: Sequence[ValueCount], catalogue: Catalogue) -> list[Cluster]:
    """Find where refused and filtered values cluster: what is missing there is not at random.

    A dimension or a benchmark is named when its share of declined values is at least twice that of
    the rest, and at least five values are declined.
    """
    dimension = {a.id: d.id for d in catalogue.dimensions for a in d.attributes}
    titles = {d.id: d.title for d in catalogue.dimensions}
    found = []
    for annotator in sorted({count.annotator for count in values}):
        own = [count for count in values if count.annotator == annotator]
        by_dimension = [(dimension.get(count.attribute, ""), count) for count in own]
        by_benchmark = [(count.benchmark, count) for count in own]
        found += [
            Cluster(annotator, "dimension", name, titles.get(name, ""), here, elsewhere)
            for name, here, elsewhere in _clusters(by_dimension)
        ]
        found += [
            Cluster(annotator, "benchmark", name, name, here, elsewhere)
            for name, here, elsewhere in _clusters(by_benchmark)
        ]
    return found


def _clusters(grouped: Sequence[tuple[str, ValueCount]]) -> Iterator[tuple[str, float, float]]:
    """Find groups that decline at least twice as often as the rest."""
    all_values, declined = Counter[str](), Counter[str]()
    for name, count in grouped:
        all_values[name] += count.values
        declined[name] += count.values if count.status in _DECLINED else 0
    for name in sorted(all_values):
        rest = all_values.total() - all_values[name]
        if not rest or declined[name] < 5:
            continue
        here = declined[name] / all_values[name]
        elsewhere = (declined.total() - declined[name]) / rest
        if here >= 2 * elsewhere:
            yield name, here, elsewhere
