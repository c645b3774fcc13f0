"""Which documents of the benchmarks' own tasks in lm-evaluation-harness a subset consists of."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from ....records.items.presets import find_preset
from ..subset import ExportedSource, ExportedSubset
from .asking import known_askings


@dataclass(frozen=True, slots=True)
class Selections:
    """What ``lm_eval --samples`` takes, and what it cannot be given."""

    documents: dict[str, list[int]] = field(default_factory=dict)
    """Task to numbers of documents, ascending: the harness pairs them with documents in order."""
    unselected: dict[str, str] = field(default_factory=dict)
    """Item to the reason why no task has it."""


def selections(export: ExportedSubset) -> Selections:
    """Find the items among the documents of their benchmarks' own tasks."""
    documents: defaultdict[str, set[int]] = defaultdict(set)
    unselected = {}
    columns = ["item_id", "benchmark", "subset", "source_split", "source_row"]
    for row in export.items.select(columns).to_pylist():
        source = export.source(row["benchmark"])
        reason = _reason(source, row)
        if reason is not None:
            unselected[row["item_id"]] = reason
            continue
        task = known_askings()[source.preset or ""].task or ""
        documents[task.replace("{part}", _part(row["subset"]))].add(_number(source, row))
    return Selections({task: sorted(documents[task]) for task in sorted(documents)}, unselected)


def _part(subset: str) -> str:
    return subset.replace(" ", "_")


def _reason(source: ExportedSource, row: dict[str, Any]) -> str | None:
    asking = known_askings().get(source.preset or "")
    if source.preset is None or asking is None or asking.task is None:
        return "no task whose documents are the rows of its dataset"
    preset = find_preset(source.preset)
    if source.dataset != preset.dataset:
        return f"read from another dataset than {preset.dataset}"
    if row["source_split"] != preset.split:
        return f"the task is over the split {preset.split}"
    if source.file is not None and not _counted(source.preset):
        return "read from a file, whose order may be another"
    return None


def _counted(preset: str) -> bool:
    """Whether items are named by their row within their subset, from 0."""
    return any(
        layout.id_pattern is not None or (layout.id is None and layout.count_from == 0)
        for layout in find_preset(preset).layouts
    )


def _number(source: ExportedSource, row: dict[str, Any]) -> int:
    if _counted(source.preset or ""):
        return int(row["item_id"].rpartition("/")[2])
    return int(row["source_row"])
