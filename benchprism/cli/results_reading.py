"""Reading for ``benchprism results add``: logs found, read and joined, with signs of progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchprism.cli.output import say
from benchprism.records.errors import InputError

if TYPE_CHECKING:
    from benchprism.records.results.join import Join, Joined, JoinOptions
    from benchprism.records.results.logs import Log, LogFinding
    from benchprism.records.results.store import ResultsFile
    from benchprism.records.results.tidy_values import Scoring

_SECONDS = 3.0
"""Between two signs of progress."""
_MANY = 1_000_000
"""Results whose join takes long enough to be announced."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to read, and how."""

    targets: Mapping[Path, str]
    """The results table that each path goes to."""
    format_name: str | None
    columns: Mapping[str, str]
    """A table's column for each of ours."""
    benchmark: str | None
    scoring: Scoring


@dataclass(frozen=True, slots=True)
class _Found:
    log: Log
    target: str


def read_all(
    request: Request, items: Path, options: JoinOptions, present: Mapping[str, ResultsFile]
) -> Joined:
    """Read every log and table, and join them to the project's items.

    Args:
        request: what to read.
        items: the folder of the project's items.
        options: how to join.
        present: results that the project has already, by file.

    Raises:
        InputError: there is nothing at a path, the only table there is cannot be read, or an option
            names what is nowhere.
    """
    from benchprism.records.results.join import Join
    from benchprism.records.results.joining.items import read_project_items

    join = Join(read_project_items(items), options)
    found = list(_find(request, join))
    if not (found or join.findings):
        raise _nothing(request, join.skipped)
    with _counting(len(found)) as count:
        for number, one in enumerate(found):
            try:
                _read(one, request, join, partial(count, number))
            except InputError as error:
                if len(found) == 1:
                    raise
                join.findings.append(_finding(one.log, error))
    return join.finish(present)


def _nothing(request: Request, skipped: list[str]) -> InputError:
    kind = f"logs of the format {request.format_name}" if request.format_name else "logs"
    aside = f" (left aside: {', '.join(skipped[:3])}{', ...' * (len(skipped) > 3)})"
    return InputError(
        f"no {kind} and no tables in {', '.join(map(str, request.targets))}{aside * bool(skipped)}",
        wanted="results of a known format",
        mend="check the path, or give a file itself, with its --format",
    )


def _find(request: Request, join: Join) -> Iterator[_Found]:
    """Find the logs at each path, each once; what is no log is a finding."""
    from benchprism.records.results.logs import LogFinding, find_logs

    seen = set[Path]()
    for path, target in request.targets.items():
        for event in find_logs(path, format_name=request.format_name):
            if isinstance(event, LogFinding):
                yield from _doubtful(path, target, event, join)
            elif event.path.resolve() not in seen and event.format != "companion":
                seen.add(event.path.resolve())
                yield _Found(event, target)


def _doubtful(path: Path, target: str, event: LogFinding, join: Join) -> Iterator[_Found]:
    """A table that lacks a column is read all the same, for a sentence that says which.

    In a folder, files of no known format are left aside: logs lie among notes and settings.
    """
    from benchprism.records.results.logs import TIDY, Log
    from benchprism.records.results.tidy_rows import ENDINGS

    if path.is_file() and event.kind == "unknown" and path.suffix.lower() in ENDINGS:
        yield _Found(Log(path, TIDY), target)
    elif path.is_dir() and event.kind == "unknown":
        join.skipped.append(str(Path(event.file).relative_to(path)))
    else:
        join.findings.append(event)


def _read(found: _Found, request: Request, join: Join, count: Callable[[int], None]) -> None:
    from benchprism.records.results.logs import TIDY
    from benchprism.records.results.tidy import read_tidy

    if found.log.format != TIDY:
        for rows in join.add_log(found.log, found.target):
            count(rows)
        return
    table = read_tidy(
        found.log.path,
        columns=request.columns,
        benchmark=request.benchmark,
        scoring=request.scoring,
        step=count,
    )
    join.add_table(found.log.path, table, found.target)


def _finding(log: Log, error: InputError) -> LogFinding:
    from benchprism.records.results.logs import LogFinding

    found = error.found.removeprefix(f"{log.path}: ")
    return LogFinding("layout", str(log.path), found, error.wanted, error.mend)


@contextmanager
def _counting(logs: int) -> Iterator[Callable[[int, int], None]]:
    """Show how much was read: on a terminal in one line, elsewhere by a line every few seconds."""
    state = {"rows": 0, "said": time.monotonic()}

    def text(done: int) -> str:
        return f"Read {state['rows']:,} results; log {done + 1} of {logs}"

    def lines(done: int, rows: int) -> None:
        state["rows"] += rows
        if time.monotonic() - state["said"] >= _SECONDS:
            state["said"] = time.monotonic()
            say(text(done))

    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status("Reading") as status:

            def update(done: int, rows: int) -> None:
                state["rows"] += rows
                status.update(text(done))

            yield update
    else:
        yield lines
    if state["rows"] >= _MANY:
        say(f"Read {state['rows']:,} results; joining them to the items")
