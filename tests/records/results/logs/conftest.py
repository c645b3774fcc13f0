from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchprism.records.results.logs import (
    FORMATS,
    Log,
    LogBatch,
    LogFinding,
    LogRun,
    Sums,
    read_log,
)

DATA = Path(__file__).parents[3] / "data" / "logs"


@dataclass(frozen=True)
class Reading:
    """Everything that reading one log gave."""

    batches: list[LogBatch]
    findings: list[LogFinding]

    @property
    def run(self) -> LogRun:
        return self.batches[-1].run

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in self.batches for row in batch.table.to_pylist()]

    @property
    def kinds(self) -> list[str]:
        return [finding.kind for finding in self.findings]

    def scores(self, metric: str | None = None, kept: str | None = None) -> list[float | None]:
        return [
            row["score"]
            for row in self.rows
            if metric in {None, row["metric"]} and kept in {None, row["filter"]}
        ]

    def means(self) -> dict[tuple[str, ...], float]:
        return self.sums().means(self.run)

    def sums(self) -> Sums:
        sums = Sums()
        for batch in self.batches:
            sums.add(batch)
        return sums


Reader = Callable[[str, Path], Reading]


@pytest.fixture(scope="session")
def data() -> Path:
    return DATA


@pytest.fixture(scope="session")
def read() -> Reader:
    """Read one log in a format; nothing may be raised."""

    def reading(format_name: str, path: Path) -> Reading:
        assert format_name in FORMATS
        events = list(read_log(Log(path, format_name)))
        return Reading(
            [event for event in events if isinstance(event, LogBatch)],
            [event for event in events if isinstance(event, LogFinding)],
        )

    return reading


WriteLines = Callable[[str, Sequence[object]], Path]


@pytest.fixture
def write_lines(tmp_path: Path) -> WriteLines:
    """Write records as JSON lines under a name."""

    def write(name: str, records: Sequence[object]) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
        path.write_text(text, encoding="utf-8", newline="\n")
        return path

    return write


WriteJson = Callable[[str, object], Path]


@pytest.fixture
def write_json(tmp_path: Path) -> WriteJson:
    """Write one JSON value under a name."""

    def write(name: str, value: object) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=2), encoding="utf-8")
        return path

    return write
