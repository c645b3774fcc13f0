"""Reading whatever logs are at a path: found, told apart, and read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ...errors import InputError, suggestion
from . import (
    eq_bench,
    evalscope,
    every_eval_ever,
    helm,
    ifeval,
    inspect_log,
    leaderboard,
    lighteval,
    lm_eval,
    openai_evals,
    opencompass,
    wide,
    zero_eval,
)
from .detect import TIDY, format_of
from .files_found import files_in, unreadable
from .findings import LogFault, LogFinding, expecting, not_laid_out
from .runs import LogBatch

Reader = Callable[[Path], Iterator[LogBatch | LogFinding]]

FORMATS: Mapping[str, Reader] = {
    module.FORMAT: module.read
    for module in (
        lm_eval,
        inspect_log,
        every_eval_ever,
        evalscope,
        helm,
        lighteval,
        leaderboard,
        opencompass,
        openai_evals,
        eq_bench,
        ifeval,
        zero_eval,
        wide,
    )
}
"""The reader of each format of logs."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log that was found, and the format it is in: a key of ``FORMATS``, or ``TIDY``."""

    path: Path
    format: str


def find_logs(path: Path, *, format_name: str | None = None) -> Iterator[Log | LogFinding]:
    """Find the logs at a path, in the order of their names; hidden files are left alone.

    Args:
        path: a file, or a folder that is searched with all its folders.
        format_name: take the file for this format; in a folder, look for logs of this format only.

    Yields:
        The logs, and a finding for each file that cannot be read or is in no known format.

    Raises:
        InputError: there is nothing at the path, or no such format.
    """
    if format_name is not None and format_name not in {*FORMATS, TIDY}:
        raise InputError(
            f"--format {format_name}",
            wanted="a known format",
            mend=suggestion(format_name, [*FORMATS, TIDY]),
        )
    if not path.exists():
        raise InputError(
            f"{path} is not there", wanted="a log or a folder of logs", mend="check the path"
        )
    if not (path.is_dir() or path.is_file()):
        raise InputError(
            f"{path} is a pipe or a device",
            wanted="a log or a folder of logs",
            mend="save what it gives in a file",
        )
    if path.is_file() and format_name is not None:
        yield Log(path, format_name)
        return
    for file in files_in(path) if path.is_dir() else [path]:
        found = file if isinstance(file, LogFinding) else _recognise(file)
        wanted = (format_name,) if format_name else (*FORMATS, TIDY)
        if isinstance(found, LogFinding) or found.format in wanted:
            yield found


def _recognise(path: Path) -> Log | LogFinding:
    try:
        found = format_of(path)
    except OSError as error:
        return unreadable(path, error)
    except LogFault as fault:
        return fault.finding
    if found is not None:
        return Log(path, found)
    return LogFinding(
        "unknown",
        str(path),
        "a file in no known format",
        wanted=f"one of {', '.join([*FORMATS, TIDY])}",
        mend="name its format with --format, or leave it out",
    )


def read_log(log: Log, models: Collection[str] = ()) -> Iterator[LogBatch | LogFinding]:
    """Read one log; whatever is wrong with it becomes a finding.

    Args:
        log: the log.
        models: of a wide table, whose columns may be of anything, only these.
    """
    is_empty = True
    read = partial(wide.read, models=models) if log.format == wide.FORMAT else FORMATS[log.format]
    try:
        with expecting(log.path, log.format):
            for event in read(log.path):
                is_empty &= isinstance(event, LogFinding) and event.kind == "model_name"
                yield event
        if is_empty:
            raise not_laid_out(log.path, log.format, "nothing to read")
    except LogFault as fault:
        yield fault.finding
    except OSError as error:
        yield unreadable(log.path, error)


def read_logs(path: Path, *, format_name: str | None = None) -> Iterator[LogBatch | LogFinding]:
    """Find and read the logs at a path; tidy tables are left to ``records.results.tidy``.

    Raises:
        InputError: there is nothing at the path, or no such format.
    """
    for log in find_logs(path, format_name=format_name):
        if isinstance(log, LogFinding):
            yield log
        elif log.format in FORMATS:
            yield from read_log(log)
