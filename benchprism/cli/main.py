"""The ``benchprism`` command: groups of commands, and the edge where errors become one line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from benchprism.cli import init
from benchprism.records.errors import BenchprismError

app = typer.Typer(
    name="benchprism",
    help="See what a benchmark is made of, item by item, and recompose it.",
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
init.register(app)


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Options of the command itself."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("benchprism"))
        raise typer.Exit


def main() -> None:
    """Run the command line; a known error is one sentence on stderr and an exit code."""
    try:
        app()
    except BenchprismError as error:
        typer.echo(f"benchprism: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        typer.echo("benchprism: interrupted; what was finished is saved", err=True)
        sys.exit(130)
