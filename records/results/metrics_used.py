"""Which metrics and filters the results of a benchmark are of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .store import ResultsFile

_COLUMNS = ["benchmark", "metric", "filter"]
_NO_FILTER = frozenset({"", "none"})
"""How harnesses say that replies are scored as they are."""
_SEVERAL = "several"
_ROWS = 2**20
"""Of a table, looked at together."""
Tables = Mapping[str, pa.Table | ResultsFile]


@dataclass(frozen=True, slots=True)
class MetricUse:
    """A metric after a filter, and how many of a benchmark's models are scored by it."""

    metric: str | None
    """None of a table, which does not say."""
    filter: str | None
    models: int

    def __str__(self) -> str:
        after = f" after the filter {self.filter}" if self.filter else ""
        models = f"{self.models} model{'s' if self.models != 1 else ''}"
        return f"{self.metric or 'a metric that is not stated'}{after} ({models})"


def mixed_metrics(
    tables: Tables, benchmarks: Iterable[str] | None = None
) -> dict[str, tuple[MetricUse, ...]]:
    """Find the benchmarks whose results are of several metrics or filters.

    Args:
        tables: results tables, or files of them, by name.
        benchmarks: only these; all when not given.

    Returns:
        By benchmark, how its models are scored: first what most are.

    Raises:
        InputError: a file cannot be read.
    """
    only = {_only_kind(table) for table in tables.values()}
    if len(only) == 1 and _SEVERAL not in only:
        return {}
    wanted = None if benchmarks is None else frozenset(benchmarks)
    kinds: dict[str, set[_Kind]] = defaultdict(set)
    for table in tables.values():
        for benchmark, metric, kept in _combinations(table, _COLUMNS):
            if wanted is None or benchmark in wanted:
                kinds[benchmark or ""].add(_kind(metric, kept))
    mixed = {name for name, own in kinds.items() if len(own) > 1}
    return _counted(tables, mixed) if mixed else {}


def benchmarks_of(tables: Mapping[str, pa.Table]) -> frozenset[str]:
    """The benchmarks that results tables are of."""
    found = (table["benchmark"].unique().to_pylist() for table in tables.values())
    return frozenset(name for names in found for name in names)


_Kind = tuple[str | None, str | None]


def _kind(metric: str | None, kept: str | None) -> _Kind:
    return metric or None, None if kept in _NO_FILTER else kept


def _counted(tables: Tables, mixed: Collection[str]) -> dict[str, tuple[MetricUse, ...]]:
    models: dict[tuple[str, _Kind], set[str]] = defaultdict(set)
    for table in tables.values():
        for benchmark, metric, kept, model in _combinations(table, [*_COLUMNS, "model"]):
            if benchmark in mixed:
                models[benchmark or "", _kind(metric, kept)].add(model or "")
    uses: dict[str, list[MetricUse]] = defaultdict(list)
    for (benchmark, kind), own in sorted(models.items(), key=lambda one: (-len(one[1]), str(one))):
        uses[benchmark].append(MetricUse(*kind, len(own)))
    return {benchmark: tuple(uses[benchmark]) for benchmark in sorted(uses)}


def _only_kind(table: pa.Table | ResultsFile) -> _Kind | str:
    """The metric and filter of all of a file's rows, where its marks tell without reading it."""
    if isinstance(table, ResultsFile):
        metric, kept = table.constant("metric"), table.constant("filter")
        if metric is not None and kept is not None:
            return _kind(metric[0], kept[0])
        return _SEVERAL
    found = {_kind(*own) for own in _combinations(table, _COLUMNS[1:])}
    return found.pop() if len(found) == 1 else _SEVERAL


def _combinations(
    table: pa.Table | ResultsFile, columns: Sequence[str]
) -> set[tuple[str | None, ...]]:
    """The distinct combinations of some columns of text; one that is not there is null."""
    found: set[tuple[str | None, ...]] = set()
    names = table.names if isinstance(table, ResultsFile) else table.column_names
    there = [name for name in columns if name in names]
    for part in _parts(table, there):
        coded = [_coded(part[name]) for name in there]
        width = np.cumprod([1, *(len(words) for _, words in coded)])
        keys = sum(codes * place for (codes, _), place in zip(coded, width, strict=False))
        for key in np.unique(keys).tolist():
            row = {
                name: words[key // place % len(words)]
                for name, (_, words), place in zip(there, coded, width.tolist(), strict=False)
            }
            found.add(tuple(row.get(name) for name in columns))
    return found


def _parts(table: pa.Table | ResultsFile, columns: list[str]) -> Iterator[pa.Table]:
    if isinstance(table, ResultsFile):
        yield from (read() for read in table.parts(columns))
    else:
        own = table.select(columns)
        yield from (own.slice(start, _ROWS) for start in range(0, len(own), _ROWS))


def _coded(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[str | None]]:
    """Each row's place among the column's texts; the last of them is null."""
    whole = column.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks)
    if not pa.types.is_dictionary(whole.type):
        whole = whole.dictionary_encode()
    words: list[str | None] = [*whole.dictionary.to_pylist(), None]
    return whole.indices.fill_null(len(words) - 1).to_numpy().astype(np.int64), words
