"""What commands print: data on stdout, progress and hints on stderr."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol

import typer

if TYPE_CHECKING:
    from rich.table import Table

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys instead of showing it; line ends and tabs are shown."""

_ELSEWHERE = 160
"""Columns of a table that is printed to no terminal, or more where its words need them."""
_WIDEST = 100_000


class Progress(Protocol):
    """Something that counts finished steps."""

    def __call__(self, steps: int = 1) -> None:
        """Count ``steps`` more as finished."""


def print_json(data: object) -> None:
    """Print data as JSON; a number that is not defined becomes null."""
    typer.echo(json_text(data))


def json_text(data: object) -> str:
    """Write data as JSON; a number that is not defined becomes null."""
    return json.dumps(_defined(data), ensure_ascii=False, indent=2, allow_nan=False)


def _defined(data: Any) -> Any:
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _defined(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_defined(value) for value in data]
    return data


def printable(text: str) -> str:
    r"""Write characters that a terminal would obey as escapes, such as ``\x1b``."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def counted(number: int, noun: str) -> str:
    """Say how many there are.

    >>> counted(1, "item"), counted(2, "item")
    ('1 item', '2 items')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = ""
) -> None:
    """Print a table for people; columns of numbers stand to the right.

    On a terminal that is too narrow for whole words and numbers, each row is a block of lines.
    """
    from rich.console import Console
    from rich.measure import Measurement
    from rich.text import Text

    colors: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(color_system=colors)
    names = [printable(column) for column in columns]
    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    heading = Text(printable(title), style="bold") if title else None
    table = _table(names, cells)
    needed = Measurement.get(console, console.options.update(width=_WIDEST), table).minimum
    if not console.is_terminal:
        console = Console(color_system=colors, width=max(_ELSEWHERE, needed))
    if needed <= console.width:
        table.title = heading
        console.print(table)
        return
    if heading:
        console.print(heading)
    for row in cells:
        console.print(_block(names, row))


def _table(names: Sequence[str], cells: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title_justify="left", title_style="", box=box.SIMPLE_HEAD)
    for position, name in enumerate(names):
        texts = [row[position] for row in cells]
        number = any(texts) and all(not t or t[0] in "+-0123456789.–" for t in texts)
        table.add_column(Text(name), justify="right" if number else "left", no_wrap=number)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _block(names: Sequence[str], row: Sequence[str]) -> Table:
    """One row, a line a cell."""
    from rich.table import Table
    from rich.text import Text

    block = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    block.add_column(no_wrap=True)
    block.add_column(overflow="fold")
    for name, cell in zip(names, row, strict=True):
        block.add_row(Text(name), Text(cell))
    block.add_row("", "")
    return block


def this_command() -> str:
    """The command that runs, as it can be typed again."""
    return shlex.join(["benchprism", *sys.argv[1:]])


def say(message: str) -> None:
    """Print a hint or a sign of progress on stderr."""
    typer.echo(message, err=True)


@contextmanager
def progress(label: str, total: int) -> Iterator[Progress]:
    """Show the progress of long work: a bar on a terminal, a line every few seconds elsewhere."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        with bar:
            task = bar.add_task(label, total=total)
            yield lambda steps=1: bar.advance(task, steps)
        return
    yield _lines(label, total)


def _lines(label: str, total: int, seconds: float = 5.0) -> Progress:
    import time

    state = {"done": 0, "said": time.monotonic()}

    def step(steps: int = 1) -> None:
        state["done"] += steps
        now = time.monotonic()
        if now - state["said"] >= seconds:
            state["said"] = now
            say(f"{label}: {state['done']} of {total}")

    return step
