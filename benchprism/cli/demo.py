"""``benchprism demo``: an audit of bundled real items, offline, command by command."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from benchprism.cli.output import say

if TYPE_CHECKING:
    from benchprism.demo.demo import Step


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(demo)


def demo(
    folder: Annotated[Path, typer.Argument(help="The folder to make.", metavar="DIR")] = Path(
        "benchprism-demo"
    ),
) -> None:
    """Audit bundled real items of eight benchmarks: offline, in less than a minute.

    It runs the ordinary commands and shows each with its output, so each can be run again.
    Annotations are a replay of recorded ones, and say so.

    Example: benchprism demo
    """
    from benchprism.demo.demo import STEPS, Step, prepare, unpack

    prepare(folder)
    _run(Step("", ("init", str(folder))))
    unpack(folder)
    _show(shlex.join(["cd", str(folder)]))
    with chdir(folder):
        for step in STEPS:
            _run(step)
    _say_what_is_next(folder)


def _run(step: Step) -> None:
    """Run one command in this process, as the command line would, and show the start of it."""
    from benchprism.cli.main import app

    if step.says:
        typer.secho(f"\n# {step.says}", bold=True)
    _show(shlex.join(["benchprism", *step.command]))
    with _shortened(step.lines):
        code = app(step.command, prog_name="benchprism", standalone_mode=False) or 0
    if code and not (step.findings and code == 1):
        say(f"The demo stopped: 'benchprism {step.command[0]}' ended with exit code {code}.")
        raise typer.Exit(code)


def _show(command: str) -> None:
    typer.secho(f"$ {command}", fg=typer.colors.CYAN)


@contextmanager
def _shortened(lines: int) -> Iterator[None]:
    """Show so many lines of what is printed; without any, hints are not shown either."""
    out = _Shortened(sys.stdout, lines)
    hints = sys.stderr if lines else io.StringIO()
    sys.stdout.flush()
    with redirect_stdout(out), redirect_stderr(hints):
        yield
    sys.stdout.flush()


class _Shortened(io.TextIOBase):
    """A stream that passes on its first lines that are not blank, and tells that there are more."""

    def __init__(self, stream: TextIO, lines: int) -> None:
        self._stream, self._lines, self._shown, self._line = stream, lines, 0, ""

    def write(self, text: str) -> int:
        *whole, self._line = (self._line + text).split("\n")
        for line in filter(str.strip, whole):
            self._shown += 1
            if self._shown <= self._lines:
                self._stream.write(f"{line.rstrip()}\n")
            elif self._lines and self._shown == self._lines + 1:
                self._stream.write("  ...\n")
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


def _say_what_is_next(folder: Path) -> None:
    page = folder / "reports" / "report.html"
    typer.secho(
        "\n# Done. The annotations above are a replay; the items and outcomes are real.", bold=True
    )
    typer.echo(f"Open {page} in a browser. Then, on your own data:\n")
    for command in (
        "benchprism init my-audit",
        "benchprism items add mine --project my-audit --from questions.csv"
        " --map question=QUESTION --map choices=A,B,C,D --map answer=KEY",
        "benchprism annotate --project my-audit --limit 20   # asks the model in benchprism.yaml",
    ):
        _show(command)
