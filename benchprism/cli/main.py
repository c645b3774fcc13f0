"""The ``benchprism`` command: groups of commands, and the edge where errors become one line."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import Annotated, Any

try:
    import typer
    from typer.core import TyperGroup

    from benchprism.cli import (
        annotate,
        compose,
        demo,
        diff,
        evaluate,
        export,
        init,
        items,
        report,
        results,
        review,
        schema,
        score,
    )
    from benchprism.cli.output import printable
    from benchprism.records.errors import BenchprismError, InputError
    from benchprism.records.files import reason, remedy
except KeyboardInterrupt:  # Ctrl-C while the modules load
    sys.stderr.write("benchprism: interrupted; nothing was done\n")
    raise SystemExit(130) from None

FLOW = [
    "demo", "init", "items", "annotate", "review", "results", "compose",
    "explain", "diff", "export", "score", "report",
]  # fmt: skip
"""The commands in the order of the work; help lists any others after them."""


class _InOrder(TyperGroup):
    """Lists the commands in the order of the work."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: FLOW.index(name) if name in FLOW else len(FLOW))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:  # typer would end without a word
            raise typer.Abort from error


app = typer.Typer(
    name="benchprism",
    help="See what a benchmark is made of, item by item, and recompose it.",
    epilog=(
        "Exit codes: 0 done, 1 findings or a failed check, 2 wrong usage or input, 3 needs"
        " confirmation, 4 budget or quota reached, 130 interrupted (what came is saved)."
    ),
    cls=_InOrder,
    no_args_is_help=True,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo, init, items, annotate, evaluate, review, results, compose, diff, export, score, report,
    schema,
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
    sys.exit(_run())


def _run() -> int:
    try:
        code = app(standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer and rich end with 1
            return _end_quietly()
        raise
    except BrokenPipeError:
        return _end_quietly()
    except BenchprismError as error:
        return _complain(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted; what was finished is saved", 130)
    except OSError as error:
        return _complain(str(_unusable(error)), 2)
    except UnicodeEncodeError as error:
        return _complain(str(_unwritable(error)), 2)
    except typer.TyperException as error:
        return _misused(error)
    return code if isinstance(code, int) else 0


def _misused(error: typer.TyperException) -> int:
    found = " ".join(error.format_message().split()).rstrip(".")
    if not found:  # nothing was asked, and the help is printed
        return 2
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "benchprism"
    found = re.sub(r"\.? Did you mean", "; did you mean", found)
    joint = "" if found.endswith("?") else ";"
    return _complain(f"{found}{joint} see '{path} --help'", 2)


def _end_quietly() -> int:
    """End well: the reader of a pipe has seen enough."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError):
            stream.close()
    return 0


def _unusable(error: OSError) -> InputError:
    connection = error.errno is None or isinstance(error, ConnectionError)
    place = error.filename or ("a connection" if connection else "the output")
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:  # or Python would try once more, and complain
        with suppress(OSError):
            sys.stdout.close()
    return InputError(
        f"{place} cannot be used ({reason(error)})",
        wanted="what can be read and written",
        mend=remedy(error),
    )


def _unwritable(error: UnicodeEncodeError) -> InputError:
    return InputError(
        f"{error.object[error.start : error.end]!r} cannot be written as {error.encoding}",
        wanted="text that the encoding has",
        mend="choose another name, or set PYTHONIOENCODING=utf-8",
    )


def _complain(sentence: str, code: int) -> int:
    with suppress(OSError):
        typer.echo(f"benchprism: {printable(sentence)}", err=True)
    return code
