"""Which lines of a samples file count: its filters, and its last complete run.

A file holds all items for the first filter, then all for the second, and so on; a run that is
repeated into the same file is appended. Files from before 0.4.7 mark neither: an item that comes
again starts the next filter or the next run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .findings import LogFinding
from .json_files import RECORD_LIMIT, json_array
from .lm_eval_results import Results

_DOC_ID = re.compile(rb'\s*\{\s*"doc_id": (\d+)[,}]')
_FILTER = re.compile(rb'"filter": "([^"\\]*)", "metrics": \[')


_END = sys.maxsize
"""Lines that are no records stand anywhere, and are said where they are read."""


class _Key(NamedTuple):
    line: int
    doc_id: str
    filter: str | None


@dataclass(slots=True)
class _Pass:
    """Consecutive records in which no item comes twice under one filter."""

    first: int
    last: int
    keys: set[tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to read of a file."""

    first: int
    last: int
    starts: tuple[tuple[int, str], ...]
    """Where each filter's rows start, for files that do not mark them."""
    findings: tuple[LogFinding, ...] = ()

    def filter_at(self, line: int) -> str:
        """The filter of an unmarked record."""
        return next((name for start, name in reversed(self.starts) if start <= line), "none")


def plan_of(path: Path, task: str, results: Results) -> Plan:
    """Go through a file once and decide what to read of it."""
    passes, marked = _passes(path)
    if not passes:
        return Plan(1, _END, ())
    filters = results.filters(task) or ("none",)
    if marked:
        return _last_run(path, [[one] for one in passes], results.samples(task), ())
    known = results.file.path is not None
    if not known and len(passes) > 1:
        return _unknown_filters(path, passes)
    size = len(filters)
    runs = [passes[start : start + size] for start in range(0, len(passes), size)]
    return _last_run(path, runs, results.samples(task), filters)


def _last_run(
    path: Path, runs: list[list[_Pass]], wanted: int | None, filters: tuple[str, ...]
) -> Plan:
    """Choose the last run that has as many rows as the fullest, or as the results file says."""
    sizes = [sum(len(one.keys) for one in run) for run in runs]
    items = [len({doc_id for one in run for doc_id, _ in one.keys}) for run in runs]
    whole = [at for at, size in enumerate(sizes) if size == max(sizes)]
    fitting = [at for at in whole if items[at] == wanted]
    chosen = (fitting or whole)[-1]
    kept = runs[chosen]
    findings = []
    if len(runs) > 1:
        rerun = LogFinding(
            "rerun",
            str(path),
            f"{len(runs)} runs appended to one file; the last complete one is read, lines "
            f"{kept[0].first} to {kept[-1].last}",
            wanted="one run in a file",
            mend="split the file to read another run",
        )
        findings.append(rerun)
    if wanted is not None and items[chosen] != wanted:
        findings.append(_incomplete(path, items[chosen], wanted))
    starts = tuple((one.first, name) for one, name in zip(kept, filters, strict=False))
    first = kept[0].first if chosen else 1
    last = kept[-1].last if chosen < len(runs) - 1 else _END
    return Plan(first, last, starts, tuple(findings))


def _incomplete(path: Path, items: int, wanted: int) -> LogFinding:
    return LogFinding(
        "unfinished",
        str(path),
        f"samples of {items} items",
        wanted=f"{wanted}, as the results file says",
        mend="what is there is read; its mean is not the stated score",
    )


def _unknown_filters(path: Path, passes: list[_Pass]) -> Plan:
    finding = LogFinding(
        "filters",
        str(path),
        f"each item {len(passes)} times without a filter's name and without a results file; taken "
        f"for {len(passes)} filters, called pass-1 to pass-{len(passes)}",
        wanted="the results file beside the samples",
        mend="add it, or choose one of the filters",
    )
    starts = tuple((one.first, f"pass-{at}") for at, one in enumerate(passes, 1))
    return Plan(passes[0].first, passes[-1].last, starts, (finding,))


def _passes(path: Path) -> tuple[list[_Pass], bool]:
    """Split a file's records where an item comes again under the same filter."""
    passes: list[_Pass] = []
    marked = False
    for key in _keys(path):
        marked = marked or key.filter is not None
        item = (key.doc_id, key.filter)
        if not passes or item in passes[-1].keys:
            passes.append(_Pass(key.line, key.line, set()))
        passes[-1].keys.add(item)
        passes[-1].last = key.line
    return passes, marked


def _keys(path: Path) -> Iterator[_Key]:
    with path.open("rb") as file:
        is_array = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    if is_array:
        for record in json_array(path):
            if not isinstance(record, LogFinding) and isinstance(record.value, dict):
                yield _key(record.line or 0, record.value)
        return
    with path.open("rb") as file:
        number = 0
        while line := file.readline(RECORD_LIMIT + 1):
            number += 1
            key = _quick_key(line, number) or _slow_key(line, number)
            if key is not None:
                yield key


def _quick_key(line: bytes, number: int) -> _Key | None:
    """Find id and filter without parsing; the harness writes the id first and the filter late."""
    doc_id, marks = _DOC_ID.match(line), _FILTER.findall(line)
    if doc_id is None or (not marks and b'"filter"' in line) or not line.rstrip().endswith(b"}"):
        return None
    return _Key(number, doc_id[1].decode(), marks[-1].decode() if marks else None)


def _slow_key(line: bytes, number: int) -> _Key | None:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    return _key(number, value) if isinstance(value, dict) and "doc_id" in value else None


def _key(line: int, value: dict[str, Any]) -> _Key:
    marked = value.get("filter")
    return _Key(line, str(value.get("doc_id")), marked if isinstance(marked, str) else None)
