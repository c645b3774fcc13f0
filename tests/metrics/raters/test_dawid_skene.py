from __future__ import annotations

import math

import numpy as np
import pytest

from benchprism.metrics.raters.dawid_skene import dawid_skene
from benchprism.metrics.raters.patterns import Floats, Ratings

# Dawid and Skene (1979), table 1: 45 patients, graded 1 to 4 by five anaesthetists, the first of
# whom saw each form three times.
ANAESTHETISTS = """
    1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223
    4444444 2223343 1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322
    2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
    1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111
    1111111 1212111 2322222 1211111 2222222
"""
ANAESTHETIST = [0, 0, 0, 1, 2, 3, 4]


def anaesthetists() -> Ratings:
    return np.array([[int(grade) - 1 for grade in form] for form in ANAESTHETISTS.split()])


def test_the_published_example() -> None:
    found = dawid_skene(anaesthetists(), values=4, raters=ANAESTHETIST, smoothing=0)
    assert found.converged
    assert np.round(found.prevalence, 2).tolist() == [0.40, 0.42, 0.11, 0.07]
    # Their table 2, the first anaesthetist.
    assert np.round(found.confusion[0], 2).tolist() == [
        [0.89, 0.11, 0, 0],
        [0.07, 0.88, 0.05, 0],
        [0, 0.34, 0.66, 0],
        [0, 0, 0.56, 0.44],
    ]


def slow_em(
    ratings: Ratings, raters: list[int], values: int, smoothing: float
) -> list[list[float]]:
    """The posteriors by plain loops, in plain probabilities."""
    items, truths = range(len(ratings)), range(values)
    votes = [[(raters[c], v) for c, v in enumerate(row) if v >= 0] for row in ratings.tolist()]
    posterior = [[sum(v == t for _, v in votes[i]) / len(votes[i]) for t in truths] for i in items]
    for _ in range(3000):
        prevalence = [sum(p[t] for p in posterior) / len(ratings) for t in truths]
        counts = {
            (g, t, v): smoothing / values for g in set(raters) for t in truths for v in truths
        }
        for i in items:
            for g, v in votes[i]:
                for t in truths:
                    counts[g, t, v] += posterior[i][t]
        total = {(g, t): sum(counts[g, t, v] for v in truths) for g in set(raters) for t in truths}
        fresh = []
        for i in items:
            joint = []
            for t in truths:
                share = prevalence[t]
                for g, v in votes[i]:
                    share *= counts[g, t, v] / total[g, t] if total[g, t] else 0.0
                joint.append(share)
            fresh.append([share / sum(joint) for share in joint])
        moved = max(
            abs(a - b)
            for p, q in zip(posterior, fresh, strict=True)
            for a, b in zip(p, q, strict=True)
        )
        posterior = fresh
        if moved < 1e-9:
            break
    return posterior


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_posteriors_equal_those_of_plain_loops(smoothing: float) -> None:
    rng = np.random.default_rng(1)
    ratings = np.where(rng.random((45, 7)) < 0.2, -1, anaesthetists())
    ratings[:, 0] = anaesthetists()[:, 0]
    found = dawid_skene(
        ratings, values=4, raters=ANAESTHETIST, smoothing=smoothing, tolerance=1e-10
    )
    assert found.converged
    slow = slow_em(ratings, ANAESTHETIST, 4, smoothing)
    assert np.abs(found.posterior - np.array(slow)).max() < 1e-6


def test_one_iteration_worked_by_hand() -> None:
    # Three raters; items 0 0 0, 1 1 1, 0 0 1. Shares of votes for 0: 1, 0, 2/3. Prevalence of 0:
    # 5/9. Raters 0 and 1: e_0,0 = (1 + 2/3) / (5/3) = 1, e_1,0 = (1/3) / (4/3) = 1/4. Rater 2:
    # e_0,1 = (2/3) / (5/3) = 2/5, e_1,1 = 1.
    # Third item: 0: 5/9 * 1 * 1 * 2/5 = 2/9; 1: 4/9 * 1/4 * 1/4 * 1 = 1/36; P(0) = 8/9.
    ratings = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1]])
    found = dawid_skene(ratings, values=2, smoothing=0, iterations=1)
    assert found.posterior[2] == pytest.approx([8 / 9, 1 / 9])
    assert not found.converged
    assert found.iterations == 1
    assert found.confusion[0] == pytest.approx(np.array([[1, 0], [1 / 4, 3 / 4]]))
    # First item: 5/9 * 3/5 + 0; second: 0 + 4/9 * 9/16; third: 2/9 + 1/36.
    likelihoods = [1 / 3, 1 / 4, 1 / 4]
    assert found.log_likelihood == pytest.approx(sum(map(math.log, likelihoods)))


def simulated(
    rng: np.random.Generator, items: int, confusion: Floats, prevalence: list[float]
) -> tuple[Ratings, Ratings]:
    truth = rng.choice(len(prevalence), items, p=prevalence)
    steps = np.cumsum(confusion[:, truth], axis=2)
    ratings = (rng.random((len(confusion), items, 1)) > steps).sum(axis=2).T
    return truth, ratings


def test_true_values_and_errors_are_recovered() -> None:
    good = np.array([[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.0, 0.1, 0.9]])
    lenient = np.array([[0.4, 0.5, 0.1], [0.0, 0.4, 0.6], [0.0, 0.1, 0.9]])
    careless = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]])
    confusion = np.array([good, good, lenient, careless, careless])
    truth, ratings = simulated(np.random.default_rng(0), 5000, confusion, [0.5, 0.3, 0.2])
    found = dawid_skene(ratings, values=3)
    assert found.converged
    assert np.abs(found.confusion - confusion).max() < 0.06
    assert found.prevalence == pytest.approx([0.5, 0.3, 0.2], abs=0.03)
    assert found.support.sum(axis=1) == pytest.approx(np.full(5, 5000))
    right = found.consensus.values == truth
    votes = np.eye(3)[ratings].sum(axis=1).argmax(axis=1) == truth
    assert right.mean() > votes.mean() + 0.05
    # A posterior of .8 is to be right 8 times in 10.
    unsure = (found.consensus.confidence > 0.7) & (found.consensus.confidence < 0.9)
    assert right[unsure].mean() == pytest.approx(
        found.consensus.confidence[unsure].mean(), abs=0.06
    )


def test_smoothing_makes_the_posterior_of_few_items_less_sure() -> None:
    rng = np.random.default_rng(3)
    confusion = np.full((3, 6, 6), 0.06) + 0.64 * np.eye(6)
    sure: dict[float, list[float]] = {0.0: [], 1.0: []}
    for _ in range(20):
        truth, ratings = simulated(rng, 60, confusion, [1 / 6] * 6)
        for smoothing, excess in sure.items():
            found = dawid_skene(ratings, values=6, smoothing=smoothing).consensus
            excess.append(float(found.confidence.mean() - (found.values == truth).mean()))
    assert np.mean(sure[0.0]) > np.mean(sure[1.0]) > 0


def test_missing_ratings_and_unrated_items() -> None:
    ratings = np.array([[0, 0, 0], [1, 1, -1], [1, 1, 1], [0, -1, -1], [-1, -1, -1]] * 4)
    found = dawid_skene(ratings, values=3)
    consensus = found.consensus
    assert consensus.values[:5].tolist() == [0, 1, 1, 0, -1]
    assert consensus.reasons[:5].tolist() == ["", "", "", "", "unrated"]
    assert consensus.raters[:5].tolist() == [3, 2, 3, 1, 0]
    assert np.isnan(found.posterior[4]).all()
    assert np.isnan(consensus.confidence[4])
    assert found.prevalence.sum() == pytest.approx(1)
    # No item is ever a 2: nothing is known of what raters say then.
    assert found.support[:, 2] == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.isnan(dawid_skene(ratings, values=3, smoothing=0).confusion[:, 2]).all()


def test_equal_posteriors_are_a_tie() -> None:
    # Exchanging the first two raters and the two values gives the same table, the last item too.
    pairs = [[0, 0, -1], [1, 1, -1], [-1, 0, 0], [1, -1, 1], [-1, 1, 1], [0, -1, 0]]
    ratings = np.array([*pairs, [0, 1, -1]])
    found = dawid_skene(ratings, values=2).consensus
    assert found.reasons.tolist()[6] == "tie"
    assert found.values[6] == -1
    assert found.confidence[6] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("ratings", "raters"),
    [([[0, 0], [0, 1]], None), ([[0, 0, 1], [0, 1, 1]], [0, 0, 1]), ([[0, 1, -1]], None)],
)
def test_fewer_than_three_raters_are_undefined(
    ratings: list[list[int]], raters: list[int] | None
) -> None:
    found = dawid_skene(np.array(ratings), values=2, raters=raters)
    assert found.reason == "fewer than three raters"
    assert np.isnan(found.posterior).all()
    assert not found.converged
    assert set(found.consensus.reasons) == {"fewer than three raters"}
    assert set(found.consensus.values) == {-1}


def test_the_likelihood_never_falls() -> None:
    values = [
        dawid_skene(
            anaesthetists(), values=4, raters=ANAESTHETIST, smoothing=0, iterations=number
        ).log_likelihood
        for number in range(1, 12)
    ]
    assert (np.diff(values) >= -1e-9).all()
