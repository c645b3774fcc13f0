"""Local files as sources: JSONL, JSON, CSV and Parquet, gzipped or not.

No type is ever inferred: JSON values are as JSON has them, CSV cells are text. A line ends at a
line feed and nowhere else, so the separators of Unicode stay inside a text.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from ..errors import InputError
from .source import Row, Source

_BOM = b"\xef\xbb\xbf"


def read_file(path: Path) -> Source:
    """Read a file of items; its ending says what it is.

    Args:
        path: ``.jsonl``, ``.ndjson``, ``.json``, ``.csv``, ``.tsv`` or ``.parquet``; all but the
            last may end in ``.gz``.

    Returns:
        Every row, with ``sha256:`` of the file's bytes as the revision.

    Raises:
        InputError: the file is missing, damaged, empty or of another kind; the sentence names the
            line.
    """
    if not path.is_file():
        raise InputError(
            f"{path} is {'a folder' if path.is_dir() else 'not there'}",
            wanted="a file of items",
            mend="check the path",
        )
    reader = _READERS.get(_ending(path))
    if reader is None:
        raise InputError(
            f"{path} ends in {path.suffix!r}" if path.suffix else f"{path} has no ending",
            wanted=f"one of {', '.join(_READERS)}, or those but the last with .gz",
            mend="rename the file after what it holds, or convert it",
        )
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            rows = list(reader(cast(IO[bytes], file), path))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error})",
            wanted="a whole file of items",
            mend="check its permissions, or copy it again if it is damaged",
        ) from error
    if not rows:
        raise InputError(f"{path} has no rows", wanted="items", mend="check how the file was made")
    return Source(str(path), f"sha256:{digest}", rows)


def _ending(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        return suffixes[-2] if len(suffixes) > 1 and suffixes[-2] != ".parquet" else ""
    return suffixes[-1] if suffixes else ""


def _bad_line(path: Path, place: str, problem: str, wanted: str) -> InputError:
    return InputError(f"{path}, {place}: {problem}", wanted=wanted, mend="mend it and try again")


def _read_jsonl(file: IO[bytes], path: Path) -> Iterator[Row]:
    for number, line in enumerate(file, start=1):
        place = f"line {number}"
        text = _decode(line.removeprefix(_BOM) if number == 1 else line, path, place)
        if text.strip():
            yield Row(place, _record(_parse_json(text, path, place), path, place))


def _read_json(file: IO[bytes], path: Path) -> Iterator[Row]:
    text = _decode(file.read().removeprefix(_BOM), path, "the file")
    value = _parse_json(text, path, "the file")
    if isinstance(value, dict):
        for key, entry in value.items():
            place = f"entry {key!r}"
            cells = _record(entry, path, place)
            yield Row(place, cells if "id" in cells else {"id": key, **cells})
    elif isinstance(value, list):
        for number, entry in enumerate(value, start=1):
            yield Row(f"entry {number}", _record(entry, path, f"entry {number}"))
    else:
        raise _bad_line(path, "the file", f"{_short(value)} is no list", "a list of records")


def _decode(line: bytes, path: Path, place: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not UTF-8 (0x{line[error.start]:02x})"
        raise _bad_line(path, place, problem, "text in UTF-8") from error


def _parse_json(text: str, path: Path, place: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"{place}, column {error.colno}" if error.lineno == 1 else f"line {error.lineno}"
        raise _bad_line(path, where, f"not JSON ({error.msg})", "JSON") from error
    except (ValueError, RecursionError) as error:
        problem = "records nested too deep" if isinstance(error, RecursionError) else str(error)
        raise _bad_line(path, place, problem, "JSON with each key once") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} twice")
    return record


def _constant(name: str) -> str | None:
    """NaN is how a missing value is often written; infinity is kept as the text it is."""
    return None if name == "NaN" else name


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_constant)


def _record(value: Any, path: Path, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _bad_line(path, place, f"{_short(value)} is no record", "a record of columns")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _read_csv(file: IO[bytes], path: Path, delimiter: str = ",") -> Iterator[Row]:
    csv.field_size_limit(sys.maxsize)  # a passage may be longer than the 128 KiB of the default
    place = "line 1"
    try:
        with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            lines = csv.reader(text, delimiter=delimiter, strict=True)
            header = next(lines, [])
            _check_header(header, path)
            place = f"line {lines.line_num + 1}"
            for cells in lines:
                if cells:
                    yield Row(place, _under(header, cells, path, place))
                place = f"line {lines.line_num + 1}"
    except UnicodeDecodeError as error:
        problem = f"a byte that is not UTF-8 (0x{error.object[error.start]:02x})"
        raise _bad_line(path, f"{place} or later", problem, "text in UTF-8") from error
    except csv.Error as error:
        raise _bad_line(path, place, str(error), "CSV") from error


def _under(header: list[str], cells: list[str], path: Path, place: str) -> dict[str, str]:
    if len(cells) != len(header):
        problem = f"{len(cells)} cells under {len(header)} columns"
        raise _bad_line(path, place, problem, "one cell a column; quote commas in a text")
    return dict(zip(header, cells, strict=True))


def _check_header(header: list[str], path: Path) -> None:
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise _bad_line(path, "line 1", f"the column {twice[0]!r} twice", "each column once")


def _read_parquet(file: IO[bytes], path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches = pq.ParquetFile(file).iter_batches()
        rows = (row for batch in batches for row in batch.to_pylist())
        for number, cells in enumerate(rows, start=1):
            yield Row(f"row {number}", cells)
    except (pa.ArrowException, ValueError) as error:
        raise InputError(
            f"{path} cannot be read as Parquet",
            wanted="a whole Parquet file",
            mend="check how it was made, or copy it again if it is damaged",
        ) from error


_READERS: dict[str, Callable[[IO[bytes], Path], Iterator[Row]]] = {
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
    ".tsv": lambda file, path: _read_csv(file, path, "\t"),
    ".parquet": _read_parquet,
}
