"""Details of the Open LLM Leaderboard.

The first archive is ``details_<org>__<model>/<time>/details_harness|<task>|<shots>_<time>.parquet``
with flat columns; its rows are in the order of the evaluation. The second holds samples of
lm-evaluation-harness, ``samples_leaderboard_<task>_<time>.json[l]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import lm_eval
from .batches import batches
from .findings import LogFinding, expecting
from .json_files import Beside, beside
from .lighteval import Details, details_of, samples_of
from .runs import LogBatch, LogRun, StatedScore
from .scales import number

FORMAT = "leaderboard"
_REPOSITORY = "details_"
_HEADLINES = {"arc:challenge": "acc_norm", "hellaswag": "acc_norm", "truthfulqa:mc": "mc2"}
"""What the leaderboard ranked by; the other tasks by ``acc``."""


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of details of either archive."""
    if path.suffix != ".parquet":
        yield from lm_eval.read(path)
        return
    details = details_of(path)
    results = _results(path, details)
    if results.finding is not None:
        yield results.finding
    with expecting(path, FORMAT):
        run = _run(path, details, results.data)
    yield from batches(run, samples_of(path))


def _run(path: Path, details: Details, data: Mapping[str, Any]) -> LogRun:
    repository = _repository(path)
    general = data.get("config_general") or {}
    folder = repository.name.removeprefix(_REPOSITORY) if repository is not None else ""
    return LogRun(
        run=details.time or path.stem,
        model=str(general.get("model_name") or folder.replace("__", "/", 1)),
        benchmark=details.task,
        source_format=FORMAT,
        source_file=str(path),
        metric=_HEADLINES.get(details.task, "acc"),
        n_shot=details.n_shot,
        stated=tuple(_stated(data, path, details)),
    )


def _repository(path: Path) -> Path | None:
    return next((one for one in path.absolute().parents if one.name.startswith(_REPOSITORY)), None)


def _results(path: Path, details: Details) -> Beside:
    repository = _repository(path)
    return Beside() if repository is None else beside(repository / f"results_{details.time}.json")


def _stated(data: Mapping[str, Any], path: Path, details: Details) -> Iterator[StatedScore]:
    name = path.name.removeprefix("details_").removesuffix(f"_{details.time}.parquet")
    for metric, value in ((data.get("results") or {}).get(name) or {}).items():
        read_value = number(value)
        if read_value is not None and not metric.endswith("_stderr"):
            yield StatedScore(metric, "", read_value)
