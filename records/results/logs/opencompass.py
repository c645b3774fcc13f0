"""Results of OpenCompass: ``results/<model>/<dataset>.json`` with its details.

Predictions alone (``predictions/...``) have no scores. Items have no id of their own, only a place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import NO_CONTENT, Content
from .findings import LogFinding, expecting, not_laid_out
from .json_files import Record, load_json
from .parsing import parsed
from .prompts import content_of_prompt, last_message
from .runs import LogBatch, LogRun, Sample, StatedScore
from .scales import number

FORMAT = "opencompass"
_CORRECT = ("correct", "is_correct", "cascade_correct")
_METRIC = "accuracy"
_PLACES = 2
"""Decimals to which some evaluators round their percentages."""


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of results with details, or one of predictions."""
    data = load_json(path)
    if not isinstance(data, Mapping):
        raise not_laid_out(path, FORMAT, "no JSON object")
    details = data.get("details", data if _are_predictions(data) else None)
    if details is None:
        yield _finding(path, "aggregates", "aggregates without details", "details of each item")
        return
    if details is data:
        yield _finding(path, "not_scored", "predictions without scores", "the file in results/")
    with expecting(path, FORMAT):
        run = _run(path, data)
    yield from batches(run, _samples(path, details))


def _are_predictions(data: Mapping[str, Any]) -> bool:
    first = next(iter(data.values()), None)
    return "0" in data and isinstance(first, Mapping)


def _finding(path: Path, kind: Any, found: str, wanted: str) -> LogFinding:
    return LogFinding(
        kind, str(path), found, wanted, mend="run the evaluation with --dump-eval-details"
    )


def _run(path: Path, data: Mapping[str, Any]) -> LogRun:
    stated = tuple(_stated(data))
    parents = path.absolute().parents
    return LogRun(
        run=(parents[2].name if len(parents) > 2 else "") or path.stem,
        model=parents[0].name,
        benchmark=path.stem,
        source_format=FORMAT,
        source_file=str(path),
        metric=_METRIC if "details" in data else None,
        stated=stated,
    )


def _stated(data: Mapping[str, Any]) -> Iterator[StatedScore]:
    """The accuracy, which OpenCompass gives in per cent; of several runs it gives the average."""
    for name, value in data.items():
        percent = number(value)
        if percent is not None and name.partition(" (")[0] == _METRIC:
            yield StatedScore(_METRIC, "", percent / 100, decimals=_PLACES + 2)


def _samples(path: Path, details: Any) -> Iterator[Sample | LogFinding]:
    if isinstance(details, Mapping):
        rows = [(str(place), row) for place, row in details.items() if place != "type"]
    else:
        rows = [(_place(row, place), row) for place, row in enumerate(details)]

    def parse(record: Record) -> Iterator[Sample]:
        place, row = record.value
        return _trials(place, row)

    records = (Record(None, row) for row in rows)
    return parsed(records, parse, path=path, format_name=FORMAT)


def _place(row: Mapping[str, Any], place: int) -> str:
    """The item's number within its data set, which ends ``example_abbr``."""
    return str(row.get("example_abbr") or place).rpartition("_")[2]


def _trials(place: str, row: Mapping[str, Any]) -> Iterator[Sample]:
    """One sample for each repeat; without a verdict there is no score."""
    verdict = next((row[name] for name in _CORRECT if name in row), None)
    verdicts = verdict if isinstance(verdict, list) else [verdict]
    content = _content(row)
    for trial, correct in enumerate(verdicts):
        yield Sample(
            doc_id=place,
            scores={_METRIC: correct} if any(name in row for name in _CORRECT) else {},
            trial=trial,
            content=content,
            response=_response(row, trial),
            choice_index=_least(row.get("origin_prediction")),
        )


def _content(row: Mapping[str, Any]) -> Content:
    prompt = row.get("prompt", row.get("origin_prompt"))
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], str | list):
        prompt = prompt[0]
    text = last_message(prompt)
    return NO_CONTENT if text is None else content_of_prompt(text)


def _response(row: Mapping[str, Any], trial: int) -> str | None:
    for name in ("origin_prediction", "prediction", "pred", "predictions"):
        value = row.get(name)
        if isinstance(value, list) and trial < len(value):
            value = value[trial]
        if isinstance(value, str):
            return value
    return None


def _least(by_label: Any) -> int | None:
    """The label with the least perplexity, where each label was tried."""
    if not isinstance(by_label, Mapping):
        return None
    tried = [number(one.get("PPL")) for one in by_label.values() if isinstance(one, Mapping)]
    known = [value for value in tried if value is not None]
    return known.index(min(known)) if known and len(known) == len(tried) else None
