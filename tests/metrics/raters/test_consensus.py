from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchprism.metrics.raters.consensus import Ties, majority, majority_set, median_level
from benchprism.metrics.raters.patterns import Ratings

tables = arrays(np.int8, (6, 4), elements=st.integers(-1, 3))


def test_the_value_with_most_voices_wins() -> None:
    found = majority(np.array([[2, 2, 0, 1], [1, 1, 1, 1], [-1, -1, 3, -1]]), values=4)
    assert found.values.tolist() == [2, 1, 3]
    assert found.confidence.tolist() == [0.5, 1, 1]
    assert found.raters.tolist() == [4, 4, 1]
    assert found.reasons.tolist() == ["", "", ""]


def test_a_tie_is_missing_with_its_reason() -> None:
    found = majority(np.array([[0, 1], [2, -1], [-1, -1]]), values=3)
    assert found.values.tolist() == [-1, 2, -1]
    assert found.reasons.tolist() == ["tie", "", "unrated"]
    assert found.confidence[:2].tolist() == [0.5, 1]
    assert math.isnan(found.confidence[2])


@pytest.mark.parametrize(
    ("ties", "values"), [("first", [2, 1, 0]), ("lowest", [1, 1, 0]), ("highest", [2, 3, 0])]
)
def test_a_tie_rule_decides_among_the_leaders_alone(ties: Ties, values: list[int]) -> None:
    # 2 and 1 have two voices each and 0 one; 1 and 3 have one each; the last is no tie.
    ratings = np.array([[0, 2, 1, 1, 2], [-1, 1, -1, 3, -1], [0, 0, 3, -1, -1]])
    found = majority(ratings, values=4, ties=ties)
    assert found.values.tolist() == values
    assert found.reasons.tolist() == ["", "", ""]
    assert found.confidence == pytest.approx([0.4, 0.5, 2 / 3])


@given(ratings=tables)
@settings(deadline=None)
def test_majority_of_any_table(ratings: Ratings) -> None:
    found = majority(ratings, values=4)
    for row, value, confidence, reason in zip(
        ratings.tolist(), found.values, found.confidence, found.reasons, strict=True
    ):
        votes = Counter(rating for rating in row if rating >= 0).most_common()
        leaders = [value for value, voices in votes if voices == votes[0][1]]
        assert reason == ("" if len(leaders) == 1 else "tie" if leaders else "unrated")
        assert value == (leaders[0] if len(leaders) == 1 else -1)
        if votes:
            assert confidence == pytest.approx(votes[0][1] / sum(voices for _, voices in votes))


def test_the_median_is_a_level_that_somebody_gave() -> None:
    ratings = np.array([[3, 0, 3], [0, 3, -1], [2, 2, 1], [-1, 1, -1], [-1, -1, -1]])
    lower = median_level(ratings, values=4)
    assert lower.values.tolist() == [3, 0, 2, 1, -1]
    assert lower.confidence[:4] == pytest.approx([2 / 3, 1 / 2, 2 / 3, 1])
    assert math.isnan(lower.confidence[4])
    assert lower.reasons.tolist() == ["", "", "", "", "unrated"]
    assert lower.raters.tolist() == [3, 2, 3, 1, 0]
    assert median_level(ratings, values=4, even="upper").values.tolist() == [3, 3, 2, 1, -1]


@given(ratings=tables)
@settings(deadline=None)
def test_lower_and_upper_median_enclose_the_median(ratings: Ratings) -> None:
    lower = median_level(ratings, values=4).values
    upper = median_level(ratings, values=4, even="upper").values
    for row, low, high in zip(ratings, lower, upper, strict=True):
        given_ = row[row >= 0]
        if given_.size:
            assert (low + high) / 2 == np.median(given_)
            assert {low, high} <= set(given_.tolist())


def test_labels_that_more_than_half_gave() -> None:
    sets = np.array([[[1, 1, 0], [1, 0, 0], [1, 0, 1]], [[0, 0, 0], [1, 0, 0], [0, 0, 1]]])
    found = majority_set(sets)
    assert found.sets.tolist() == [[1, 0, 0], [0, 0, 0]]
    assert found.confidence == pytest.approx([2 / 3, 2 / 3])
    assert found.reasons.tolist() == ["", ""]


def test_a_label_of_exactly_half_is_a_tie() -> None:
    sets = np.array([[[1, 1], [1, 0], [-1, -1]], [[-1, -1]] * 3])
    missing = majority_set(sets)
    assert missing.sets.tolist() == [[-1, -1], [-1, -1]]
    assert missing.reasons.tolist() == ["tie", "unrated"]
    assert missing.confidence[0] == 0.5
    assert math.isnan(missing.confidence[1])
    assert majority_set(sets, ties="without").sets.tolist() == [[1, 0], [-1, -1]]
    assert majority_set(sets, ties="with").sets.tolist() == [[1, 1], [-1, -1]]


def test_a_value_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="rating 4 of item 0 by rater 1; wanted 0 to 3"):
        majority(np.array([[0, 4]]), values=4)
    with pytest.raises(ValueError, match="rating 4 of item 0 by rater 1"):
        median_level(np.array([[0, 4]]), values=4)
