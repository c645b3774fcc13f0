"""The ``benchprism`` command: groups of commands, and the edge where errors become one line."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from benchprism.cli import (
    annotate,
    compose,
    demo,
    diff,
    evaluate,
    init,
    items,
    report,
    results,
    review,
    schema,
    score,
)
from benchprism.records.errors import BenchprismError

FLOW = [
    "demo", "init", "items", "annotate", "review", "results", "compose",
    "explain", "diff", "score", "report",
]  # fmt: skip
"""The commands in the order of the work; help lists any others after them."""


class _InOrder(TyperGroup):
    """Lists the commands in the order of the work."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: FLOW.index(name) if name in FLOW else len(FLOW))


app = typer.Typer(
    name="benchprism",
    help="See what a benchmark is made of, item by item, and recompose it.",
    cls=_InOrder,
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo, init, items, annotate, evaluate, review, results, compose, diff, score, report, schema,
):  # fmt: skip
    command.register(app)


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
    """Run the command line; whatever goes wrong is one sentence on stderr and an exit code."""
    try:
        code = app(standalone_mode=False)
    except BenchprismError as error:
        sys.exit(_complain(str(error), error.exit_code))
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(_complain("interrupted; what was finished is saved", 130))
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stderr.close()
        sys.exit(0)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "benchprism"
        found = " ".join(error.format_message().split()).rstrip(".?")
        sys.exit(_complain(f"{found}; see '{path} --help'", 2))
    sys.exit(code if isinstance(code, int) else 0)


def _complain(sentence: str, code: int) -> int:
    typer.echo(f"benchprism: {sentence}", err=True)
    return code
