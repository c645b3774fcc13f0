"""Do the rows of a log give the scores that the log itself states?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .findings import LogFinding
from .runs import LogBatch, LogRun, StatedScore

TOLERANCE = 1e-9


class Sums:
    """Means over items of one file's rows, a repeated item counting once."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str, str], LogRun] = {}
        self._items: dict[tuple[str, str, str], dict[tuple[str, ...], _Items]] = defaultdict(dict)

    def add(self, batch: LogBatch) -> None:
        """Add the rows of a batch."""
        run = batch.run
        key = (run.source_file, run.run, run.benchmark)
        self._runs[key] = run
        keys = ["metric", "filter", "subset", "doc_id"]
        grouped = batch.table.group_by(keys).aggregate(
            [("raw_score", "sum"), ("raw_score", "count")]
        )
        for row in grouped.to_pylist():
            if row["raw_score_count"]:
                items = self._items[key].setdefault((row["metric"], row["filter"]), _Items())
                items.add(
                    (row["subset"], row["doc_id"]), row["raw_score_sum"], row["raw_score_count"]
                )

    def means(self, run: LogRun) -> dict[tuple[str, ...], float]:
        """The mean raw score by metric and filter."""
        key = (run.source_file, run.run, run.benchmark)
        return {scored: items.mean() for scored, items in self._items[key].items()}

    def findings(self) -> Iterator[LogFinding]:
        """Name each stated mean that the rows do not give."""
        for run in self._runs.values():
            means = self.means(run)
            for stated in run.stated:
                mean = means.get((stated.metric, stated.filter))
                if mean is not None and _is_checkable(stated, run) and _differs(mean, stated):
                    yield _mismatch(run, stated, mean)


class _Items:
    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], tuple[float, int]] = {}

    def add(self, item: tuple[str, str], total: float, count: int) -> None:
        known, times = self._sums.get(item, (0.0, 0))
        self._sums[item] = known + total, times + count

    def mean(self) -> float:
        return sum(total / times for total, times in self._sums.values()) / len(self._sums)


def _is_checkable(stated: StatedScore, run: LogRun) -> bool:
    return stated.is_mean and not stated.benchmark and stated.subset in {"", run.subset}


def _differs(mean: float, stated: StatedScore) -> bool:
    slack = TOLERANCE if stated.decimals is None else 0.5001 * 10.0**-stated.decimals
    return abs(mean - stated.value) > slack


def _mismatch(run: LogRun, stated: StatedScore, mean: float) -> LogFinding:
    return LogFinding(
        "mismatch",
        run.source_file,
        f"items of {run.benchmark!r} whose mean {stated.metric!r} is {mean:.6g}",
        wanted=f"{stated.value:.6g}, as the log states",
        mend="some of its items are missing or belong to another task; run it again",
    )
