"""Every Eval Ever, schema 0.3: ``<uuid>_samples.jsonl`` beside the aggregates ``<uuid>.json``.

One row for each sample and aggregate. ``sample_hash`` is not used: writers compute it by different
recipes. The schema has no field for repeats: rows that repeat a sample are its trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from .batches import batches
from .content import NO_CONTENT, Content
from .eee_aggregates import Aggregate, Key, aggregates_of, check_file, unstated
from .findings import LogFinding, expecting, unknown_version
from .json_files import Record, beside, json_lines
from .parsing import parsed
from .prompts import content_of_prompt, last_message
from .runs import LogBatch, LogRun, Sample

FORMAT = "every-eval-ever"
SAMPLES = "_samples.jsonl"
_VERSIONS = ("0.2", "0.3")


class _Row(NamedTuple):
    """A sample with the aggregate it belongs to; findings go with the row before them."""

    aggregate: Aggregate
    run: str
    model: str
    sample: Sample | LogFinding


_NONE = Aggregate("", "", "", "")


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of samples; the aggregates are found beside it."""
    if not path.name.endswith(SAMPLES):
        yield from _without_samples(path)
        return
    whole = beside(path.with_name(f"{path.name.removesuffix(SAMPLES)}.json"))
    data = whole.data
    if whole.finding is not None:
        yield whole.finding
    with expecting(path, FORMAT):
        aggregates = aggregates_of(data)
        findings = list(check_file(path, data))
    yield from findings
    schema = data.get("schema_version")
    stated = None if schema is None else str(schema).rpartition(".")[0]
    yield from unknown_version(path, stated, _VERSIONS)
    rows = _rows(path, aggregates)
    for benchmark, group in groupby(rows, key=lambda row: row.aggregate.benchmark):
        yield from _of_benchmark(
            path, data, [one for one in aggregates.values() if one.benchmark == benchmark], group
        )


def _of_benchmark(
    path: Path, data: Mapping[str, Any], own: list[Aggregate], rows: Iterator[_Row]
) -> Iterator[LogBatch | LogFinding]:
    first = next(rows)
    run = _run(path, data, first, own or [first.aggregate])
    yield from batches(run, (row.sample for row in chain([first], rows)))


def _without_samples(path: Path) -> Iterator[LogFinding]:
    if not path.with_name(f"{path.stem}{SAMPLES}").is_file():
        yield LogFinding(
            "aggregates",
            str(path),
            "aggregates without samples",
            wanted=f"{path.stem}{SAMPLES} beside it",
            mend="add the samples, or leave the file out",
        )


def _run(path: Path, data: Mapping[str, Any], first: _Row, own: list[Aggregate]) -> LogRun:
    library = data.get("eval_library") or {}
    stated = dict.fromkeys(score for one in own if (score := one.stated()))
    return LogRun(
        run=first.run,
        model=first.model,
        benchmark=own[0].benchmark,
        source_format=FORMAT,
        source_file=str(path),
        version=" ".join(str(library[key]) for key in ("name", "version") if library.get(key)),
        metric=own[0].metric,
        filter=own[0].filter,
        n_shot=own[0].n_shot,
        stated=tuple(stated),
        scales={one.metric: one.scale for one in own if one.scale},
        lower_is_better=frozenset(one.metric for one in own if one.lower_is_better),
    )


def _rows(path: Path, aggregates: Mapping[Key, Aggregate]) -> Iterator[_Row]:
    trials: Counter[tuple[str, ...]] = Counter()
    last = _Row(next(iter(aggregates.values()), _NONE), "", "", Sample("", {}))

    def parse(record: Record) -> Iterator[_Row]:
        yield _row(record.value, aggregates, trials)

    for row in parsed(json_lines(path), parse, path=path, format_name=FORMAT):
        last = last._replace(sample=row) if isinstance(row, LogFinding) else row
        yield last


def _row(
    row: Mapping[str, Any], aggregates: Mapping[Key, Aggregate], trials: Counter[tuple[str, ...]]
) -> _Row:
    key = str(row["evaluation_name"]), str(row.get("evaluation_result_id") or "")
    aggregate = aggregates.get(key) or unstated(row)
    same = (*key, str(row["sample_id"]))
    trial = (row.get("metadata") or {}).get("trial")
    sample = Sample(
        doc_id=str(row["sample_id"]),
        scores={aggregate.metric: row["evaluation"].get("score")},
        filter=aggregate.filter,
        trial=int(trial) if trial is not None else trials[same],
        content=_content(row.get("input") or {}),
        response=_response(row),
        choice_index=_choice(row),
        errored=bool(row.get("error")),
        subset=aggregate.subset,
    )
    trials[same] += 1
    return _Row(aggregate, str(row.get("evaluation_id") or ""), str(row["model_id"]), sample)


def _content(asked: Mapping[str, Any]) -> Content:
    """The item; choices that are letters only name the choices in the prompt."""
    text = last_message(asked.get("raw"))
    if text is None:
        return NO_CONTENT
    choices = [str(choice) for choice in asked.get("choices") or ()]
    named = all(len(choice.strip()) == 1 for choice in choices)
    return content_of_prompt(text, () if named else choices)


def _response(row: Mapping[str, Any]) -> str | None:
    raw = (row.get("output") or {}).get("raw")
    if isinstance(raw, list) and raw:
        return raw[0] if isinstance(raw[0], str) else None
    replies = [
        message.get("content")
        for message in row.get("messages") or ()
        if message.get("role") == "assistant" and isinstance(message.get("content"), str)
    ]
    return replies[-1] if replies else None


def _choice(row: Mapping[str, Any]) -> int | None:
    choices = (row.get("input") or {}).get("choices")
    answers = [one.get("extracted_value") for one in row.get("answer_attribution") or ()]
    if not choices or not answers or answers[-1] not in choices:
        return None
    place: int = choices.index(answers[-1])
    return place
