"""Reviews of EvalScope, 0.10 to 1.14: ``reviews/<model>/<dataset>_<subset>.jsonl``.

The report is ``reports/<model>/<dataset>.json`` beside the folder of reviews. Its numbers are
rounded to four places up to schema version 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import Content, content_of, source_id_of
from .evalscope_report import Report, report_of
from .findings import LogFinding, expecting, unknown_version
from .json_files import Record, json_lines
from .parsing import parsed
from .prompts import content_of_prompt, last_message
from .runs import LogBatch, LogRun, Sample

FORMAT = "evalscope"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of reviews; its report is found beside the folder of reviews."""
    with expecting(path, FORMAT):
        report = report_of(path)
        first = _first(path)
        run = _run(path, report, first)
    if report.finding is not None:
        yield report.finding
    yield from unknown_version(path, report.data.get("schema_version"), (1, 2))
    yield from batches(run, _samples(path))


def _run(path: Path, report: Report, first: Mapping[str, Any]) -> LogRun:
    metrics = [metric for sample in _review(first, Counter()) for metric in sample.scores]
    main = _score(first).get("main_score_name") or report.headline(metrics)
    return LogRun(
        run=report.run or path.stem,
        model=report.model or path.absolute().parent.name,
        benchmark=report.dataset,
        source_format=FORMAT,
        source_file=str(path),
        version=report.version,
        metric=main or (metrics[0] if metrics else None),
        subset=report.subset,
        stated=report.stated(metrics),
    )


def _first(path: Path) -> Mapping[str, Any]:
    for record in json_lines(path):
        if not isinstance(record, LogFinding) and isinstance(record.value, Mapping):
            return record.value
    return {}


def _samples(path: Path) -> Iterator[Sample | LogFinding]:
    repeats: Counter[str] = Counter()

    def parse(record: Record) -> Iterator[Sample]:
        return _review(record.value, repeats)

    return parsed(json_lines(path), parse, path=path, format_name=FORMAT)


def _score(row: Mapping[str, Any]) -> Mapping[str, Any]:
    sample = row.get("sample_score") or {}
    score = sample.get("score") if isinstance(sample, Mapping) else None
    return score if isinstance(score, Mapping) else {}


def _review(row: Mapping[str, Any], repeats: Counter[str]) -> Iterator[Sample]:
    if not row:
        return
    if "sample_score" not in row:
        yield from _old_review(row)
        return
    sample, score = row["sample_score"], _score(row)
    item = str(sample.get("group_id", row.get("index")))
    generation = sample.get("generation_index")
    content = _content(row, sample.get("sample_metadata"))
    values = score.get("value") or {}
    yield Sample(
        doc_id=item,
        scores=values,
        trial=repeats[item] if generation is None else int(generation),
        content=content,
        response=score.get("prediction"),
        choice_index=_choice(score.get("extracted_prediction"), content.choices),
        errored=_errored(score, values),
    )
    repeats[item] += 1


def _errored(score: Mapping[str, Any], values: Mapping[str, Any]) -> bool | frozenset[str]:
    """Whether scoring failed: a metric that raised an error is written as 0 all the same."""
    if score.get("status") not in {None, "success"}:
        return True
    failed = (score.get("metadata") or {}).get("metric_errors") or {}
    names = tuple(str(name).lower() for name in failed)
    return frozenset(metric for metric in values if names and metric.lower().startswith(names))


def _content(row: Mapping[str, Any], metadata: Any) -> Content:
    """The item, of which only the prompt is kept."""
    prompt = last_message(row.get("messages") or row.get("input"))
    source_id = source_id_of(metadata)
    if prompt is None:
        return Content(source_id=source_id)
    return content_of_prompt(prompt, source_id=source_id)


def _choice(extracted: Any, choices: tuple[str, ...] | None) -> int | None:
    if not isinstance(extracted, str) or len(extracted.strip()) != 1:
        return None
    place = _LETTERS.find(extracted.strip().upper())
    return place if 0 <= place < len(choices or ()) else None


def _old_review(row: Mapping[str, Any]) -> Iterator[Sample]:
    """A row of 0.x: the item's own columns, and a review for each reply."""
    raw = row.get("raw_input")
    for trial, reply in enumerate(row["choices"]):
        review = reply.get("review") or {}
        result = review.get("result")
        yield Sample(
            doc_id=str(row.get("index", row.get("answer_id"))),
            scores=result if isinstance(result, Mapping) else {"AverageAccuracy": result},
            trial=trial,
            content=content_of(raw),
            response=last_message([{**(reply.get("message") or {}), "role": "user"}]),
            errored=row.get("reviewed") is False,
        )
