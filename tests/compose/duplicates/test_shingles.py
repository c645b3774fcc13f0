from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchprism.compose.duplicates.shingles import ShingleSets, shingle_sets


def sets(*texts: str) -> ShingleSets:
    return shingle_sets([pa.chunked_array([pa.array(texts, pa.string())])])


def jaccard(first: str, second: str) -> float:
    return float(sets(first, second).jaccard(np.array([0]), np.array([1]))[0])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a b c d", "a b c d", 1),
        ("a b c d", "a b c e", 2 / 4),  # ab bc cd against ab bc ce
        ("a b c d", "d c b a", 0),
        ("one", "one", 1),
        ("one", "two", 0),
        ("one", "one two", 0),  # a single word is no pair
        ("The  cat\tsat", "the cat sat", 1),
        ("ﬁve cats", "five cats", 1),
        ("x = 2 + 3", "x = 2 - 3", 2 / 6),  # x=, =2 of x= =2 2+ +3 2- -3
        ("f(x)", "f ( x )", 1),
        ("a b a b a b", "a b a", 1),  # a pair counts once
        ("Größe ändert", "größe ÄNDERT", 1),
        ("12 apples", "13 apples", 0),
        ("one\u2028two\u0085three\u3000four", " one two  three four  ", 1),
    ],
)
def test_likeness_by_hand(first: str, second: str, expected: float) -> None:
    assert jaccard(first, second) == pytest.approx(expected, abs=1e-12)


def test_no_pair_reaches_from_one_part_into_the_next() -> None:
    question = pa.chunked_array([["a b", "a b"]])
    choices = pa.chunked_array([[["c d", "e"], ["e", "c d"]]])
    found = shingle_sets([question, choices])
    assert found.sizes.tolist() == [3, 3]  # ab, cd, e
    assert found.jaccard(np.array([0]), np.array([1])).tolist() == [1]
    other = shingle_sets([pa.chunked_array([["a b c d", "a b e"]])])
    assert other.sizes.tolist() == [3, 2]


def test_texts_without_words_have_no_shingles() -> None:
    assert sets("", " \n", "a").sizes.tolist() == [0, 0, 1]
    assert sets().sizes.tolist() == []
    missing = shingle_sets([pa.chunked_array([pa.array([None, "a b"], pa.string())])])
    assert missing.sizes.tolist() == [0, 1]


def slow(text: str) -> set[tuple[str, str] | tuple[str]]:
    """The same in plain Python, for letters, digits and ASCII signs."""
    words = re.findall(r"\w+|[^\w\s]", unicodedata.normalize("NFKC", text).lower())
    return {*pairwise(words)} if len(words) != 1 else {(words[0],)}


@settings(deadline=None)
@given(st.lists(st.text("ab1 +-.,\n", max_size=20), min_size=2, max_size=6))
def test_sets_are_those_of_plain_python(texts: list[str]) -> None:
    found = sets(*texts)
    expected = [slow(text) for text in texts]
    assert found.sizes.tolist() == [len(own) for own in expected]
    pairs = [(i, j) for i in range(len(texts)) for j in range(i) if expected[i] and expected[j]]
    if pairs:
        left, right = (np.array(side) for side in zip(*pairs, strict=True))
        likeness = [len(expected[i] & expected[j]) / len(expected[i] | expected[j])
                    for i, j in pairs]  # fmt: skip
        assert found.jaccard(left, right).tolist() == pytest.approx(likeness)
