r"""Reading JSON that may be damaged: line by line, element by element, or whole.

A line ends at ``\n`` only: U+2028, U+0085 and a lone CR are text. Nothing larger than a limit is
taken into memory, and a bad line costs that line alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .findings import LogFault, LogFinding, reason

RECORD_LIMIT = 256 * 2**20
"""Bytes of one line or one element of a list."""
FILE_LIMIT = 256 * 2**20
"""Bytes of a JSON file that can only be read whole."""
HEAD = 2**16
"""Bytes that are enough to tell what a file is."""
_CHUNK = 2**20
_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]')
_BLANK = " \t\r\n"


class Record(NamedTuple):
    """A value and the 1-based line on which it starts, where the file has lines."""

    line: int | None
    value: Any


def json_lines(path: Path) -> Iterator[Record | LogFinding]:
    """Yield the value of each line; of the bad lines, the first is described, the rest counted."""
    bad: list[LogFinding] = []
    with path.open("rb") as file:
        number = 0
        while line := file.readline(RECORD_LIMIT + 1):
            number += 1
            if len(line) > RECORD_LIMIT:
                yield _too_large(path, number)
                return
            value = _parse_line(line, path, number)
            if not isinstance(value, LogFinding):
                if value is not None:
                    yield value
                continue
            bad.append(value)
            if len(bad) == 1:
                yield value
    if len(bad) > 1:
        yield LogFinding(
            bad[1].kind,
            str(path),
            f"{len(bad) - 1} more lines that cannot be read, the next of them line {bad[1].line}",
            wanted="one JSON object a line",
            mend="mend or remove them; the other lines are read",
        )


def _parse_line(line: bytes, path: Path, number: int) -> Record | LogFinding | None:
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        return not_utf8(path, number, error)
    if not text.strip(_BLANK):
        return None
    try:
        return Record(number, json.loads(text))
    except (ValueError, RecursionError) as error:
        cut = not line.endswith(b"\n") and isinstance(error, json.JSONDecodeError)
        return LogFinding(
            "truncated" if cut else "not_json",
            str(path),
            "a line that stops in the middle"
            if cut
            else f"a line that is not JSON ({reason(error)})",
            wanted="one JSON object a line",
            mend="copy the file again; the other lines are read",
            line=number,
        )


def json_array(path: Path) -> Iterator[Record | LogFinding]:
    """Yield the elements of a file that is one JSON list of objects, one at a time."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _elements(file, path)
    except UnicodeDecodeError as error:
        yield not_utf8(path, None, error)


def _elements(file: Any, path: Path) -> Iterator[Record | LogFinding]:
    decoder = json.JSONDecoder()
    buffer, at, line = file.read(_CHUNK).lstrip(_BLANK), 1, 1
    if not buffer.startswith("["):
        yield LogFinding(
            "layout", str(path), "no list", wanted="a JSON list", mend="check the format"
        )
        return
    while True:
        while at < len(buffer) and buffer[at] in " \t\r\n,":
            line += buffer[at] == "\n"
            at += 1
        if buffer.startswith("]", at):
            return
        try:
            value, end = decoder.raw_decode(buffer, at)
        except (ValueError, RecursionError):
            more = file.read(max(_CHUNK, len(buffer) - at))
            if not more or len(buffer) - at > RECORD_LIMIT:
                yield _too_large(path, line) if more else _list_stops(path, line)
                return
            buffer, at = buffer[at:] + more, 0
            continue
        yield Record(line, value)
        line += buffer.count("\n", at, end)
        at = end


def load_json(path: Path, *, limit: int = FILE_LIMIT) -> Any:
    """Read a file that is one JSON value.

    Raises:
        LogFault: it is too large, not UTF-8, not JSON, or stops in the middle.
    """
    size = path.stat().st_size
    if size > limit:
        raise LogFault(
            LogFinding(
                "too_large",
                str(path),
                f"{size:,} bytes",
                wanted=f"a JSON file of at most {limit:,} bytes",
                mend="write the log in a form that is read in parts, such as .eval or JSON lines",
            )
        )
    return parse_json(path.read_bytes(), path)


@dataclass(frozen=True, slots=True)
class Beside:
    """A JSON object in a file that belongs to a log."""

    path: Path | None = None
    """None when there is no such file."""
    data: Mapping[str, Any] = field(default_factory=dict)
    finding: LogFinding | None = None
    """Why the file cannot be used; the log is read without it."""


def beside(path: Path) -> Beside:
    """Read a file that belongs to a log, if it is there."""
    if not path.is_file():
        return Beside()
    try:
        data = load_json(path)
    except LogFault as fault:
        return Beside(finding=fault.finding)
    return Beside(path, data) if isinstance(data, Mapping) else Beside()


def parse_json(data: bytes, path: Path, *, member: str = "") -> Any:
    """Parse a whole JSON value, from a file or from a member of an archive.

    Raises:
        LogFault: it is not UTF-8, not JSON, or stops in the middle.
    """
    name = f"{path}, {member}" if member else str(path)
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LogFault(not_utf8(Path(name), None, error)) from error
    except (ValueError, RecursionError) as error:
        cut = isinstance(error, json.JSONDecodeError) and error.pos >= len(error.doc.rstrip()) - 1
        raise LogFault(
            LogFinding(
                "truncated" if cut else "not_json",
                name,
                "JSON that stops in the middle" if cut else f"no JSON ({reason(error)})",
                wanted="a whole JSON value",
                mend="copy the file again",
                line=getattr(error, "lineno", None),
            )
        ) from error


def not_utf8(path: Path, line: int | None, error: UnicodeDecodeError) -> LogFinding:
    """Say which bytes of a file are no text."""
    return LogFinding(
        "encoding",
        str(path),
        f"the bytes {error.object[error.start : error.start + 4]!r}, which are not UTF-8",
        wanted="UTF-8 text",
        mend="save the file as UTF-8",
        line=line,
    )


def _too_large(path: Path, line: int) -> LogFinding:
    return LogFinding(
        "too_large",
        str(path),
        f"a record of more than {RECORD_LIMIT:,} bytes",
        wanted="smaller records",
        mend="remove the record; what stands before it is read",
        line=line,
    )


def _list_stops(path: Path, line: int) -> LogFinding:
    return LogFinding(
        "truncated",
        str(path),
        "a list that stops in the middle or is not JSON from there",
        wanted="a whole JSON list",
        mend="copy the file again; what stands before is read",
        line=line,
    )


def leading_keys(text: str, *, depth: int = 1) -> frozenset[str]:
    """The keys of the first object in a text, or of the first one inside it.

    >>> text = '[{"a": {"b": 1}, "c": [2]}, {"d": 3}]'
    >>> sorted(leading_keys(text)), sorted(leading_keys(text, depth=2))
    (['a', 'c'], ['b'])
    """
    wanted, keys = depth + text.startswith("["), set[str]()
    depth, last = 0, ""
    for match in _PART.finditer(text):
        part = match[0]
        if part in "{[":
            depth += 1
        elif part in "}]":
            depth -= 1
            if depth < wanted and keys:
                break
        elif part == ":" and depth == wanted and last.startswith('"'):
            keys.add(_unquoted(last))
        last = part
    return frozenset(keys)


def _unquoted(part: str) -> str:
    try:
        return str(json.loads(part))
    except ValueError:
        return part.strip('"')
