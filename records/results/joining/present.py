"""Results that the project has already: found in its files, and not added a second time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..codes import Codes, PairNames, coded_texts
from ..store import TIDY_SCHEMA, ResultsFile
from .items import ProjectItems
from .merging import Merged, item_means


@dataclass(frozen=True, slots=True)
class Repeated:
    """Results that a file of the project has with the same scores."""

    file: str
    results: int
    models: int


@dataclass(frozen=True, slots=True, eq=False)
class _There:
    """What a file has of one model: items in their order, and the mean over trials of each."""

    items: NDArray[np.int32]
    scores: NDArray[np.float64]


def leave_repeated(
    parts: Sequence[Merged],
    files: Mapping[str, ResultsFile],
    items: ProjectItems,
    models: Sequence[str],
) -> list[Repeated]:
    """Take out of each part what a file has already, and count it as duplicated.

    A result is there already when the file has the same score for the model and the item, or has
    any where the part has none. Scores that differ are left in, for the caller to refuse.

    Args:
        parts: what is about to be added.
        files: the project's results, by name.
        items: the items that the parts refer to.
        models: the names that the parts' models stand for.

    Raises:
        InputError: a file cannot be read.
    """
    found = []
    for name, file in files.items():
        own: dict[str, list[Merged]] = defaultdict(list)
        for part in parts:
            if len(part.kept):
                own[models[part.kept.model]].append(part)
        common = sorted(own.keys() & file.distinct("model"))
        if common:
            lookup = _Lookup(items, [part for one in own.values() for part in one])
            counts = [
                sum(_leave(part, there) for part in own[model])
                for model, there in zip(common, _scores(file, common, lookup), strict=True)
            ]
            if sum(counts):
                found.append(Repeated(name, sum(counts), len([count for count in counts if count])))
    return found


class _Lookup:
    """Positions of the items of some parts, by benchmark and id."""

    def __init__(self, items: ProjectItems, parts: Sequence[Merged]) -> None:
        names, owners = items.owners()
        used = np.unique(np.concatenate([part.kept.items for part in parts]))
        self._pairs = PairNames()
        benchmarks = pa.array([names[owner] for owner in owners[used].tolist()], pa.string())
        ids = pa.array([items.ids[at] for at in used.tolist()], pa.string())
        codes = self._pairs.coded(benchmarks, ids).of(slice(None))
        self._positions = np.empty(len(used), dtype=np.int32)
        self._positions[codes] = used

    def positions(self, benchmarks: pa.Array, ids: pa.Array) -> Codes:
        """The position of each row's item, or -1."""
        codes = self._pairs.coded(benchmarks, ids).of(slice(None))
        is_known = codes < len(self._positions)
        found: Codes = np.where(is_known, self._positions[np.where(is_known, codes, 0)], -1)
        return found


def _scores(file: ResultsFile, models: Sequence[str], lookup: _Lookup) -> Iterator[_There]:
    """What a file has of each model on some items."""
    found = []
    for part in file.parts(TIDY_SCHEMA.names):
        (batch,) = part().combine_chunks().to_batches()
        model = coded_texts(batch["model"], models)
        item = lookup.positions(batch["benchmark"], batch["item_id"])
        kept = np.flatnonzero((model >= 0) & (item >= 0))
        scores = batch["score"].to_numpy(zero_copy_only=False)[kept]
        found.append((model[kept], item[kept], scores))
    model, item, scores = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(model, kind="stable")
    ends = np.cumsum(np.bincount(model, minlength=len(models)))
    for rows in np.split(order, ends[:-1]):
        yield _There(*item_means(item[rows], scores[rows]))


def _leave(part: Merged, there: _There) -> int:
    """Take out of a part what a file has of its model; tell how much that was."""
    own, means = item_means(part.kept.items, part.kept.scores)
    _, at, place = np.intersect1d(own, there.items, assume_unique=True, return_indices=True)
    same = (there.scores[place] == means[at]) | np.isnan(means[at])
    again = np.isin(part.kept.items, own[at[same]])
    part.duplicated += int(again.sum())
    part.kept = part.kept.take(np.flatnonzero(~again))
    return int(again.sum())
