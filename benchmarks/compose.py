"""How fast composing is: a million items filtered, freed of copies and drawn from; near copies.

The first part makes 1,000,000 items with the 24 attributes of the shipped catalogue, each with its
source and confidence, of which a rule leaves 94 %. The second looks for near copies among 100,000
texts of 36 words, 5,940 of which are copies with up to three words replaced. Where ``datasketch``
is installed it does the same in the same run; both are asked for a Jaccard index of 0.7 over pairs
of neighbouring words, and judged by the planted pairs that are so alike.

Run: python benchmarks/compose.py [--items 1000000] [--texts 100000]
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchprism.compose.composer import Composition, compose
from benchprism.compose.duplicates.minhash import near_copies
from benchprism.compose.duplicates.shingles import shingle_sets
from benchprism.compose.language.criteria import Criteria
from benchprism.prompts.catalogue import Attribute, Catalogue
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import ITEM_SCHEMA

SIMILARITY = 0.7
CRITERIA = {
    "name": "benchmark",
    "where": {"word_count": {"min": 17}},
    "deduplicate": "exact",
    "sample": {"share": 0.001, "balance": "benchmark", "seed": 0},
}
Outcome = TypeVar("Outcome")
Pairs = set[tuple[int, int]]


def timed(work: Callable[[], Outcome]) -> tuple[Outcome, str]:
    """What work gives, and how long it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return found, f"{wall:.2f} s ({cpu:.2f} s of processor)"


def peak() -> str:
    """The most memory that the process has held."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"


def million(number: int, catalogue: Catalogue) -> pa.Table:
    """Items of 20 benchmarks with all attributes; 6 % have the content of another."""
    rng = np.random.default_rng(0)
    rows = np.arange(number)
    source = np.where(rng.random(number) < 0.06, rng.integers(0, number, number), rows)
    hashes = [hashlib.blake2b(b"%d" % row, digest_size=16).hexdigest() for row in source.tolist()]
    benchmark = np.sort(rng.integers(0, 20, number))
    names = pa.array([f"benchmark_{n:02}" for n in range(20)])
    columns: dict[str, Any] = dict.fromkeys(ITEM_SCHEMA.names)
    columns |= {"row": pa.array(rows), "content_hash": pa.array(hashes)}
    columns["item_id"] = pa.array([f"items/test/{row}" for row in range(number)])
    columns["benchmark"] = names.take(pa.array(benchmark))
    columns["question"] = pa.array([f"What follows from premise {row}?" for row in range(number)])
    constant = {"split": "test", "kind": "multiple_choice", "answer_text": "yes", "source": "{}"}
    lists = {"choices": ["yes", "no", "maybe", "never"], "accepted_answers": [], "faults": []}
    for field in ITEM_SCHEMA:
        if columns[field.name] is None:
            value = constant.get(
                field.name, lists.get(field.name, 0 if field.type == "int32" else "")
            )
            columns[field.name] = pa.array([value], field.type).take(
                pa.array(np.zeros(number, int))
            )
    table = pa.table(columns, schema=ITEM_SCHEMA)
    table = table.append_column("word_count", pa.array(rng.integers(5, 205, number), pa.int32()))
    for attribute in catalogue:
        for name, column in attribute_columns(attribute, number, rng).items():
            table = table.append_column(name, column)
    return table


def attribute_columns(
    attribute: Attribute, number: int, rng: np.random.Generator
) -> dict[str, pa.Array]:
    """Random values of one attribute, 1 % of them missing."""
    values: list[Any] = [*attribute.values]
    if attribute.type == "labels":
        values = [[value] for value in values] + [values[1:3]]
    codes = pa.array(rng.integers(0, len(values), number), mask=rng.random(number) < 0.01)
    sources = pa.array(["llm_single", "llm_consensus", "human_majority"])
    typed = pa.array(values, pa.int8()) if attribute.type == "level" else pa.array(values)
    return {
        attribute.id: typed.take(codes),
        f"{attribute.id}.source": sources.take(pa.array(rng.integers(0, 3, number))),
        f"{attribute.id}.confidence": pa.array(rng.random(number)),
    }


def compose_a_million(number: int) -> None:
    """Print how long composing takes, and how much memory."""
    catalogue = load_catalogue("core")
    table = million(number, catalogue)
    pa.default_memory_pool().release_unused()
    size = table.nbytes / 2**20
    before = peak()

    def work() -> Composition:
        return compose(Criteria.model_validate(CRITERIA), table, catalogue=catalogue)

    composition, took = timed(work)
    left = sum(composition.steps[0].left.values()) / number
    print(
        f"{number:,} items, {len([*catalogue])} attributes: {took}; {left:.0%} left by the rule, "
        f"{composition.steps[1].left_out:,} copies, {len(composition.rows):,} drawn; "
        f"peak {peak()}, of which {before} to make the table of {size:.0f} MiB"
    )


def texts_with_copies(number: int) -> tuple[list[str], Pairs]:
    """Texts of 36 words, and which of them are copies of which with up to three words replaced."""
    rng = np.random.default_rng(7)
    words, length, copies = 30_000, 36, round(0.0594 * number)
    share = 1 / np.arange(1, words + 1) ** 0.9
    codes = rng.choice(words, (number, length), p=share / share.sum())
    places = rng.permutation(number)[: 2 * copies].reshape(2, copies)
    for original, copy in places.T.tolist():
        codes[copy] = codes[original]
        edits = rng.choice(length, rng.integers(0, 4), replace=False)
        codes[copy, edits] = rng.integers(0, words, len(edits))
    vocabulary = np.array([f"w{code:x}" for code in range(words)])
    return [" ".join(row) for row in vocabulary[codes].tolist()], {
        (min(pair), max(pair)) for pair in places.T.tolist()
    }


def shingles(text: str) -> set[str]:
    """The pairs of neighbouring words."""
    words = text.split()
    return {f"{first} {second}" for first, second in pairwise(words)}


def own_pairs(texts: list[str]) -> Pairs:
    """Copies and what they are copies of, by benchprism."""
    found: NDArray[np.int64] = near_copies(
        shingle_sets([pa.chunked_array([pa.array(texts)])]), SIMILARITY
    ).of
    return {(int(found[copy]), int(copy)) for copy in np.flatnonzero(found >= 0)}


def datasketch_pairs() -> Callable[[list[str]], Pairs] | None:
    """The same by ``datasketch``, if there is one."""
    try:
        from datasketch import MinHash, MinHashLSH  # type: ignore[import-not-found]
    except ImportError:
        return None

    def pairs(texts: list[str]) -> Pairs:
        index, found = MinHashLSH(threshold=SIMILARITY, num_perm=128), set()
        sets = ([shingle.encode() for shingle in shingles(text)] for text in texts)
        for later, signature in enumerate(MinHash.generator(sets, num_perm=128, seed=1)):
            found |= {(int(earlier), later) for earlier in index.query(signature)}
            index.insert(later, signature)
        return found

    return pairs


def find_near_copies(number: int) -> None:
    """Print how long each way takes, and how much of what was planted it finds."""
    texts, planted = texts_with_copies(number)
    sets = {place: shingles(texts[place]) for pair in planted for place in pair}
    alike = {
        (a, b) for a, b in planted
        if len(sets[a] & sets[b]) >= SIMILARITY * len(sets[a] | sets[b])
    }  # fmt: skip
    seconds = {}
    for name, way in (("benchprism", own_pairs), ("datasketch", datasketch_pairs())):
        if way is None:
            print(f"{name} is not installed")
            continue
        start = time.perf_counter()
        found, took = timed(lambda way=way: way(texts))  # type: ignore[misc]
        seconds[name] = time.perf_counter() - start
        recall = len(found & alike) / len(alike)
        print(f"{number:,} texts, {name}: {took}; recall of {len(alike):,} pairs {recall:.4f}")
    if len(seconds) > 1:
        print(f"{seconds['datasketch'] / seconds['benchprism']:.1f} times faster than datasketch")


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--texts", type=int, default=100_000)
    given = parser.parse_args()
    compose_a_million(given.items)
    find_near_copies(given.texts)


if __name__ == "__main__":
    main()
