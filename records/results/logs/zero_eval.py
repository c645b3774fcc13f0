"""Replies of ZeroEval: ``result_dirs/<task>/<model>.json``, one JSON list, without scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import content_of
from .findings import LogFinding, expecting
from .json_files import Record, json_array
from .parsing import parsed
from .runs import LogBatch, LogRun, Sample

FORMAT = "zero-eval"


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of replies."""
    first: Any = next(
        (one.value for one in json_array(path) if not isinstance(one, LogFinding)), {}
    )
    with expecting(path, FORMAT):
        run = LogRun(
            run=path.stem,
            model=str(first.get("generator") or path.stem),
            benchmark=str(first.get("dataset") or path.absolute().parent.name),
            source_format=FORMAT,
            source_file=str(path),
        )
    yield LogFinding(
        "not_scored",
        str(path),
        "replies without scores",
        wanted="a score for each item",
        mend="score them with ZeroEval and add its scores as a table",
    )
    samples = parsed(json_array(path), _parse, path=path, format_name=FORMAT)
    yield from batches(run, samples)


def _parse(record: Record) -> Iterator[Sample]:
    yield _sample(record.value)


def _sample(row: Mapping[str, Any]) -> Sample:
    replies = row.get("output") or ()
    return Sample(
        doc_id=str(row.get("id", row.get("session_id"))),
        scores={},
        content=content_of(row),
        response=replies[0] if replies and isinstance(replies[0], str) else None,
    )
