"""Accuracy tables: models in rows, benchmarks in columns, and what goes with them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import InputError, suggestion
from .grid import Grid, read_grid

Unit = Literal["percent", "proportion"]


@dataclass(frozen=True, slots=True)
class AccuracyTable:
    """Accuracies of models on benchmarks."""

    models: tuple[str, ...]
    """In the table's order."""
    families: dict[str, str]
    """Family of each model that has one."""
    sizes: dict[str, float] | None
    """Size of each model that has one; none when the table has no sizes at all."""
    accuracies: dict[str, dict[str, float]]
    """Accuracy in [0, 1] by benchmark and model; an empty cell is not there."""

    @property
    def looks_like_proportions(self) -> bool:
        """Whether no accuracy exceeds one per cent."""
        return all(value <= 0.01 for row in self.accuracies.values() for value in row.values())


def read_accuracy(path: Path, unit: Unit) -> AccuracyTable:
    """Read an accuracy table.

    Args:
        path: a CSV file. The first column names the models, columns ``family`` and ``size`` are
            optional, every other column is a benchmark.
        unit: whether the accuracies go to 100 or to 1.

    Raises:
        InputError: the file cannot be read, a model is there twice, or an accuracy is no number or
            outside the unit's range.
    """
    grid = read_grid(path)
    names = _names(grid)
    extra = [column for column in ("family", "size") if column in grid.columns[1:]]
    benchmarks = [column for column in grid.columns[1:] if column not in extra]
    if not benchmarks:
        raise InputError(
            f"{path} has no benchmark among its columns",
            wanted="a first column of models and a column for each benchmark",
            mend="add the benchmarks' columns",
        )
    accuracies: dict[str, dict[str, float]] = {}
    for column in benchmarks:
        cells = {name: _accuracy(grid, line, column, unit) for line, name in names.items()}
        accuracies[column] = {name: cell for name, cell in cells.items() if cell is not None}
    families, sizes = {}, {}
    for line, name in names.items():
        if "family" in extra and (family := grid.text(line, "family")):
            families[name] = family
        if "size" in extra and (size := grid.number(line, "size")) is not None:
            sizes[name] = size
    return AccuracyTable(
        models=tuple(names.values()),
        families=families,
        sizes=sizes if "size" in extra else None,
        accuracies=accuracies,
    )


def _names(grid: Grid) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in grid.lines:
        name = grid.text(line, grid.columns[0])
        if not name or name in names.values():
            raise InputError(
                f"{grid.where(line)}: " + (f"the model {name!r} again" if name else "no model"),
                wanted="each model's name once",
                mend="mend the first column",
            )
        names[line] = name
    return names


def _accuracy(grid: Grid, line: int, column: str, unit: Unit) -> float | None:
    value = grid.number(line, column)
    if value is None:
        return None
    top = 100 if unit == "percent" else 1
    if not 0 <= value <= top:
        other = ", or give the unit as percent" if unit == "proportion" else ""
        raise InputError(
            f"{grid.where(line, column)}: the accuracy {grid.text(line, column)!r}",
            wanted=f"a number from 0 to {top}, for the unit {unit}",
            mend=f"mend the cell{other}",
        )
    return value / top


def read_domains(path: Path, benchmarks: Collection[str]) -> dict[str, str]:
    """Read the domain of each benchmark: CSV with the columns benchmark and domain.

    Raises:
        InputError: the file cannot be read, or a benchmark has no domain or two.
    """
    grid = read_grid(path, needed=("benchmark", "domain"))
    domains: dict[str, str] = {}
    for line in grid.lines:
        name, domain = grid.text(line, "benchmark"), grid.text(line, "domain")
        if not domain or domains.get(name, domain) != domain:
            raise InputError(
                f"{grid.where(line)}: the domain {domain!r} of {name!r}",
                wanted="one domain for each benchmark",
                mend="mend the line",
            )
        domains[name] = domain
    for name in benchmarks:
        if name not in domains:
            raise InputError(
                f"{path} has no domain for the benchmark {name!r}",
                wanted="one for each benchmark that is scored",
                mend=suggestion(name, domains),
            )
    return domains


def read_inversions(path: Path, table: AccuracyTable) -> dict[str, dict[str, float]]:
    """Read inversion rates of families: CSV with a column benchmark and one for each family.

    Args:
        path: the file; rates are in [0, 1], an empty cell is not known.
        table: the accuracies that the rates go with.

    Returns:
        Rates by benchmark and family.

    Raises:
        InputError: the file cannot be read, a family or a benchmark is not the table's, or a rate
            is outside [0, 1].
    """
    grid = read_grid(path, needed=("benchmark",))
    families = [column for column in grid.columns if column != "benchmark"]
    known = set(table.families.values())
    for family in families:
        if family not in known:
            raise InputError(
                f"{path}: the family {family!r}",
                wanted="a family of the accuracy table",
                mend=suggestion(family, known) if known else "add a column 'family' to the table",
            )
    rates: dict[str, dict[str, float]] = {}
    for line in grid.lines:
        name = grid.text(line, "benchmark")
        if name not in table.accuracies or name in rates:
            raise InputError(
                f"{grid.where(line)}: the benchmark {name!r}" + (" again" if name in rates else ""),
                wanted="each benchmark of the accuracy table once",
                mend=suggestion(name, table.accuracies) if name not in rates else "remove one line",
            )
        cells = {family: _rate(grid, line, family) for family in families}
        rates[name] = {family: rate for family, rate in cells.items() if rate is not None}
    return rates


def _rate(grid: Grid, line: int, family: str) -> float | None:
    rate = grid.number(line, family)
    if rate is not None and not 0 <= rate <= 1:
        raise InputError(
            f"{grid.where(line, family)}: the inversion rate {rate!r}",
            wanted="a share of pairs, from 0 to 1",
            mend="mend the cell (a CAD of c is a rate of -ln(c) / 12)",
        )
    return rate
