"""Logs of OpenAI evals: one event a line, the specification first and the final report last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import NO_CONTENT, Content
from .findings import LogFault, LogFinding, expecting
from .json_files import RECORD_LIMIT, Record, json_lines, parse_json
from .parsing import parsed
from .prompts import content_of_prompt, last_message
from .runs import LogBatch, LogRun, Sample, StatedScore
from .scales import number

FORMAT = "openai-evals"
_MATCH = "accuracy"
"""What the final report calls the share of matches."""


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one log."""
    with expecting(path, FORMAT):
        run = _run(path)
    if not run.stated:
        yield LogFinding(
            "unfinished",
            str(path),
            "no final report",
            wanted="a run that finished",
            mend="what it holds is read",
        )
    yield from batches(run, _samples(path))


def _run(path: Path) -> LogRun:
    spec, report = _ends(path)
    functions = spec.get("completion_fns") or [spec.get("model_name") or ""]
    stated = tuple(_stated(report))
    named = [score.metric for score in stated]
    return LogRun(
        run=str(spec.get("run_id") or path.stem),
        model=str(functions[0]),
        benchmark=str(spec.get("base_eval") or spec.get("eval_name") or path.stem),
        source_format=FORMAT,
        source_file=str(path),
        metric=_MATCH if _MATCH in named or not named else named[0],
        stated=stated,
    )


def _ends(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Find the specification and the final report, which may have been written twice."""
    spec: Mapping[str, Any] = {}
    report: Mapping[str, Any] = {}
    with path.open("rb") as file:
        while line := file.readline(RECORD_LIMIT):
            if b'"spec"' not in line[:64] and b'"final_report"' not in line[:64]:
                continue
            try:
                value = parse_json(line, path)
            except LogFault:
                continue
            spec = value.get("spec") or spec
            report = value.get("final_report") or report
    return spec, report


def _stated(report: Mapping[str, Any]) -> Iterator[StatedScore]:
    for name, value in report.items():
        read_value = number(value)
        if read_value is not None:
            yield StatedScore(name, "", read_value, is_mean=name in {_MATCH, "score"})


def _samples(path: Path) -> Iterator[Sample | LogFinding]:
    replies: dict[str, Mapping[str, Any]] = {}
    trials: Counter[tuple[str, str]] = Counter()

    def parse(record: Record) -> Iterator[Sample]:
        return _event(record.value, replies, trials)

    return parsed(json_lines(path), parse, path=path, format_name=FORMAT)


def _event(
    event: Mapping[str, Any],
    replies: dict[str, Mapping[str, Any]],
    trials: Counter[tuple[str, str]],
) -> Iterator[Sample]:
    """Read one event; what was asked comes before the verdict on it."""
    kind, item, data = event.get("type"), str(event.get("sample_id")), event.get("data") or {}
    if kind == "sampling":
        replies[item] = data
    if kind not in {"match", "metrics", "error"}:
        return
    asked = replies.pop(item, {}) if kind != "metrics" else replies.get(item, {})
    trial = trials[kind, item]
    trials[kind, item] += 1
    scores = {_MATCH: data.get("correct")} if kind == "match" else dict(data)
    yield Sample(
        doc_id=item,
        scores={} if kind == "error" else scores,
        trial=trial,
        content=_content(data, asked),
        response=_sampled(data, asked),
        errored=kind == "error",
    )


def _content(data: Mapping[str, Any], asked: Mapping[str, Any]) -> Content:
    text = last_message(data.get("prompt") or asked.get("prompt"))
    return NO_CONTENT if text is None else content_of_prompt(text)


def _sampled(data: Mapping[str, Any], asked: Mapping[str, Any]) -> str | None:
    text = data.get("sampled", asked.get("sampled"))
    first = text[0] if isinstance(text, list) and text else text
    return first if isinstance(first, str) else None
