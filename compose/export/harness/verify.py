"""The proof of an exported folder: real libraries load it, render it, score it and log it.

Each library runs in a process of its own, in this environment or in another one, with
``probe.py``. A model that knows the keys answers, so that every item has to be scored right; what
was rendered and keyed is compared with the subset's own items, and the logs are read back and
joined to them as ``results add`` does it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from ....records.errors import InputError
from ....records.items.record import ITEM_SCHEMA, Item, item_from_row
from ....records.results.join import Join
from ....records.results.joining.items import ProjectItems
from ....records.results.logs import Log, find_logs
from ..subset import CONFIGS, data_file
from . import probe
from .rendering import Checked, Counts, check_dataset, check_samples

LIBRARIES = ("datasets", "lm_eval", "inspect_ai")
_LONGEST = 3600
"""Seconds that one library may take."""


@dataclass(frozen=True, slots=True)
class LibraryReport:
    """What one library made of the folder."""

    library: str
    version: str | None = None
    """None when it is absent or failed."""
    python: str | None = None
    """In which environment it ran; none when it is in no environment."""
    error: str | None = None
    """Why it could not load or run the folder."""
    benchmarks: Mapping[str, Counts] = field(default_factory=dict)
    without_code: Mapping[str, Counts] = field(default_factory=dict)
    """The same for ``eval.yaml``, which Inspect runs without the task file."""
    differences: tuple[str, ...] = ()
    """The first few."""

    @property
    def is_absent(self) -> bool:
        """Whether no environment has the library, so that nothing was checked."""
        return self.python is None

    @property
    def holds(self) -> bool:
        """Whether nothing that was checked differs."""
        counts = [*self.benchmarks.values(), *self.without_code.values()]
        return self.error is None and all(count.holds for count in counts)


def verify_export(
    folder: Path, items: pa.Table, *, python: Path | None = None
) -> list[LibraryReport]:
    """Load, render, score and join an exported folder by every library that is installed.

    Args:
        folder: what ``export_subset`` wrote, with texts.
        items: the items of the subset, with the columns of ``ITEM_SCHEMA``.
        python: the Python of another environment, which is looked in first.

    Raises:
        InputError: the folder has no texts, or ``python`` is none.
    """
    if not (folder / "harness" / "sources.json").is_file():
        raise InputError(
            f"{folder} has no texts and no task files",
            wanted="an export with texts",
            mend="export it without --ids-only",
        )
    known = {row["item_id"]: item_from_row(row) for row in _rows(items)}
    pythons = [*([] if python is None else [_existing(python)]), Path(sys.executable)]
    return [_report(library, folder, known, items, pythons) for library in LIBRARIES]


def _rows(items: pa.Table) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = items.select(ITEM_SCHEMA.names).to_pylist()
    return rows


def _existing(python: Path) -> Path:
    for found in (python, python / "bin" / "python"):
        if found.is_file() and os.access(found, os.X_OK):
            return found.absolute()
    raise InputError(
        f"--python {str(python)!r}",
        wanted="the Python of another environment",
        mend="name it as in --python harness/bin/python",
    )


def _report(
    library: str, folder: Path, known: Mapping[str, Item], items: pa.Table, pythons: Sequence[Path]
) -> LibraryReport:
    python = next((own for own in pythons if _has(own, library)), None)
    if python is None:
        return LibraryReport(library)
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        error = _run(python, library, folder, out)
        if error is not None:
            return LibraryReport(library, python=str(python), error=error)
        seen = json.loads((out / f"{library}.json").read_text(encoding="utf-8"))
        checks = _checks(library, seen, folder, known)
        checks["tasks"].joined = _joined(out, items)
    return LibraryReport(
        library,
        version=seen["version"],
        python=str(python),
        benchmarks=checks["tasks"].counts(logs=library != "datasets"),
        without_code=checks["eval_yaml"].counts(logs=False) if "eval_yaml" in checks else {},
        differences=tuple(text for check in checks.values() for text in check.differences),
    )


def _has(python: Path, library: str) -> bool:
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({library!r}) is None)"
    return subprocess.run([python, "-I", "-c", code], check=False).returncode == 0  # noqa: S603


def _run(python: Path, library: str, folder: Path, out: Path) -> str | None:
    """Run the probe; the last line of what it says when it fails."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(  # noqa: S603
            [python, "-I", probe.__file__, library, folder.absolute(), out],
            cwd=out,
            env={**os.environ, **offline},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it was not done after {_LONGEST} seconds"
    if ran.returncode == 0:
        return None
    lines = [line for line in ran.stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"it ended with status {ran.returncode}"


def _checks(
    library: str, seen: Mapping[str, Any], folder: Path, known: Mapping[str, Item]
) -> dict[str, Checked]:
    exported = list(_exported(folder))
    if library == "datasets":
        return {"tasks": check_dataset(seen["rows"], exported, known)}
    sources = json.loads((folder / "harness" / "sources.json").read_text(encoding="utf-8"))
    parts = {
        name: part
        for name, part in sources["parts"].items()
        if {"lm_eval": "lm-eval", "inspect_ai": "inspect"}[library] in part["harnesses"]
    }
    checks = {"tasks": check_samples(seen["rows"], exported, known, parts)}
    if seen.get("eval_yaml"):
        kinds = {known[row["item_id"]].kind for row in seen["eval_yaml"] if row["item_id"] in known}
        of_kinds = [row for row in exported if row["kind"] in kinds]
        checks["eval_yaml"] = check_samples(seen["eval_yaml"], of_kinds, known, None)
    return checks


def _exported(folder: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    for config in CONFIGS:
        if (folder / data_file(config)).is_file():
            yield from pq.read_table(folder / data_file(config)).to_pylist()


def _joined(out: Path, items: pa.Table) -> dict[str, int]:
    """How many results of each benchmark the harness's own logs give, joined."""
    join = Join(ProjectItems(items.select(ITEM_SCHEMA.names), {}))
    for log in find_logs(out):
        if isinstance(log, Log) and log.format in {"lm-eval", "inspect"}:
            for _rows_read in join.add_log(log, "verify"):
                pass
    return {row.benchmark: row.counts.joined for row in join.finish().report.benchmarks}
