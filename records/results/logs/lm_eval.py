"""Samples files of lm-evaluation-harness, 0.4.1 to 0.4.13.

``samples_<task>_<time>.jsonl`` beside ``results_<time>.json``; before 0.4.3 a JSON list beside
``results.json``. A record's ``target`` is not read: it is not always the key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import content_of
from .findings import LogFinding
from .json_files import HEAD, Record, json_array, json_lines, leading_keys
from .lm_eval_passes import Plan, plan_of
from .lm_eval_results import SAMPLES_NAME, Results, find_results, task_of
from .parsing import parsed
from .runs import LogBatch, LogRun, Sample
from .scales import number

FORMAT = "lm-eval"
_NO_SCORES = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    | {"doc_hash", "prompt_hash", "target_hash"}
)
_PAIRS = frozenset({"f1", "mcc", "matthews_corrcoef"})
"""Metrics whose values are pairs of key and answer."""


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one samples file; the results file of the same run is found beside it."""
    with path.open("rb") as file:
        head = file.read(HEAD).decode("utf-8-sig", "replace").lstrip()
    if "results" in leading_keys(head):
        yield _aggregates(path)
        return
    results = find_results(path)
    task = task_of(path, results)
    plan = plan_of(path, task, results)
    first = _first(path, plan)
    run = _run(path, task, results)
    yield from _notes(path, results, run, first)
    yield from plan.findings

    def parse(record: Record) -> Iterator[Sample]:
        if plan.first <= (record.line or 0) <= plan.last:
            yield _sample(record.value, plan.filter_at(record.line or 0))

    yield from batches(run, parsed(_records(path), parse, path=path, format_name=FORMAT))


def _aggregates(path: Path) -> LogFinding:
    return LogFinding(
        "aggregates",
        str(path),
        "results without samples",
        wanted="samples_<task>_<time>.jsonl beside them",
        mend="run the tasks again with --log_samples",
    )


def _run(path: Path, task: str, results: Results) -> LogRun:
    named = SAMPLES_NAME.match(path.name)
    headline = results.headline(task)
    return LogRun(
        run=named["time"] if named else path.stem,
        model=results.model or _model_of_folder(path),
        benchmark=task,
        source_format=FORMAT,
        source_file=str(path),
        version=results.version,
        metric=headline[0] if headline else None,
        filter=headline[1] if headline else "none",
        n_shot=results.n_shot(task),
        subset=results.subset(task),
        groups=results.groups(task),
        stated=results.stated(task),
        lower_is_better=results.lower_is_better(task),
    )


def _model_of_folder(path: Path) -> str:
    """Undo what the harness does to a model's name to make a folder of it."""
    return path.absolute().parent.name.removesuffix("-details").replace("__", "/", 1)


def _notes(
    path: Path, results: Results, run: LogRun, first: Mapping[str, Any]
) -> Iterator[LogFinding]:
    if results.file.finding is not None:
        yield results.file.finding
    if results.has_made_up_name or not results.model:
        how = "drawn at random by the harness" if results.model else "read from the folder's name"
        yield LogFinding(
            "model_name",
            str(path),
            f"the model's name {run.model!r}, {how}",
            wanted="the model's own name",
            mend=f"give it with --rename {run.model}=NAME",
        )
    if _metrics(first) == ["bypass"]:
        yield LogFinding(
            "not_scored",
            str(path),
            "predictions without scores (--predict_only)",
            wanted="scores",
            mend="score the run again without --predict_only",
        )


def _records(path: Path) -> Iterator[Record | LogFinding]:
    with path.open("rb") as file:
        head = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
    return json_array(path) if head.startswith(b"[") else json_lines(path)


def _first(path: Path, plan: Plan) -> Mapping[str, Any]:
    for record in _records(path):
        if not isinstance(record, LogFinding) and (record.line or 0) >= plan.first:
            return record.value if isinstance(record.value, dict) else {}
    return {}


def _sample(value: Mapping[str, Any], unmarked: str) -> Sample:
    metrics = [name for name in _metrics(value) if name != "bypass"]
    filtered = value.get("filtered_resps")
    return Sample(
        doc_id=str(value["doc_id"]),
        scores={metric: _score(metric, value.get(metric)) for metric in metrics},
        filter=str(value.get("filter") or unmarked),
        content=content_of(value.get("doc")),
        response=_response(value.get("resps")),
        choice_index=_choice(filtered, doubled="acc_mutual_info" in metrics),
    )


def _metrics(value: Mapping[str, Any]) -> list[str]:
    listed = value.get("metrics")
    return list(listed) if isinstance(listed, list) else [k for k in value if k not in _NO_SCORES]


def _score(metric: str, value: Any) -> object:
    """One number for one item: a list of booleans is averaged, a pair of labels compared."""
    if not isinstance(value, list) or not value:
        return value
    if all(isinstance(part, bool) for part in value):
        return sum(value) / len(value)
    if metric in _PAIRS and len(value) == 2:
        return value[0] == value[1]
    return value


def _response(replies: Any) -> str | None:
    """The first text generated; log-likelihoods are lists one level deeper."""
    first = replies[0] if isinstance(replies, list) and replies else None
    text = first[0] if isinstance(first, list) and first else None
    return text if isinstance(text, str) else None


def _choice(filtered: Any, *, doubled: bool) -> int | None:
    """The choice with the highest log-likelihood, from pairs of it and a flag."""
    if not isinstance(filtered, list) or len(filtered) < 2:
        return None
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in filtered):
        return None
    logliks = [number(pair[0]) for pair in filtered]
    logliks = logliks[: len(logliks) // 2] if doubled else logliks
    known = [value for value in logliks if value is not None]
    return logliks.index(max(known)) if len(known) == len(logliks) else None
