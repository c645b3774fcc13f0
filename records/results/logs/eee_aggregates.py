"""The aggregates file of Every Eval Ever: what the rows beside it are of, and on which scale."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .findings import LogFinding
from .runs import StatedScore
from .scales import Scale, number


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate score and what its rows have in common."""

    benchmark: str
    subset: str
    metric: str
    filter: str
    value: float | None = None
    scale: Scale | None = None
    lower_is_better: bool = False
    n_shot: int | None = None
    is_mean: bool = True

    def stated(self) -> StatedScore | None:
        """The score as the file states it."""
        if self.value is None:
            return None
        return StatedScore(
            self.metric, self.filter, self.value, subset=self.subset, is_mean=self.is_mean
        )


_MEANS = frozenset({"accuracy", "exact_match", "mean"})
"""Kinds of metric that are the mean of the samples' scores."""

Key = tuple[str, str]
"""An aggregate's ``evaluation_name`` and ``evaluation_result_id``."""


def aggregates_of(data: Mapping[str, Any]) -> dict[Key, Aggregate]:
    """Read the aggregates; each is also found by its name alone, when only one has that name."""
    results = data.get("evaluation_results") or ()
    found = {
        (str(one["evaluation_name"]), str(one.get("evaluation_result_id") or "")): _aggregate(one)
        for one in results
    }
    names = [name for name, _ in found]
    alone = {(name, ""): one for (name, _), one in found.items() if names.count(name) == 1}
    return {**alone, **found}


def unstated(row: Mapping[str, Any]) -> Aggregate:
    """What a row says of itself, for rows whose aggregate is not there."""
    metadata = row.get("metadata") or {}
    kept = str(metadata.get("filter") or "")
    name = str(row["evaluation_name"]).removesuffix(f"/{kept}")
    metric = str(row.get("evaluation_result_id") or "score").partition(":")[0]
    return Aggregate(name, "", metric, "" if kept == "none" else kept)


def _aggregate(one: Mapping[str, Any]) -> Aggregate:
    config = one.get("metric_config") or {}
    source = one.get("source_data") or {}
    name, result_id = str(one["evaluation_name"]), str(one.get("evaluation_result_id") or "")
    benchmark = str(source.get("dataset_name") or name)
    rest = name.removeprefix(f"{benchmark}/") if name.startswith(f"{benchmark}/") else ""
    is_filter = bool(rest) and result_id.endswith((f":{rest}", f",{rest}"))
    generation = (one.get("generation_config") or {}).get("additional_details") or {}
    shots = number(generation.get("num_fewshot"))
    lower = config.get("lower_is_better") is True
    return Aggregate(
        benchmark,
        "" if is_filter else rest,
        str(config.get("metric_name") or config.get("metric_id") or result_id or name),
        rest if is_filter else "",
        number((one.get("score_details") or {}).get("score")),
        _scale(config, lower=lower),
        lower,
        None if shots is None else int(shots),
        config.get("metric_kind") in _MEANS or config.get("score_type") == "binary",
    )


def _scale(config: Mapping[str, Any], *, lower: bool) -> Scale | None:
    low, high = number(config.get("min_score")), number(config.get("max_score"))
    if low is None or high is None or low >= high:
        return None
    return Scale(high, low) if lower else Scale(low, high)


def check_file(path: Path, data: Mapping[str, Any]) -> Iterator[LogFinding]:
    """Compare a samples file with the checksum and the number of rows that the aggregates state."""
    details = data.get("detailed_evaluation_results") or {}
    if details.get("hash_algorithm") != "sha256" or not details.get("checksum"):
        return
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != details["checksum"]:
        yield LogFinding(
            "mismatch",
            str(path),
            f"the checksum {digest[:12]}...",
            wanted=f"{str(details['checksum'])[:12]}..., as the aggregates file states",
            mend="the file was changed after it was written; fetch it again",
        )
