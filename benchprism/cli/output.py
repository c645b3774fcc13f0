"""What commands print: data on stdout, progress and hints on stderr."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol

import typer

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys instead of showing it; line ends and tabs are shown."""


class Progress(Protocol):
    """Something that counts finished steps."""

    def __call__(self, steps: int = 1) -> None:
        """Count ``steps`` more as finished."""


def print_json(data: object) -> None:
    """Print data as JSON; a number that is not defined becomes null."""
    typer.echo(json.dumps(_defined(data), ensure_ascii=False, indent=2, allow_nan=False))


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
    """Print a table for people; columns of numbers stand to the right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [["" if cell is None else printable(str(cell)) for cell in row] for row in rows]
    table = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
    )
    for position, column in enumerate(columns):
        texts = [row[position] for row in cells]
        number = any(texts) and all(not t or t[0] in "+-0123456789.–" for t in texts)
        header = Text(printable(column))
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    colors: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    console = Console(color_system=colors)
    if not console.is_terminal:
        console = Console(color_system=colors, width=160)
    console.print(table)


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
