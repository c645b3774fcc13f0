"""Run folders of HELM: ``run_spec``, ``scenario``, ``scenario_state``, ``per_instance_stats``.

A metric is stated for each split, so the split is the filter; perturbed copies of an instance are
a filter of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import Content, stated_content
from .findings import LogFinding, expecting
from .json_files import Record, json_array, load_json
from .parsing import parsed
from .prompts import content_of_prompt
from .runs import LogBatch, LogRun, Sample, StatedScore
from .scales import number

FORMAT = "helm"
PER_INSTANCE = "per_instance_stats.json"
_STATE = "scenario_state.json"
_BOOKKEEPING = (
    "num_",
    "training_",
    "inference_",
    "finish_reason_",
    "batch_size",
    "prompt_truncated",
    "max_prob",
    "logprob",
    "logprob_per_byte",
    "bits_per_byte",
    "perplexity",
    "predicted_index",
)
"""Statistics of a run that say nothing of whether an answer is right."""
_Key = tuple[str, int, str]
"""An instance, its trial, and the name of its perturbation."""


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one run; ``path`` is its folder or one of the files in it."""
    folder = path if path.is_dir() else path.parent
    with expecting(folder, FORMAT):
        run = _run(folder)
        states = _states(folder)
    yield from batches(run, _samples(folder, states))


def _run(folder: Path) -> LogRun:
    spec = load_json(folder / "run_spec.json")
    scenario = folder / "scenario.json"
    name = load_json(scenario)["name"] if scenario.is_file() else spec["name"].split(":")[0]
    stated = tuple(_stated(folder))
    headline = _headline(spec, stated)
    arguments = spec.get("scenario_spec", {}).get("args") or {}
    named = folder.absolute()
    return LogRun(
        run=f"{named.parent.name}/{named.name}",
        model=str(spec["adapter_spec"]["model"]),
        benchmark=str(name),
        source_format=FORMAT,
        source_file=str(folder / PER_INSTANCE),
        metric=headline.metric if headline else None,
        filter=headline.filter if headline else "test",
        n_shot=spec["adapter_spec"].get("max_train_instances"),
        subset=str(arguments.get("subject") or arguments.get("subset") or ""),
        stated=stated,
    )


def _headline(spec: Mapping[str, Any], stated: tuple[StatedScore, ...]) -> StatedScore | None:
    """The first metric that the run asked for, on the test split where there is one."""
    asked = [
        name
        for metric in spec.get("metric_specs") or ()
        for name in (metric.get("args") or {}).get("names") or ()
    ]
    ranked = sorted(
        (score for score in stated if not asked or score.metric in asked),
        key=lambda score: (
            asked.index(score.metric) if asked else 0,
            score.filter != "test",
        ),
    )
    return ranked[0] if ranked else None


def _stated(folder: Path) -> Iterator[StatedScore]:
    path = folder / "stats.json"
    for stat in load_json(path) if path.is_file() else ():
        name, value = stat["name"], number(stat.get("mean"))
        if "perturbation" in name or value is None or not _is_score(name["name"]):
            continue
        yield StatedScore(name["name"], str(name.get("split") or ""), value)


def _is_score(metric: str) -> bool:
    return not metric.startswith(_BOOKKEEPING)


def _states(folder: Path) -> dict[_Key, list[Mapping[str, Any]]]:
    """What was asked and answered; with separate choices, one request for each choice."""
    path = folder / _STATE
    states: dict[_Key, list[Mapping[str, Any]]] = {}
    for state in load_json(path)["request_states"] if path.is_file() else ():
        instance = state["instance"]
        states.setdefault(_key(instance["id"], state, instance), []).append(state)
    return states


def _key(instance_id: Any, trial: Mapping[str, Any], holder: Mapping[str, Any]) -> _Key:
    perturbation = (holder.get("perturbation") or {}).get("name") or ""
    return str(instance_id), int(trial.get("train_trial_index") or 0), str(perturbation)


def _samples(
    folder: Path, states: Mapping[_Key, list[Mapping[str, Any]]]
) -> Iterator[Sample | LogFinding]:
    def parse(record: Record) -> Iterator[Sample]:
        key = _key(record.value["instance_id"], record.value, record.value)
        return _by_split(key, record.value["stats"], states.get(key, []))

    path = folder / PER_INSTANCE
    return parsed(json_array(path), parse, path=path, format_name=FORMAT)


def _by_split(
    key: _Key, stats: list[Mapping[str, Any]], states: list[Mapping[str, Any]]
) -> Iterator[Sample]:
    item, trial, perturbation = key
    by_split: dict[str, dict[str, object]] = {}
    for stat in stats:
        name = stat["name"]
        if _is_score(name["name"]):
            value = stat.get("mean") if stat.get("count") else None
            by_split.setdefault(str(name.get("split") or ""), {})[name["name"]] = value
    failed = any(not (state.get("result") or {}).get("success", True) for state in states)
    content = _content(states[0]) if states else Content()
    for split, scores in by_split.items():
        yield Sample(
            doc_id=item,
            scores=scores,
            filter=f"{split}/{perturbation}" if perturbation else split,
            trial=trial,
            content=content,
            response=_reply(states),
            choice_index=_choice(states),
            errored=failed,
        )


def _content(state: Mapping[str, Any]) -> Content:
    """The item; of an open question the references are answers, not choices."""
    instance = state["instance"]
    text = str(instance["input"].get("text") or "")
    references = [str(one["output"]["text"]) for one in instance.get("references") or ()]
    is_choice = bool(state.get("output_mapping")) or state.get("reference_index") is not None
    if is_choice and len(references) > 1:
        return stated_content(text, references)
    return content_of_prompt(text)


def _reply(states: list[Mapping[str, Any]]) -> str | None:
    if len(states) != 1:
        return None
    completions = (states[0].get("result") or {}).get("completions") or ()
    text = completions[0].get("text") if completions else None
    return text if isinstance(text, str) else None


def _choice(states: list[Mapping[str, Any]]) -> int | None:
    """The reference behind the letter that the model gave."""
    reply = (_reply(states) or "").strip()
    text = (states[0].get("output_mapping") or {}).get(reply) if states else None
    if text is None:
        return None
    references = [one["output"]["text"] for one in states[0]["instance"]["references"]]
    return references.index(text) if text in references else None
