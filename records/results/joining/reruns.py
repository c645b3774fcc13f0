"""Runs of a model on the same task: the last complete one counts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from .segments import Segment

_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Rerun:
    """A task that a model was run on more than once."""

    model: int
    task: str
    runs: int
    used: str
    """The run that counts."""
    file: str
    is_last: bool
    """Whether it is also the last one; the later ones have fewer scores."""
    shots: tuple[int, ...]
    """The numbers of examples in the prompt, where the runs differ in it."""


def last_runs(segments: Iterable[Segment]) -> tuple[list[Segment], list[Rerun]]:
    """Of each model, task and subset keep the last run that has as many scores as the fullest.

    Runs are in the order of the times that they bear, and of the files where they bear none.
    """
    groups: dict[tuple[int, str, str], list[Segment]] = defaultdict(list)
    for segment in segments:
        groups[segment.model, str(segment.task), segment.subset].append(segment)
    kept, reruns = [], []
    for own in groups.values():
        ordered = _by_time(own)
        most = max(segment.scored for segment in ordered)
        used = [segment for segment in ordered if segment.scored == most][-1]
        kept.append(used)
        if len(own) > 1:
            reruns.append(_rerun(ordered, used))
    return kept, reruns


def _by_time(segments: list[Segment]) -> list[Segment]:
    times = [_time(segment) for segment in segments]
    if not all(times):
        return segments
    order = sorted(range(len(segments)), key=lambda at: (times[at], at))
    return [segments[at] for at in order]


def _time(segment: Segment) -> str:
    found = _STAMP.search(segment.run.run) or _STAMP.search(segment.run.source_file)
    return found[0].replace(":", "-") if found else ""


def _rerun(ordered: list[Segment], used: Segment) -> Rerun:
    shots = {segment.run.n_shot for segment in ordered if segment.run.n_shot is not None}
    return Rerun(
        used.model,
        str(used.task) + (f", {used.subset}" if used.subset else ""),
        len(ordered),
        used.run.run,
        used.run.source_file,
        used is ordered[-1],
        tuple(sorted(shots)) if len(shots) > 1 else (),
    )
