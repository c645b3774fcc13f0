"""Results of the IFEval and IFBench programs: ``eval_results_strict.jsonl``, ``..._loose.jsonl``.

A line names neither item nor model: the item is found by its prompt, the model is the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from .batches import batches
from .content import content_of
from .findings import LogFinding
from .json_files import Record, json_lines
from .parsing import parsed
from .runs import LogBatch, LogRun, Sample

FORMAT = "ifeval"
_PROMPT, _INSTRUCTIONS = "prompt_level", "inst_level"


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one file of results."""
    run = LogRun(
        run=path.stem,
        model=path.absolute().parent.name,
        benchmark="ifeval",
        source_format=FORMAT,
        source_file=str(path),
        metric=_PROMPT,
        filter=_filter(path),
    )
    yield LogFinding(
        "model_name",
        str(path),
        f"no model and no benchmark named; the model is called {run.model!r} after the folder",
        wanted="the model's own name",
        mend=f"name the folder after the model, or give it with --rename {run.model}=NAME",
    )
    yield from batches(run, _samples(path))


def _filter(path: Path) -> str:
    return next((word for word in ("strict", "loose") if word in path.stem), "")


def _samples(path: Path) -> Iterator[Sample | LogFinding]:
    places = count()

    def parse(record: Record) -> Iterator[Sample]:
        yield _sample(record.value, next(places), _filter(path))

    return parsed(json_lines(path), parse, path=path, format_name=FORMAT)


def _sample(row: Mapping[str, Any], place: int, kept: str) -> Sample:
    followed = row["follow_instruction_list"]
    return Sample(
        doc_id=str(place),
        scores={
            _PROMPT: row["follow_all_instructions"],
            _INSTRUCTIONS: sum(followed) / len(followed) if followed else None,
        },
        filter=kept,
        content=content_of({"prompt": row["prompt"]}),
        response=row.get("response"),
    )
