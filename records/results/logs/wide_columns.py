"""Which columns of a wide table hold scores, told from all their cells and said aloud."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .findings import LogFault, LogFinding
from .scales import UNIT, is_absent, number
from .wide_rows import Row

_WORDS = {"true": 1.0, "false": 0.0}
_SHOWN = 20


def score_of(cell: object) -> object:
    """Read a cell: a number where it is one, with the words for true and false.

    >>> score_of("0.5"), score_of(" True "), score_of("algebra")
    (0.5, 1.0, 'algebra')
    """
    read = _WORDS.get(cell.strip().lower()) if isinstance(cell, str) else None
    read = number(cell) if read is None else read
    return cell if read is None else read


@dataclass(slots=True)
class Column:
    """What the cells of a column are."""

    numbers: int = 0
    low: float = float("inf")
    high: float = float("-inf")

    def add(self, cell: object) -> None:
        """Take a cell; one that is no number says nothing."""
        score = score_of(cell)
        if isinstance(score, bool | int | float) and not is_absent(score):
            self.numbers += 1
            self.low, self.high = min(self.low, score), max(self.high, score)

    @property
    def is_on_scale(self) -> bool:
        """Whether its numbers are all from 0 to 1."""
        return UNIT.holds(self.low) and UNIT.holds(self.high)


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a wide table that may hold scores, by name."""

    scores: dict[str, Column] = field(default_factory=dict)
    """Those with at least one number."""
    texts: dict[str, Column] = field(default_factory=dict)
    """Those with text alone, or nothing: they are left aside."""
    broken: LogFinding | None = None
    """Why not all rows could be read."""

    def findings(self, path: Path, kind: str) -> Iterator[LogFinding]:
        """Say what the columns are taken for.

        Args:
            path: the table.
            kind: what a column of scores is of: models, or items.

        Raises:
            LogFault: no column has a number, or some have numbers on another scale than the rest.
        """
        ways = "name the models with --model, or " if kind == "models" else ""
        if not self.scores:
            raise LogFault(
                self.broken
                or LogFinding(
                    "values",
                    str(path),
                    f"no number in {_listed(self.texts) or 'any column of the models asked for'}",
                    wanted="a column of scores",
                    mend="write scores as numbers from 0 to 1",
                )
            )
        outside = {name: own for name, own in self.scores.items() if not own.is_on_scale}
        if outside and len(outside) < len(self.scores):
            first, own = next(iter(outside.items()))
            raise LogFault(
                LogFinding(
                    "scale",
                    str(path),
                    f"{_listed(outside)}: numbers that are no scores ({first!r} has {own.low:g} to"
                    f" {own.high:g})",
                    wanted="0 to 1 in every column but the first",
                    mend=f"{ways}remove the columns that are no {kind}",
                )
            )
        if self.texts:
            yield LogFinding(
                "columns",
                str(path),
                f"{_listed(self.texts)} left aside",
                wanted="numbers",
                mend="nothing of them is a score",
            )
        yield LogFinding(
            "columns",
            str(path),
            f"{_listed(self.scores)} taken as {kind}",
            wanted=f"a column for each of the {kind}",
            mend=f"{ways}remove the others, if some are none",
        )


def columns_of(rows: Iterable[Row | LogFinding], names: Sequence[str]) -> Columns:
    """Look at every cell of some columns."""
    columns = {name: Column() for name in names}
    broken = None
    for row in rows:
        if isinstance(row, LogFinding):
            broken = broken or row
            continue
        for name, column in columns.items():
            column.add(row[name])
    return Columns(
        {name: column for name, column in columns.items() if column.numbers},
        {name: column for name, column in columns.items() if not column.numbers},
        broken,
    )


def _listed(names: Iterable[str]) -> str:
    every = [repr(name) for name in names]
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    which = "column" if len(every) == 1 else f"{len(every)} columns"
    return f"the {which} {', '.join(every[:_SHOWN])}{more}" if every else ""
