"""The parts of an exported subset: the items of one benchmark and kind, asked and judged alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from ....records.items.record import ItemKind
from ..sources import OF_CHOICES, Scoring
from ..subset import REPOSITORY, ExportedSource, ExportedSubset, data_file
from .asking import Asking, asking
from .benchmark_items import left_out

WITHOUT_TASK: dict[Scoring, frozenset[str]] = {
    "instructions": frozenset({"lm-eval", "inspect", "lighteval"}),
    "emotions": frozenset({"inspect", "lighteval"}),
}
"""Rules that a harness has no judge for here; IFEval's is in lm-eval."""
_JUDGED_BY_LM_EVAL = frozenset({"ifeval"})
_JUDGED_BY = [
    "benchmark", "question", "choices", "answer_index", "answer_text", "source_record",
]  # fmt: skip
_OTHER = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class ExportedPart:
    """One task of the task files."""

    name: str
    """Letters, digits and underscores; unique in the subset."""
    source: ExportedSource
    kind: ItemKind
    scoring: Scoring
    metric: str
    asking: Asking
    judged: int
    """How many of its items the rule can judge; the others are in no task."""

    @property
    def by_likelihood(self) -> bool:
        """Whether the likelihoods of options are compared; else an answer is written."""
        return self.scoring in OF_CHOICES - {"letter_in_text"}

    def runs_in(self, harness: str) -> bool:
        """Tell whether there is a judge for it, and something to judge."""
        if not self.judged:
            return False
        by_lm_eval = harness == "lm-eval" and self.source.preset in _JUDGED_BY_LM_EVAL
        return by_lm_eval or harness not in WITHOUT_TASK.get(self.scoring, frozenset())


def parts_of(export: ExportedSubset) -> Iterator[ExportedPart]:
    """The parts in the order of the benchmarks, each kind for itself."""
    taken: set[str] = set()
    for source in export.sources:
        for kind, rule in source.rules.items():
            name = plain(source.benchmark) + (f"_{kind}" if len(source.rules) > 1 else "")
            while name in taken:
                name += "_"
            taken.add(name)
            how = asking(rule.scoring, source.preset)
            judged = _judged(export, source.benchmark, kind, rule.scoring)
            yield ExportedPart(name, source, kind, rule.scoring, rule.metric, how, judged)


def _judged(export: ExportedSubset, benchmark: str, kind: ItemKind, scoring: Scoring) -> int:
    items = export.table(kind).select(_JUDGED_BY)
    rows = items.filter(pc.equal(items["benchmark"], benchmark)).to_pylist()
    return sum(left_out(row, {"scoring": scoring, "kind": kind}) is None for row in rows)


def plain(name: str) -> str:
    """A name of letters, digits and underscores, as the harnesses want it.

    >>> plain("my set/v1.2")
    'my_set_v1_2'
    """
    return _OTHER.sub("_", name).strip("_") or "subset"


def sources_file(export: ExportedSubset, parts: Iterable[ExportedPart]) -> dict[str, Any]:
    """What ``benchmark_items.py`` reads: the rule of each part, and where its items are."""
    return {
        "name": export.name,
        "group": plain(export.name),
        "repository": None if export.repo_id == REPOSITORY else export.repo_id,
        "parts": {
            part.name: {
                "benchmark": part.source.benchmark,
                "kind": part.kind,
                "file": data_file(part.kind),
                "scoring": part.scoring,
                "metric": part.metric,
                "by_likelihood": part.by_likelihood,
                "prompt": part.asking.prompt,
                "cleaned": part.asking.cleaned,
                "stop": part.asking.stop,
                "tokens": part.asking.tokens,
                "harnesses": [h for h in ("lm-eval", "inspect", "lighteval") if part.runs_in(h)],
            }
            for part in parts
        },
    }
