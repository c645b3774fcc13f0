"""Task files of lm-evaluation-harness: a group, and one task for each benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from ..subset import SPLIT
from .parts import ExportedPart, plain

_MODULE = "benchmark_items"
_VERSION = 1.0
_UNFILTERED = "none"
_FILTERS: dict[str, dict[str, Any]] = {
    "strict": {
        "name": "strict-match",
        "filter": [
            {"function": "regex", "regex_pattern": r"#### (\-?[0-9\.\,]+)"},
            {"function": "take_first"},
        ],
    },
    "flexible": {
        "name": "flexible-extract",
        "filter": [
            {
                "function": "regex",
                "group_select": -1,
                "regex_pattern": r"(-?[$0-9.,]{2,})|(-?[0-9]+)",
            },
            {"function": "take_first"},
        ],
    },
}
_METRICS = {
    "f1": ("em", "f1"),
    "emotions": ("eqbench", "percent_parseable"),
    "instructions": ("prompt_level_strict_acc", "prompt_level_loose_acc"),
}


class _Function(str):
    """The name of a function of ``benchmark_items.py``."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Quotes what YAML 1.1 would read as something else: the harness reads YAML 1.1."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True

    def represent_function(self, name: _Function) -> yaml.Node:
        return self.represent_scalar("!function", f"{_MODULE}.{name}")


_Dumper.add_representer(_Function, _Dumper.represent_function)


def lm_eval_files(subset: str, parts: Iterable[ExportedPart]) -> dict[str, str]:
    """Write the files, by name: ``NAME.yaml`` is the group, the others are its tasks."""
    group = plain(subset)
    runnable = [part for part in parts if part.runs_in("lm-eval")]
    files = {f"{group}_{part.name}": _task(part, f"{group}_{part.name}") for part in runnable}
    if files:
        files = {group: _group(group, runnable), **files}
    return {f"{name}.yaml": _yaml(content) for name, content in files.items()}


def _yaml(content: Mapping[str, Any]) -> str:
    return yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


def _group(name: str, runnable: Iterable[ExportedPart]) -> dict[str, Any]:
    """The group. A metric is averaged over the items of all tasks that have it."""
    tasks: dict[tuple[str, str], list[str]] = {}
    for part in runnable:
        tasks.setdefault((part.metric, _filter(part)), []).append(f"{name}_{part.name}")
    if len(tasks) == 1:
        [((metric, kept), members)] = tasks.items()
        return _members(name, name, members, metric, kept)
    inner = [
        _members(
            f"{name}_by_{plain(metric)}" + ("" if kept == _UNFILTERED else f"_{plain(kept)}"),
            metric if kept == _UNFILTERED else f"{metric} ({kept})",
            members,
            metric,
            kept,
        )
        for (metric, kept), members in tasks.items()
    ]
    return {"group": name, "task": inner, "metadata": {"version": _VERSION}}


def _filter(part: ExportedPart) -> str:
    """The filter whose score is averaged: of several the one that all such tasks have."""
    return str(_FILTERS["flexible"]["name"]) if part.scoring == "number" else _UNFILTERED


def _members(name: str, alias: str, members: list[str], metric: str, kept: str) -> dict[str, Any]:
    average = {"metric": metric, "aggregation": "mean", "weight_by_size": True}
    return {
        "group": name,
        "group_alias": alias,
        "task": members,
        "aggregate_metric_list": [{**average, "filter_list": [kept]}],
        "metadata": {"version": _VERSION},
    }


def _task(part: ExportedPart, name: str) -> dict[str, Any]:
    return {
        "task": name,
        "task_alias": part.source.benchmark,
        "custom_dataset": _Function("load"),
        "dataset_kwargs": {"part": part.name},
        "test_split": SPLIT,
        "num_fewshot": 0,
        **(_likelihood(part) if part.by_likelihood else _generation(part)),
        "metric_list": [
            {"metric": metric, "aggregation": "mean", "higher_is_better": True}
            for metric in _metrics(part)
        ],
        "metadata": {"version": _VERSION},
    }


def _metrics(part: ExportedPart) -> tuple[str, ...]:
    if part.scoring in _METRICS:
        return _METRICS[part.scoring]
    return ("acc", "acc_norm") if part.metric == "acc_norm" else (part.metric,)


def _likelihood(part: ExportedPart) -> dict[str, Any]:
    """Columns by their bare names: what stands in them is neither rendered nor cast.

    For ``blank`` the harness wants the key in place of the prompt, the beginnings as choices, and
    as target the ending that all of them share.
    """
    blank = part.scoring == "blank"
    return {
        "output_type": "multiple_choice",
        "doc_to_text": "gold" if blank else "query",
        "doc_to_choice": "options",
        "doc_to_target": "target" if blank else "gold",
    }


def _generation(part: ExportedPart) -> dict[str, Any]:
    how = part.asking
    filters = [_FILTERS[name] for name in how.filters] if part.scoring == "number" else None
    return {
        "output_type": "generate_until",
        "doc_to_text": "query",
        "doc_to_target": "target",
        "process_results": _Function(f"judge_{part.scoring}"),
        "generation_kwargs": {
            "until": how.stop,
            "do_sample": False,
            "temperature": 0.0,
            "max_gen_toks": how.tokens,
        },
        **({"filter_list": filters} if filters else {}),
    }
