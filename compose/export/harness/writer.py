"""Task files by which evaluation harnesses run an exported folder.

``eval.yaml`` runs as ``inspect eval hf/ORG/NAME``. The folder ``harness/`` holds the rest: a group
of lm-evaluation-harness with one task for each benchmark, a task file of Inspect and one of
lighteval, and ``benchmark_items.py``, which all of them ask for items and scores. Where texts are
left out, it holds ``samples.json`` instead: which documents of the benchmarks' own tasks to run.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..subset import ExportedSubset
from .eval_yaml import eval_yaml
from .lm_eval_tasks import lm_eval_files
from .parts import parts_of, sources_file
from .selections import selections

HARNESS = "harness"
EVAL, SOURCES, SELECTIONS, UNSELECTED = (
    "eval.yaml",
    "sources.json",
    "samples.json",
    "unselected.json",
)
_TASK_FILES = {"inspect": "inspect_task.py", "lighteval": "lighteval_task.py"}
"""Written as they are: what differs from subset to subset is in ``sources.json``."""


def write_harnesses(folder: Path, export: ExportedSubset) -> None:
    """Write the task files into an exported folder, whose data and card are there already."""
    harness = folder / HARNESS
    if export.ids_only:
        chosen = selections(export)
        _write(harness / SELECTIONS, _json(chosen.documents))
        if chosen.unselected:
            _write(harness / UNSELECTED, _json(chosen.unselected))
        return
    parts = list(parts_of(export))
    without_code = eval_yaml(export, parts)
    if without_code is not None:
        _write(folder / EVAL, without_code)
    _write(harness / SOURCES, _json(sources_file(export, parts)))
    for name, text in lm_eval_files(export.name, parts).items():
        _write(harness / name, text)
    _write(harness / "benchmark_items.py", _shipped("benchmark_items.py"))
    for name, task_file in _TASK_FILES.items():
        if any(part.runs_in(name) for part in parts):
            _write(harness / task_file, _shipped(f"{task_file}.jinja"))


def _shipped(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"
