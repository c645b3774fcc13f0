"""From samples to tables: scores are placed on 0 to 1, what is missing is marked and counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from ..record import RESULT_SCHEMA, Status
from .findings import LogFinding
from .runs import LogBatch, LogRun, Sample
from .scales import SCALES, UNIT, Scale, is_absent, number

BATCH_ROWS = 4096
BATCH_TEXT = 16 * 2**20
"""Characters of text after which a batch ends, however few its rows."""


def batches(run: LogRun, samples: Iterable[Sample | LogFinding]) -> Iterator[LogBatch | LogFinding]:
    """Gather samples into tables of bounded size; findings pass through, counts come last.

    A run without a headline metric takes the first metric of its first sample.
    """
    rows, tallies = _Rows(run), dict[str, _Values]()
    for sample in samples:
        if isinstance(sample, LogFinding):
            yield sample
            continue
        if run.metric is None and sample.scores:
            run = rows.run = replace(run, metric=next(iter(sample.scores)), filter=sample.filter)
        for metric, value in (sample.scores or {"": None}).items():
            values = tallies.get(metric)
            if values is None:
                values = tallies[metric] = _Values(metric, _scale(run, metric))
            failed = (
                sample.errored if isinstance(sample.errored, bool) else metric in sample.errored
            )
            rows.add(sample, metric, *values.read(value, errored=failed))
        if rows.is_full:
            yield rows.take()
    if rows:
        yield rows.take()
    for values in tallies.values():
        yield from values.findings(run)


def _scale(run: LogRun, metric: str) -> Scale | None:
    """The range of a metric; none when a lower number is better and nothing bounds it."""
    known = run.scales.get(metric) or SCALES.get(metric)
    return known or (None if metric in run.lower_is_better else UNIT)


@dataclass(slots=True)
class _Values:
    """How one metric's values were read, counted for the findings."""

    metric: str
    scale: Scale | None
    absent: int = 0
    unreadable: int = 0
    example: object = None
    outside: tuple[float, float] | None = None

    def read(self, value: object, *, errored: bool) -> tuple[float | None, float | None, Status]:
        """Read one value as score, raw score and status."""
        raw = None if errored else number(value)
        if errored:
            return None, None, "errored"
        if raw is None:
            if is_absent(value):
                self.absent += 1
            else:
                self.example = value if self.unreadable == 0 else self.example
                self.unreadable += 1
            return None, None, "unscored"
        if self.scale is None or (self.scale is UNIT and not UNIT.holds(raw)):
            low, high = self.outside or (raw, raw)
            self.outside = min(low, raw), max(high, raw)
            return None, raw, "unscored"
        return self.scale.place(raw), raw, "scored"

    def findings(self, run: LogRun) -> Iterator[LogFinding]:
        if self.absent and self.metric:
            yield LogFinding(
                "missing_scores",
                run.source_file,
                f"{self.absent} values of {self.metric!r} are null, NaN or infinite",
                wanted="a number",
                mend="they count as unscored, not as wrong",
            )
        if self.unreadable:
            yield LogFinding(
                "values",
                run.source_file,
                f"{self.unreadable} values of {self.metric!r} are no numbers, the first "
                f"{str(self.example)[:60]!r}",
                wanted="a number or a boolean",
                mend="they count as unscored; choose another metric",
            )
        if self.outside:
            low, high = self.outside
            reason = "lower is better" if self.scale is None else "outside 0 to 1"
            yield LogFinding(
                "scale",
                run.source_file,
                f"values of {self.metric!r} from {low:g} to {high:g} ({reason})",
                wanted="a metric on 0 to 1, or on a known range",
                mend="choose another metric; these values count as unscored",
            )


class _Rows:
    """Rows that are not yet a table."""

    def __init__(self, run: LogRun) -> None:
        self.run = run
        self._rows: list[tuple[Any, ...]] = []
        self._text = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def is_full(self) -> bool:
        return len(self._rows) >= BATCH_ROWS or self._text > BATCH_TEXT

    def add(
        self, sample: Sample, metric: str, score: float | None, raw: float | None, status: Status
    ) -> None:
        run, content = self.run, sample.content
        row = (
            run.run,
            run.model if sample.model is None else sample.model,
            run.benchmark,
            run.subset if sample.subset is None else sample.subset,
            sample.doc_id,
            content.source_id,
            content.hashes,
            content.question,
            content.context,
            content.choices,
            sample.trial,
            metric or None,
            sample.filter,
            score,
            raw,
            status,
            sample.choice_index,
            sample.response,
            run.source_format,
            run.source_file,
        )
        self._rows.append(row)
        self._text += sum(map(len, filter(None, (content.question, content.context, row[-3]))))

    def take(self) -> LogBatch:
        """Make a table of the rows and forget them."""
        columns = list(map(list, zip(*self._rows, strict=True)))
        self._rows, self._text = [], 0
        try:
            table = _table(columns)
        except UnicodeEncodeError:
            table = _table(_well_formed(columns))
        return LogBatch(self.run, table)


def _table(columns: list[list[Any]]) -> pa.Table:
    return pa.Table.from_pydict(
        dict(zip(RESULT_SCHEMA.names, columns, strict=True)), schema=RESULT_SCHEMA
    )


def _well_formed(value: Any) -> Any:
    """Replace halves of surrogate pairs, which JSON may hold and UTF-8 may not."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return [_well_formed(part) for part in value] if isinstance(value, list | tuple) else value
