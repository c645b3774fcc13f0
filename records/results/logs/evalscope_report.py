"""The report of EvalScope: which dataset a file of reviews is of, and what is stated for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .findings import LogFinding
from .json_files import beside
from .runs import StatedScore
from .scales import number

_CONFIG_HEAD = 2**20
_PLACES = 4
"""Decimals of the numbers in reports up to schema version 1."""


@dataclass(frozen=True, slots=True)
class Report:
    """The part of a report that belongs to one file of reviews."""

    dataset: str
    subset: str
    data: Mapping[str, Any]
    version: str = ""
    run: str = ""
    """The folder of the run, which is called by its time."""
    finding: LogFinding | None = None
    """Why a report of this name could not be used."""

    @property
    def model(self) -> str:
        """The model's name; empty without a report."""
        return str(self.data.get("model_name") or "")

    @property
    def has_subset(self) -> bool:
        """Tell whether the report lists this subset."""
        listed = [one for entry in self.data.get("metrics") or () for one in _subsets(entry)]
        return any(str(one.get("name")) == self.subset for one in listed)

    def headline(self, metrics: Sequence[str]) -> str | None:
        """The report's first metric, as the reviews name it."""
        return next((score.metric for score in self.stated(metrics)), None)

    def stated(self, metrics: Sequence[str]) -> tuple[StatedScore, ...]:
        """The scores stated for this subset, by the names that the reviews use."""
        return tuple(self._stated(metrics))

    def _stated(self, metrics: Sequence[str]) -> Iterator[StatedScore]:
        rounded = None if self.data.get("schema_version") == 2 else _PLACES
        for entry in self.data.get("metrics") or ():
            name, is_mean = _name(entry, metrics)
            for subset in _subsets(entry):
                value = number(subset.get("score"))
                if value is not None and str(subset.get("name")) == self.subset:
                    yield StatedScore(
                        name, "", value, subset=self.subset, is_mean=is_mean, decimals=rounded
                    )


def report_of(reviews: Path) -> Report:
    """Find the report of a file of reviews: the dataset and subset make up the file's name."""
    parents = reviews.absolute().parents
    root = parents[min(2, len(parents) - 1)]
    folder = root / "reports" / parents[0].name
    version = _version(root / "configs")
    fitting: list[Report] = []
    for path in sorted(folder.glob("*.json")):
        file = beside(path)
        dataset = str(file.data.get("dataset_name") or path.stem)
        if reviews.stem.startswith(f"{dataset}_"):
            subset = reviews.stem.removeprefix(f"{dataset}_")
            fitting.append(Report(dataset, subset, file.data, version, root.name, file.finding))
    fitting.sort(key=lambda report: (report.has_subset, len(report.dataset)))
    return fitting[-1] if fitting else Report(reviews.stem, "", {}, version, root.name)


def _version(configs: Path) -> str:
    """Read the harness's version from the configuration, of which nothing else is needed."""
    for path in sorted(configs.glob("task_config*.yaml")):
        text = path.read_bytes()[:_CONFIG_HEAD].decode("utf-8", "replace")
        if found := re.search(r"^evalscope_version: (\S+)", text, re.MULTILINE):
            return found[1]
    return ""


def _subsets(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for category in entry.get("categories") or ():
        yield from category.get("subsets") or ()


def _name(entry: Mapping[str, Any], metrics: Sequence[str]) -> tuple[str, bool]:
    """Say which of the reviews' metrics an entry aggregates, and whether as a mean."""
    identity = entry.get("identity")
    if not isinstance(identity, Mapping):
        stated = str(entry.get("name"))
        plain = stated.removeprefix("mean_")
        return (plain, True) if plain in metrics else (stated, stated in metrics)
    parts = [str(identity.get("name")), *_dimensions(identity.get("dimensions") or {})]
    wanted = "-".join(parts).lower()
    name = next((metric for metric in metrics if metric.lower() == wanted), wanted)
    return name, name in metrics and identity.get("aggregation") == "mean"


def _dimensions(dimensions: Mapping[str, Any]) -> Iterator[str]:
    """Write dimensions as the reviews do: ``bleu-1``, ``Rouge-L-R``."""
    for key in ("ngram", "variant"):
        if key in dimensions:
            yield str(dimensions[key])
    if "statistic" in dimensions:
        yield str(dimensions["statistic"])[0]
