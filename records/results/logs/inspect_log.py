"""Logs of Inspect: ``.eval`` archives and ``.json`` files, versions 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .batches import batches
from .content import NO_CONTENT, Content, source_id_of, stated_content
from .findings import LogFault, LogFinding, expecting, not_laid_out, unknown_version
from .inspect_archive import Archive
from .inspect_header import run_of
from .json_files import Record, load_json
from .parsing import parsed
from .prompts import last_message
from .runs import LogBatch, LogRun, Sample
from .scales import number

FORMAT = "inspect"
_VERSIONS = (1, 2, 3)
"""Of the log's layout."""
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def read(path: Path) -> Iterator[LogBatch | LogFinding]:
    """Read one log; a sample that cannot be read costs that sample alone."""
    with path.open("rb") as file:
        is_archive = file.read(2) == b"PK" or path.suffix == ".eval"
    if not is_archive:
        header = load_json(path)
        if not isinstance(header, Mapping):
            raise not_laid_out(path, FORMAT, "no JSON object")
        listed = header.get("samples") or ()
        yield from _incomplete(header, len(listed), path)
        yield from _read(path, header, (Record(None, sample) for sample in listed))
        return
    with Archive(path) as archive:
        header = _header(archive)
        yield from _incomplete(header, len(list(archive.samples())), path)
        yield from _read(path, header, _members(archive))


def _read(
    path: Path, header: Mapping[str, Any], samples: Iterator[Record | LogFinding]
) -> Iterator[LogBatch | LogFinding]:
    with expecting(path, FORMAT):
        run = run_of(header, path)
    yield from _notes(header, path)
    found = False
    for event in batches(run, _samples(samples, run, header, path)):
        found = True
        yield event
    if not found:
        yield LogFinding(
            "aggregates",
            str(path),
            "no samples",
            wanted="a log with its samples",
            mend="run the task again with --log-samples",
        )


def _header(archive: Archive) -> Mapping[str, Any]:
    """The header, or for a run that did not finish what was written when it started."""
    if "header.json" in archive:
        header = archive.json("header.json")
    else:
        start = archive.json("_journal/start.json")
        header = {**start, "status": "started"} if isinstance(start, Mapping) else start
    if not isinstance(header, Mapping):
        raise not_laid_out(archive.path, FORMAT, "a header that is no JSON object")
    return header


def _members(archive: Archive) -> Iterator[Record | LogFinding]:
    for name in archive.samples():
        try:
            yield Record(None, archive.json(name))
        except LogFault as fault:
            yield fault.finding


def _notes(header: Mapping[str, Any], path: Path) -> Iterator[LogFinding]:
    yield from unknown_version(path, header.get("version"), _VERSIONS)
    status = header.get("status")
    if status not in {None, "success"}:
        yield LogFinding(
            "unfinished",
            str(path),
            f"a run with the status {status!r}",
            wanted="a run that finished",
            mend="what it holds is read; retry the run to complete it",
        )


def _incomplete(header: Mapping[str, Any], samples: int, path: Path) -> Iterator[LogFinding]:
    """Say when a finished run has fewer samples (each item once an epoch) than it counted."""
    results = header.get("results")
    total = results.get("total_samples") if isinstance(results, Mapping) else None
    if header.get("status") == "success" and isinstance(total, int) and 0 < samples < total:
        yield LogFinding(
            "unfinished",
            str(path),
            f"{samples} of its samples",
            wanted=f"all {total} that the log's results count",
            mend="what is there is read; its mean is not the stated score",
        )


def _samples(
    samples: Iterator[Record | LogFinding], run: LogRun, header: Mapping[str, Any], path: Path
) -> Iterator[Sample | LogFinding]:
    scorers = tuple(dict.fromkeys((score.metric, score.filter) for score in run.stated))
    single = _single_scorer(header)

    def parse(record: Record) -> Iterator[Sample]:
        return _by_scorer(record.value, scorers, single)

    return parsed(samples, parse, path=path, format_name=FORMAT)


def _single_scorer(header: Mapping[str, Any]) -> str:
    results = header.get("results") or {}
    scorer = results.get("scorer") if isinstance(results, Mapping) else None
    return str(scorer.get("name")) if isinstance(scorer, Mapping) else "score"


def _by_scorer(
    sample: Mapping[str, Any], scorers: tuple[tuple[str, str], ...], single: str
) -> Iterator[Sample]:
    """One sample for each scorer; a sample without scores has none for every known scorer."""
    scores = sample.get("scores") or ({single: sample["score"]} if sample.get("score") else {})
    found = {name: score for name, score in scores.items() if isinstance(score, Mapping)}
    expected: dict[str, dict[str, object]] = {}
    for metric, scorer in scorers:
        if scorer not in found:
            expected.setdefault(scorer, {})[metric] = None
    values = {name: _values(name, score.get("value")) for name, score in found.items()}
    failed = bool(sample.get("error"))
    for scorer, by_metric in ({**values, **expected} or {"": {}}).items():
        answer = found[scorer].get("answer") if scorer in found else None
        yield Sample(
            doc_id=str(sample["id"]),
            scores=by_metric,
            filter=scorer,
            trial=int(sample.get("epoch") or 1) - 1,
            content=_content(sample),
            response=_response(sample.get("output")),
            choice_index=_choice(answer, sample.get("choices")),
            errored=failed and scorer not in found,
        )


def _values(scorer: str, value: Any) -> dict[str, object]:
    """Values by metric: a scorer gives one, or a value for each key or place."""
    if isinstance(value, Mapping):
        return {str(key): grade(part) for key, part in value.items()}
    if isinstance(value, list):
        return {f"{scorer}/{place}": grade(part) for place, part in enumerate(value)}
    return {scorer: grade(value)}


def grade(value: object) -> object:
    """Read one value of a scorer as Inspect does; unlike there, an unknown text is no zero.

    >>> grade("C"), grade("P"), grade("yes"), grade("0.25"), grade(True), grade("perhaps")
    (1.0, 0.5, 1.0, 0.25, True, 'perhaps')
    """
    if not isinstance(value, str):
        return value
    word = _GRADES.get(value, _WORDS.get(value.strip().lower()))
    if word is not None:
        return word
    read = number(value)
    return value if read is None else read


def _content(sample: Mapping[str, Any]) -> Content:
    """The item: the id is the dataset's own, or one of the item's metadata."""
    question = last_message(sample.get("input"))
    if question is None:
        return NO_CONTENT
    source_id = source_id_of(sample.get("metadata")) or str(sample["id"])
    choices = [str(choice) for choice in sample.get("choices") or ()]
    return stated_content(question, choices, source_id=source_id)


def _response(output: Any) -> str | None:
    if not isinstance(output, Mapping):
        return None
    completion = output.get("completion")
    if isinstance(completion, str):
        return completion
    replies = output.get("choices")
    first = replies[0] if isinstance(replies, list) and replies else {}
    message = first.get("message") if isinstance(first, Mapping) else None
    return last_message([{**message, "role": "user"}]) if isinstance(message, Mapping) else None


def _choice(answer: Any, choices: Any) -> int | None:
    """The place of an answer's letter among the choices."""
    if not isinstance(answer, str) or not isinstance(choices, list):
        return None
    letter = answer.strip().upper()
    place = ord(letter) - ord("A") if len(letter) == 1 and letter.isascii() else -1
    return place if 0 <= place < len(choices) else None
