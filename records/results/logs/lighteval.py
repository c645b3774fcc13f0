"""Details of lighteval: ``details/<model>/<time>/details_<task>|<shots>_<time>.parquet``.

From 0.11 the columns are ``doc``, ``metric`` and ``model_response``; before, they are flat. The
Open LLM Leaderboard's first archive has the flat ones too (``leaderboard``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .batches import batches
from .content import Content, source_id_of
from .findings import LogFinding, expecting
from .json_files import Beside, Record, beside
from .lighteval_flat import FLAT_COLUMNS, flat_sample
from .parquet_rows import damaged, parquet_rows
from .parsing import parsed
from .prompts import content_of_prompt
from .runs import LogBatch, LogRun, Sample, StatedScore
from .scales import number

FORMAT = "lighteval"
_NAME = re.compile(r"details_(?P<task>.+)_(?P<time>\d{4}-\d{2}-\d{2}T[\d:.-]+)\.parquet\Z")
_COLUMNS = ("doc", "metric", "model_response.text", "model_response.logprobs")


@dataclass(frozen=True, slots=True)
class Details:
    """What the name of a file of details says."""

    task: str
    n_shot: int | None
    time: str


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of details; the results file of the same time is found beside its folder."""
    details = details_of(path)
    results = _results(path, details)
    if results.finding is not None:
        yield results.finding
    with expecting(path, FORMAT):
        run = _run(path, details, results.data)
    yield from batches(run, samples_of(path))


def details_of(path: Path) -> Details:
    """Read task and number of examples: ``[suite|]task|shots``, or ``harness|task|shots``."""
    named = _NAME.match(path.name)
    parts = (named["task"] if named else path.stem.removeprefix("details_")).split("|")
    shots = [int(part) for part in parts[1:] if part.isdigit()]
    words = [part for part in parts if not part.isdigit()]
    task = words[1] if len(words) > 1 else words[0]
    return Details(task, shots[0] if shots else None, named["time"] if named else "")


def _run(path: Path, details: Details, data: Mapping[str, Any]) -> LogRun:
    general = data.get("config_general") or {}
    config = general.get("model_config") or {}
    stated = tuple(_stated(data, path, details))
    return LogRun(
        run=details.time or path.stem,
        model=str(general.get("model_name") or config.get("model_name") or _folder(path)),
        benchmark=details.task,
        source_format=FORMAT,
        source_file=str(path),
        metric=stated[0].metric if stated else None,
        n_shot=details.n_shot,
        stated=stated,
    )


def _folder(path: Path) -> str:
    """The model's name as folders: what stands between ``details`` and the time."""
    parts = path.absolute().parent.parts
    start = len(parts) - 1 - parts[::-1].index("details") if "details" in parts else -3
    return "/".join(parts[start + 1 : -1])


def _results(path: Path, details: Details) -> Beside:
    root = next((one.parent for one in path.absolute().parents if one.name == "details"), None)
    if root is None:
        return Beside()
    return beside(root / "results" / _folder(path) / f"results_{details.time}.json")


def _stated(data: Mapping[str, Any], path: Path, details: Details) -> Iterator[StatedScore]:
    """The task's own scores. Metrics that its rows do not have come from another task's average."""
    name = path.name.removeprefix("details_").removesuffix(f"_{details.time}.parquet")
    tasks = data.get("config_tasks") or {}
    metrics = (tasks.get(name) or {}).get("metrics") or ()
    means = {one.get("metric_name") for one in metrics if one.get("corpus_level_fn") == "mean"}
    own = {one.get("metric_name") for one in metrics}
    for metric, value in ((data.get("results") or {}).get(name) or {}).items():
        read = number(value)
        if read is None or metric.endswith("_stderr") or (own and metric not in own):
            continue
        yield StatedScore(metric, "", read, is_mean=not metrics or metric in means)


def samples_of(path: Path) -> Iterator[Sample | LogFinding]:
    """Read the rows of a file of details, nested or flat."""
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        yield damaged(path, error)
        return
    is_nested = "doc" in names
    columns = _COLUMNS if is_nested else [name for name in names if name in FLAT_COLUMNS]

    def parse(record: Record) -> Iterator[Sample]:
        place, row = record.value
        yield _sample(row) if is_nested else flat_sample(row, place)

    rows = enumerate(parquet_rows(path, columns))
    records = (row if isinstance(row, LogFinding) else Record(None, (at, row)) for at, row in rows)
    yield from parsed(records, parse, path=path, format_name=FORMAT)


def _sample(row: Mapping[str, Any]) -> Sample:
    """One row from 0.11 on; rows are not in the items' order, ``doc.id`` is."""
    doc, reply = row["doc"], row.get("model_response") or {}
    content = _content(doc)
    texts = reply.get("text") or ()
    return Sample(
        doc_id=str(doc["id"]),
        scores=row["metric"],
        content=content,
        response=texts[0] if texts else None,
        choice_index=_best(reply.get("logprobs"), content.choices or ()),
    )


def _content(doc: Mapping[str, Any]) -> Content:
    """The item; for a text to be generated ``choices`` are the accepted answers."""
    is_choice = any("LOGPROB" in str(method) for method in doc.get("sampling_methods") or ())
    choices = [str(choice).strip() for choice in doc.get("choices") or ()] if is_choice else []
    return content_of_prompt(
        doc.get("original_query") or doc["query"],
        choices,
        source_id=source_id_of(doc.get("specific")),
    )


def _best(logprobs: Any, choices: tuple[str, ...]) -> int | None:
    values = [number(value) for value in logprobs or ()]
    known = [value for value in values if value is not None]
    if not choices or len(known) != len(choices) or len(values) != len(choices):
        return None
    return known.index(max(known))
