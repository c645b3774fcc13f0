"""Duplicates: which items are copies of one that stays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..language.criteria import Deduplicate
from ..pool import Pool
from ..screening import Exclusion
from .minhash import near_copies
from .shingles import shingle_sets

RULE = "deduplicate:"
"""How the text of the step begins, where the texts of rules stand."""
_TEXTS = ("context", "question", "choices")


@dataclass(frozen=True, slots=True, eq=False)
class Duplicates:
    """Items that are copies, and what each of them is a copy of."""

    text: str
    """The step in short."""
    left: NDArray[np.int64]
    """Rows of the pool that stay, in the order in which they came."""
    copies: NDArray[np.int64]
    """Rows of the pool that are copies."""
    kept: NDArray[np.int64]
    """For each copy, the row that stays in its place."""
    similarity: NDArray[np.float64]
    """For each copy, its Jaccard index with that row; NaN where it is equal anyway."""

    def exclusion(self, pool: Pool) -> Exclusion:
        """Say of each copy what it is a copy of, and whether the two keys differ."""
        kept = pool.table.select(["item_id", "answer_text"]).take(pa.array(self.kept))
        own = pool.table["answer_text"].take(pa.array(self.copies))
        same = pc.fill_null(pc.equal(own, kept["answer_text"]), True)
        alike = pa.array(self.similarity, from_pandas=True)
        share = pc.cast(pc.round(alike, ndigits=3), pa.string())
        index = pc.fill_null(pc.binary_join_element_wise(" (Jaccard ", share, ")", ""), "")
        key = pc.if_else(same, "", ", whose key is another")
        details = pc.binary_join_element_wise("a copy of ", kept["item_id"], index, key, "")
        return Exclusion(self.text, self.copies, details, instead=kept["item_id"])


def find_duplicates(pool: Pool, rows: NDArray[np.int64], wanted: Deduplicate) -> Duplicates:
    """Find which of some items are copies of another of them.

    Args:
        pool: the candidates.
        rows: the items, in the order of their sources.
        wanted: what a copy is, and which of several stays.
    """
    order = rows[np.argsort(_ranks(pool, rows, wanted), kind="stable")]
    of = np.full(len(order), -1, dtype=np.int64)
    similarity = np.full(len(order), np.nan)
    for part in _parts(pool, order, wanted):
        found, alike = _copies(pool, order[part], wanted)
        of[part] = np.where(found >= 0, part[found], -1)
        similarity[part] = alike
    copied = np.flatnonzero(of >= 0)
    gone = np.zeros(pool.table.num_rows, dtype=bool)
    gone[order[copied]] = True
    return Duplicates(
        text=rule_text(wanted),
        left=rows[~gone[rows]],
        copies=order[copied],
        kept=order[of[copied]],
        similarity=similarity[copied],
    )


def rule_text(wanted: Deduplicate) -> str:
    """The step in short, such as ``deduplicate: near, similarity 0.8``."""
    text = f"{RULE} {wanted.match}"
    if wanted.match == "near":
        text += f", similarity {wanted.similarity}"
    if wanted.within == "benchmark":
        text += ", within a benchmark"
    return text if wanted.keep == "first" else f"{text}, keep {', '.join(wanted.keep)}"


def _ranks(pool: Pool, rows: NDArray[np.int64], wanted: Deduplicate) -> NDArray[np.int64]:
    """Which of several copies should stay: the one of the lowest rank, then the first."""
    keep = wanted.keep if isinstance(wanted.keep, list) else []
    places = {name: place for place, name in enumerate(keep)}
    ranks = [places.get(name, len(keep)) for name in pool.benchmarks.names]
    return np.array(ranks, dtype=np.int64)[pool.benchmarks.codes[rows]]


def _parts(pool: Pool, order: NDArray[np.int64], wanted: Deduplicate) -> list[NDArray[np.int64]]:
    """Positions of the items that are compared with one another."""
    if wanted.within == "all":
        return [np.arange(len(order))]
    codes = pool.benchmarks.codes[order]
    return [np.flatnonzero(codes == code) for code in range(len(pool.benchmarks.names))]


def _copies(
    pool: Pool, rows: NDArray[np.int64], wanted: Deduplicate
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if wanted.match == "near":
        texts = pool.table.select(_TEXTS).take(pa.array(rows))
        found = near_copies(shingle_sets(texts.columns), float(wanted.similarity))
        return found.of, found.similarity
    column = "content_hash" if wanted.match == "exact" else "choice_set_hash"
    hashes = pool.table[column].take(pa.array(rows)).combine_chunks().dictionary_encode()
    codes = hashes.indices.to_numpy()
    first = np.zeros(len(hashes.dictionary), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # last writing wins: the first item
    original = first[codes]
    of = np.where(original == np.arange(len(codes)), -1, original)
    return of, np.full(len(codes), np.nan)
