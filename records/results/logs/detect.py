"""Which format a file is in, told from its first bytes and the keys it starts with."""

from __future__ import annotations

import codecs
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from . import evalscope, every_eval_ever, helm, lm_eval, wide
from .findings import LogFault
from .json_files import HEAD, leading_keys, not_utf8
from .lm_eval_results import SAMPLES_NAME
from .parquet_rows import damaged
from .wide_rows import header_of

TIDY = "tidy"
"""A table with a row for each item and model, which ``records.results.tidy`` reads."""
COMPANION = "companion"
"""A file that belongs to a log and is read with it: a results file, a report, a configuration."""

_KEYS: tuple[tuple[str, frozenset[str]], ...] = (
    ("lm-eval", frozenset({"doc_id", "doc"})),
    ("evalscope", frozenset({"sample_score", "index"})),
    ("evalscope", frozenset({"review_id", "choices"})),
    ("every-eval-ever", frozenset({"evaluation_name", "sample_id", "interaction_type"})),
    ("every-eval-ever", frozenset({"schema_version", "evaluation_id", "source_metadata"})),
    ("inspect", frozenset({"version", "status", "eval"})),
    ("openai-evals", frozenset({"spec"})),
    ("openai-evals", frozenset({"run_id", "event_id", "sample_id", "type"})),
    ("ifeval", frozenset({"follow_all_instructions", "follow_instruction_list"})),
    ("eq-bench", frozenset({"eqbench_version", "benchmark_score"})),
    ("zero-eval", frozenset({"session_id", "generator", "output"})),
    ("opencompass", frozenset({"details"})),
    (COMPANION, frozenset({"results", "configs"})),
    (COMPANION, frozenset({"results", "versions"})),
    (COMPANION, frozenset({"results", "config"})),
    (COMPANION, frozenset({"config_general"})),
    (COMPANION, frozenset({"dataset_name", "model_name", "metrics"})),
    (COMPANION, frozenset({"index", "model", "model_output"})),
    ("evalscope", frozenset({"index", "target", "messages"})),
    (TIDY, frozenset({"item_id", "model", "score"})),
)
"""Keys that a record, or a whole JSON file, of a format has; the first that fits counts."""


def format_of(path: Path) -> str | None:
    """Name the format of one file, or say nothing.

    What it holds counts, and what it is called where that tells nothing: a damaged log is a log.

    Returns:
        A key of ``FORMATS``, ``TIDY``, ``COMPANION``, or none for a file of an unknown format.

    Raises:
        OSError: the file cannot be read.
        LogFault: it is a table or JSON by its ending, and cannot be read as such.
    """
    found = _by_content(path) or _by_name(path)
    if found is None:
        _check_readable(path)
    return found


def _by_name(path: Path) -> str | None:
    """The format of a log that its name or its neighbours tell."""
    if SAMPLES_NAME.match(path.name):
        return lm_eval.FORMAT
    if path.name.endswith(every_eval_ever.SAMPLES):
        return every_eval_ever.FORMAT
    return evalscope.FORMAT if path.suffix == ".jsonl" and "reviews" in path.parts[-3:] else None


_READABLE = frozenset({".json", ".jsonl", ".csv", ".tsv"})


def _check_readable(path: Path) -> None:
    """Refuse a table or JSON in another encoding than UTF-8, and a damaged Parquet file."""
    ending = path.suffix.lower()
    if ending == ".parquet":
        try:
            pq.read_schema(path)
        except (pa.ArrowException, OSError) as error:
            raise LogFault(damaged(path, error)) from error
    if ending in _READABLE:
        with path.open("rb") as file:
            head = file.read(HEAD)
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
        except UnicodeDecodeError as error:
            raise LogFault(not_utf8(path, None, error)) from error


def _by_content(path: Path) -> str | None:
    if path.name in _HELM_FILES and path.with_name(helm.PER_INSTANCE).is_file():
        return helm.FORMAT if path.name == helm.PER_INSTANCE else COMPANION
    with path.open("rb") as file:
        head = file.read(HEAD)
    if head.startswith(b"PK\x03\x04") or path.suffix == ".eval":
        return "inspect" if path.suffix == ".eval" or b"_journal/start.json" in head else None
    if head.startswith(b"PAR1"):
        return _parquet_format(path)
    if path.suffix.lower() in {".csv", ".tsv"}:
        return _table_format(header_of(path))
    text = head.decode("utf-8-sig", "replace").lstrip()
    if text.startswith(("{", "[")):
        return _json_format(path, text)
    return COMPANION if path.name.startswith("task_config") else None


_HELM_FILES = frozenset(
    f"{name}.json"
    for name in ("per_instance_stats", "run_spec", "scenario", "scenario_state", "stats")
)


def _json_format(path: Path, text: str) -> str | None:
    keys, inner = leading_keys(text), leading_keys(text, depth=2)
    found = next((name for name, wanted in _KEYS if wanted <= keys), None)
    if found == COMPANION and "results" in keys and "config_general" not in keys:
        return COMPANION if any(path.parent.glob("samples_*")) else lm_eval.FORMAT
    if found == every_eval_ever.FORMAT and "evaluation_results" in keys:
        samples = path.with_name(f"{path.stem}{every_eval_ever.SAMPLES}")
        return COMPANION if samples.is_file() else found
    if "spec" in keys and not inner & {"completion_fns", "eval_name", "base_eval"}:
        return None
    if found is None and "0" in keys and {"origin_prompt", "prediction"} <= inner:
        return COMPANION if _has_results(path) else "opencompass"
    return found


def _has_results(predictions: Path) -> bool:
    """Tell whether OpenCompass's scores for a file of predictions are there too."""
    parents = predictions.absolute().parents
    scored = parents[min(2, len(parents) - 1)] / "results" / parents[0].name / predictions.name
    return "predictions" in predictions.absolute().parts and scored.is_file()


def _parquet_format(path: Path) -> str | None:
    try:
        names = pq.read_schema(path).names
    except (pa.ArrowException, OSError):
        return "lighteval" if path.name.startswith("details_") else None
    columns = set(names)
    if {"doc", "metric", "model_response"} <= columns:
        return "lighteval"
    if "predictions" in columns and columns & {"full_prompt", "example", "query"}:
        return "leaderboard" if path.name.startswith("details_harness|") else "lighteval"
    return _table_format(names)


def _table_format(names: list[str]) -> str | None:
    columns = {name.lower() for name in names}
    if {"item_id", "model"} <= columns and columns & {"score", "correct"}:
        return TIDY
    return wide.FORMAT if wide.is_wide(names) else None
