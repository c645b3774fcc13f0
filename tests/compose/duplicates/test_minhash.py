from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.duplicates.minhash import MISSED, ROWS, _signatures, bands, near_copies
from benchprism.compose.duplicates.shingles import ShingleSets, shingle_sets


@pytest.mark.parametrize("similarity", [0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0])
def test_bands_find_what_is_just_alike_enough(similarity: float) -> None:
    number, rows = bands(similarity)
    assert number * rows <= ROWS
    missed = (1 - similarity**rows) ** number
    assert missed <= MISSED or (number, rows) == (ROWS, 1)
    if rows < ROWS and similarity < 1:  # one row more would miss too many
        assert (1 - similarity ** (rows + 1)) ** (ROWS // (rows + 1)) > MISSED


def edited(rng: np.random.Generator, words: list[str], edits: int) -> str:
    changed = [*words]
    for place in rng.choice(len(words), edits, replace=False):
        changed[place] = f"new{rng.integers(10**6)}"
    return " ".join(changed)


def corpus(seed: int, texts: int) -> list[str]:
    """Random texts of 30 words, and after them a copy of each with none to eight edits."""
    rng = np.random.default_rng(seed)
    first = [[f"w{n}" for n in rng.integers(0, 3000, 30)] for _ in range(texts)]
    copies = [edited(rng, words, int(rng.integers(0, 9))) for words in first]
    return [" ".join(words) for words in first] + copies


def sets_of(texts: list[str]) -> ShingleSets:
    return shingle_sets([pa.chunked_array([texts])])


def test_signatures_agree_as_often_as_texts_are_alike() -> None:
    sets = sets_of(corpus(1, 300))
    signatures = _signatures(sets, np.arange(600), 128)
    likeness = sets.jaccard(np.arange(300), np.arange(300, 600))
    agreed = (signatures[:, :300] == signatures[:, 300:]).mean(axis=0)
    # of 128 functions the share that agree is off by sqrt(s (1 - s) / 128) <= 0.044
    assert abs((agreed - likeness).mean()) < 0.01
    assert np.sqrt(((agreed - likeness) ** 2).mean()) < 0.06


@pytest.mark.parametrize("similarity", [0.5, 0.7, 0.9])
def test_no_fewer_are_found_than_promised(similarity: float) -> None:
    sets = sets_of(corpus(2, 2000))
    found = near_copies(sets, similarity)
    alike = sets.jaccard(np.arange(2000), np.arange(2000, 4000)) >= similarity
    copies = found.of[2000:][alike] == np.flatnonzero(alike)
    assert copies.mean() > 1 - 2 * MISSED
    # what is not alike is no copy, and none is found that is less alike than asked for
    assert (found.of[2000:][~alike] == -1).all()
    assert (found.of[:2000] == -1).all()
    assert np.nanmin(found.similarity) >= similarity


def greedy(sets: ShingleSets, similarity: float) -> list[int]:
    """Compare each text with every earlier one that stays."""
    kept: list[int] = []
    of = []
    for text, size in enumerate(sets.sizes):
        others = np.array(kept, dtype=np.int64)
        alike = sets.jaccard(others, np.full(len(others), text)) if size and kept else np.empty(0)
        hits = np.flatnonzero(alike >= similarity)
        of.append(int(others[hits[0]]) if len(hits) else -1)
        if size and not len(hits):
            kept.append(text)
    return of


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), min_size=1, max_size=25),
    st.sampled_from([0.3, 0.5, 0.75, 1.0]),
)
def test_a_copy_is_a_copy_of_what_stays(texts: list[list[str]], similarity: float) -> None:
    sets = sets_of([" ".join(words) for words in texts])
    found = near_copies(sets, similarity).of
    expected = greedy(sets, similarity)
    # where MinHash finds every pair, the outcome is that of comparing all with all
    assert (found >= 0).tolist() == [place >= 0 for place in expected]
    copied = np.flatnonzero(found >= 0)
    assert (found[found[copied]] == -1).all()
    assert (found[copied] < copied).all()
    if len(copied):
        assert sets.jaccard(found[copied], copied).min() >= similarity - 1e-12


def test_many_equal_texts_take_no_longer_than_many_different_ones() -> None:
    texts = [f"the same {n % 3} text again and again" for n in range(30_000)]
    found = near_copies(sets_of(texts), 0.9)
    assert found.of[:3].tolist() == [-1, -1, -1]
    assert (found.of[3:] == np.arange(3, 30_000) % 3).all()


def plain_signature(words: list[str], function: int, texts: int) -> int:
    """The same in whole numbers of Python, which no machine computes otherwise."""
    word = [int.from_bytes(blake2b(w.encode(), digest_size=8).digest(), "little") for w in words]
    key = blake2b(str(function).encode(), digest_size=8, key=b"minhash").digest()
    factor, mask = int.from_bytes(key[:4], "little") | 1, int.from_bytes(key[4:], "little")
    hashed = []
    for first, second in pairwise(word):
        mixed = (first * 0x9E3779B97F4A7C15 + second) % 2**64
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) % 2**64
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) % 2**64
        kept = (mixed ^ mixed >> 31) >> texts.bit_length()
        hashed.append(((kept ^ mask) % 2**32) * factor % 2**32)
    return min(hashed)


def test_signatures_are_the_same_on_every_machine() -> None:
    texts = ["a b c", "b c d e f"]
    expected = [[plain_signature(text.split(), n, 2) for text in texts] for n in range(8)]
    assert _signatures(sets_of(texts), np.arange(2), 8).tolist() == expected
