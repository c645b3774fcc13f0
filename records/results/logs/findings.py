"""What a reader has to say about a log: what it could not read, and what it decided."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal[
    "unreadable",
    "too_large",
    "truncated",
    "encoding",
    "not_json",
    "layout",
    "unknown",
    "values",
    "scale",
    "mismatch",
    "not_scored",
    "aggregates",
    "unfinished",
    "rerun",
    "filters",
    "model_name",
    "names",
    "version",
    "columns",
    "missing_scores",
]
"""Which of the cases a finding is; ``NOTES`` are decisions and counts, the others are faults."""

NOTES: frozenset[Kind] = frozenset(
    {
        "unfinished",
        "rerun",
        "filters",
        "model_name",
        "missing_scores",
        "not_scored",
        "aggregates",
        "version",
        "columns",
    }
)


@dataclass(frozen=True, slots=True)
class LogFinding:
    """A sentence about one log; the other logs are read all the same."""

    kind: Kind
    file: str
    found: str
    wanted: str
    mend: str
    line: int | None = None
    """1-based line of the file, where there is one."""

    @property
    def is_fault(self) -> bool:
        """Tell whether something of the log could not be used as it stands."""
        return self.kind not in NOTES

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{where}: {self.found}; wanted {self.wanted}; {self.mend}"


class LogFault(Exception):
    """Stops the reading of one log; ``finding`` says why."""

    def __init__(self, finding: LogFinding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def not_laid_out(path: Path, format_name: str, found: str) -> LogFault:
    """Say that a file is not what its format wants."""
    return LogFault(
        LogFinding(
            "layout",
            str(path),
            found,
            wanted=f"the layout of {format_name}",
            mend="name its format, or remove the file",
        )
    )


def unknown_version(path: Path, version: object, known: Iterable[object]) -> Iterator[LogFinding]:
    """Say that a log states a version of its layout that no one has looked at."""
    wanted = list(known)
    if version is not None and version not in wanted:
        yield LogFinding(
            "version",
            str(path),
            f"the unknown version {version!r} of the log",
            wanted=f"one of {', '.join(map(str, wanted))}",
            mend="it is read as the last of them: compare its scores with what the harness shows",
        )


LAYOUT_ERRORS = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError)
"""What code raises that meets another layout than the one it was written for."""


def reason(error: Exception) -> str:
    """Say what an error of the parser or of a reader means for the file.

    >>> reason(KeyError("model")), reason(RecursionError("maximum depth"))
    ("no 'model'", 'lists and objects nested too deeply')
    """
    if isinstance(error, RecursionError):
        return "lists and objects nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.removesuffix(' at')} at character {error.colno}"
    if isinstance(error, KeyError):
        return f"no {error.args[0]!r}" if error.args else "a key that is not there"
    if isinstance(error, IndexError):
        return "a list that is too short"
    text = str(error)
    if "limit" in text and "digits" in text:
        return "a number with more than 4,300 digits"
    return "a value of another kind" if _INTERNAL.search(text) else text[:120]


_INTERNAL = re.compile(
    r"object|attribute|NoneType|argument|operand|unpack|subscript|invalid literal|could not convert"
)
"""Words by which Python speaks of its own code, not of the file."""


@contextmanager
def expecting(path: Path, format_name: str, *, line: int | None = None) -> Iterator[None]:
    """Turn an unexpected layout inside the block into a ``LogFault``."""
    try:
        yield
    except LAYOUT_ERRORS as error:
        found = f"something that is not laid out as {format_name} ({reason(error)})"
        fault = not_laid_out(path, format_name, found).finding
        raise LogFault(
            LogFinding(fault.kind, fault.file, fault.found, fault.wanted, fault.mend, line)
        ) from error
