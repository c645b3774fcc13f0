"""``eval.yaml``: the file by which ``inspect eval hf/ORG/NAME`` runs a repository without code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....records.documents import dump_document
from ....records.items.record import ItemKind
from ..sources import NEEDS_RECORD, Scoring
from ..subset import SPLIT, ExportedSubset
from .parts import ExportedPart

_SCORERS: dict[Scoring, dict[str, Any]] = {
    "number": {"name": "match", "args": {"location": "end", "numeric": True}},
    "mathematics": {"name": "math"},
    "f1": {"name": "f1"},
}
_PLAIN = {"name": "match", "args": {"location": "end"}}


def eval_yaml(export: ExportedSubset, parts: Sequence[ExportedPart]) -> str | None:
    """Write the file: one task for each configuration that can be judged without code.

    Such a task takes all rows of a configuration. Where one of them has no key, or its rule wants
    more than a key, there is no task: the row would count as wrong, whatever a model answers.
    """
    rules = {kind: {part.scoring for part in parts if part.kind == kind} for kind in export.configs}
    tasks = [_task(kind, own) for kind, own in rules.items() if _can_be_judged(export, kind, own)]
    if not tasks:
        return None
    return dump_document(
        {
            "name": export.name,
            "description": export.description or f"A subset of {_titles(export)}.",
            "evaluation_framework": "inspect-ai",
            "tasks": tasks,
        }
    )


def _titles(export: ExportedSubset) -> str:
    return ", ".join(source.title for source in export.sources)


def _can_be_judged(export: ExportedSubset, kind: ItemKind, rules: set[Scoring]) -> bool:
    key = "answer_index" if kind == "multiple_choice" else "answer_text"
    return not (rules & NEEDS_RECORD or export.table(kind)[key].null_count)


def _task(kind: ItemKind, rules: set[Scoring]) -> dict[str, Any]:
    """One task. Its file has one scorer: the rule's own where all items have the same rule."""
    choice = kind == "multiple_choice"
    scorer = _SCORERS.get(next(iter(rules)), _PLAIN) if len(rules) == 1 else _PLAIN
    fields: dict[str, Any] = {
        "input": "prompt",
        "target": "answer_letter" if choice else "answer_text",
        **({"choices": "choices"} if choice else {}),
        "metadata": ["item_id", "benchmark", "subset"],
    }
    return {
        "id": kind,
        "config": kind,
        "split": SPLIT,
        "field_spec": fields,
        "solvers": [{"name": "multiple_choice" if choice else "generate"}],
        "scorers": [{"name": "choice"} if choice else scorer],
    }
