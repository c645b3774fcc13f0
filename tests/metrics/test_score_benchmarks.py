"""Scorecards: points, parts, intervals, and the reasons that stand beside them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchprism.metrics.evidence import ItemScores, ReportedScores
from benchprism.metrics.quality import benchmark_quality
from benchprism.metrics.score_benchmarks import score_items, score_reported
from benchprism.metrics.scorecard import BenchmarkScore, Model, Scorecard, ScoreSettings

QUICK = ScoreSettings(replicates=200)
POINTS = ScoreSettings(replicates=0)
SIX = [
    Model(name, family, size)
    for name, family, size in [
        ("a1", "a", 1), ("a2", "a", 2), ("a3", "a", 3),
        ("b1", "b", 1), ("b2", "b", 9), ("c", "c", 5),
    ]
]  # fmt: skip
NAMES = tuple(model.name for model in SIX)


def simulated(name: str, items: int, domain: str | None = "d", seed: int = 0) -> ItemScores:
    rng = np.random.default_rng([seed, items])
    chance = np.array([0.3, 0.5, 0.7, 0.4, 0.8, 0.6])
    scores = (rng.random((items, 6)) < chance).astype(np.float64)
    return ItemScores(name, domain, NAMES, scores)


def notes(score: BenchmarkScore) -> str:
    return "\n".join(score.notes)


@pytest.fixture(scope="module")
def card() -> Scorecard:
    return score_items([simulated("x", 300), simulated("y", 200), simulated("z", 100)], SIX)


def test_a_small_benchmark_by_hand() -> None:
    # Two models of one family on four items: 3/4 for the small one, 2/4 for the large one.
    # Item 1 is inverted, 1 of 4. Mean 5/8, deviation 1/8, the one pair is distant.
    scores = np.array([[1, 1], [1, 0], [1, 1], [0, 0]], dtype=np.float64)
    models = [Model("small", "f", 1), Model("large", "f", 2)]
    given = ItemScores("b", "d", ("small", "large"), scores)
    (found,) = score_items([given], models, settings=POINTS).benchmarks
    assert found.accuracies == {"small": 0.75, "large": 0.5}
    assert found.accuracy.value == 0.625
    assert found.ds.value == pytest.approx(0.2)
    assert found.inversion_rate == 0.25
    assert found.cad.value == pytest.approx(math.exp(-3))
    assert (found.families[0].inverted, found.families[0].compared) == (1, 4)
    assert math.isnan(found.cbrc.value)
    assert math.isnan(found.bqs.value)
    assert "cbrc: undefined because no other benchmark of the domain 'd' is scored" in found.notes
    assert "bqs: undefined because cbrc is" in found.notes
    assert "only 2 models: a ranking of so few says little" in found.warnings
    assert "cad: rests on one family, f: its order may just be wrong" in found.warnings


def test_quality_is_made_of_the_other_three(card: Scorecard) -> None:
    for score in card.benchmarks:
        parts = score.cbrc.value, score.ds.value, score.cad.value
        assert score.bqs.value == pytest.approx(benchmark_quality(*parts))


def test_intervals_lie_about_the_estimates(card: Scorecard) -> None:
    for score in card.benchmarks:
        for name in ("accuracy", "ds", "cad", "bqs"):
            estimate = getattr(score, name)
            assert estimate.over_items.low < estimate.value < estimate.over_items.high
        width = score.accuracy.over_items.high - score.accuracy.over_items.low
        spread = 2 * 1.96 * np.sqrt(0.2 / (score.items or 1) / 6)
        assert width == pytest.approx(spread, rel=0.25)


def test_more_items_narrow_the_interval_over_items_alone(card: Scorecard) -> None:
    large, _, small = card.benchmarks

    def width(score: BenchmarkScore, over: str) -> float:
        interval = getattr(score.ds, over)
        return float(interval.high - interval.low)

    assert width(large, "over_items") < 0.75 * width(small, "over_items")
    assert width(large, "over_models") == pytest.approx(width(small, "over_models"), rel=0.5)


def test_families_add_up(card: Scorecard) -> None:
    score = card.benchmarks[0]
    assert [(f.family, f.models) for f in score.families] == [("a", 3), ("b", 2), ("c", 1)]
    assert [f.compared for f in score.families] == [900, 300, 0]
    inverted = sum(f.inverted or 0 for f in score.families)
    assert score.inversion_rate == pytest.approx(inverted / 1200)
    assert math.isnan(score.families[2].cad)
    assert "cad: 1 family without two models to compare: c" in score.notes
    assert score.ds_deviation == pytest.approx(np.std([score.families[0].ds, score.families[1].ds]))


def test_the_same_seed_gives_the_same_card(card: Scorecard) -> None:
    given = [simulated("x", 300), simulated("y", 200), simulated("z", 100)]
    assert repr(score_items(given, SIX, threads=2)) == repr(card)
    other = score_items(given, SIX, settings=replace(ScoreSettings(), seed=1))
    assert other.benchmarks[0].ds.value == card.benchmarks[0].ds.value
    assert other.benchmarks[0].ds.over_items != card.benchmarks[0].ds.over_items


def test_domains_part_the_peers() -> None:
    given = [simulated("x", 50, "d"), simulated("y", 60, "d"), simulated("z", 70, None)]
    found = score_items(given, SIX, settings=POINTS).benchmarks
    assert [peer.benchmark for peer in found[0].peers] == ["y"]
    assert "cbrc: rests on a single peer, y" in found[0].notes
    assert found[2].peers == ()
    assert "cbrc: undefined because it has no domain to share with other benchmarks" in notes(
        found[2]
    )


def test_missing_scores_count_for_nothing_and_are_said() -> None:
    given = simulated("x", 100)
    holes = given.scores.copy()
    holes[::2, 0] = np.nan
    (found,) = score_items([replace(given, scores=holes)], SIX, settings=QUICK).benchmarks
    assert found.accuracies["a1"] == pytest.approx(given.scores[1::2, 0].mean())
    assert found.missing == 50
    assert "50 of 600 scores are missing; missing is not wrong" in found.notes
    assert found.ds.over_items.defined


def test_a_model_without_any_score_is_not_one_of_the_benchmarks() -> None:
    given = simulated("x", 100)
    empty = given.scores.copy()
    empty[:, 5] = np.nan
    found = score_items([replace(given, scores=empty), simulated("y", 80)], SIX, settings=POINTS)
    first, second = found.benchmarks
    assert (first.models, second.models, first.missing) == (5, 6, 0)
    assert "c" not in first.accuracies
    assert first.peers[0].models == 5
    assert "cbrc: rankings compared over the 5 models that both benchmarks have" in second.notes


def test_benchmarks_without_a_model_in_common_have_no_consistency() -> None:
    first, second = simulated("x", 100), simulated("y", 100)
    left = replace(first, models=NAMES[:3], scores=first.scores[:, :3])
    right = replace(second, models=NAMES[3:], scores=second.scores[:, 3:])
    found = score_items([left, right], SIX, settings=QUICK).benchmarks
    assert math.isnan(found[0].cbrc.value)
    assert "cbrc: undefined because no peer has two models in common" in notes(found[0])


def test_without_families_alignment_is_undefined() -> None:
    loose = [Model(name) for name in NAMES]
    (found,) = score_items([simulated("x", 50)], loose, settings=POINTS).benchmarks
    assert "cad: undefined because no model has a family" in notes(found)
    sizeless = [Model(name, "f") for name in NAMES]
    (found,) = score_items([simulated("x", 50)], sizeless, settings=POINTS).benchmarks
    assert "cad: undefined because no model has a size" in notes(found)
    equal = [Model(name, "f", 7) for name in NAMES]
    (found,) = score_items([simulated("x", 50)], equal, settings=POINTS).benchmarks
    assert "cad: undefined because no family has two models of different size" in notes(found)


def test_a_benchmark_without_models_is_undefined_throughout() -> None:
    nobody = ItemScores("x", "d", (), np.zeros((4, 0)))
    found = score_items([nobody, simulated("y", 50)], SIX, settings=QUICK).benchmarks[0]
    assert not any(
        getattr(found, name).defined for name in ("accuracy", "cbrc", "ds", "cad", "bqs")
    )
    assert "cbrc: undefined because fewer than two models are scored" in found.notes
    assert "ds: undefined because fewer than two models are scored" in found.notes
    assert "bqs: undefined because cbrc, ds and cad are" in found.notes
    alone = score_items([nobody], [], settings=QUICK).benchmarks[0]
    assert alone.accuracies == {}


def test_few_models_have_no_interval_over_models() -> None:
    three = ItemScores("x", "d", NAMES[:3], simulated("x", 100).scores[:, :3])
    (found,) = score_items([three], SIX[:3], settings=QUICK).benchmarks
    assert found.ds.over_items.defined
    assert not found.ds.over_models.defined
    assert "ds: no interval over models: it is undefined in more than 5 %" in notes(found)


def test_no_benchmarks_make_an_empty_card() -> None:
    assert score_items([], SIX).benchmarks == ()
    assert score_reported([], SIX).benchmarks == ()


def test_reported_accuracies_have_intervals_over_models_alone() -> None:
    scored = score_items([simulated("x", 300), simulated("y", 200)], SIX, settings=QUICK)
    given = [
        ReportedScores(
            score.benchmark,
            "d",
            score.accuracies,
            {family.family: family.inversion_rate for family in score.families},
        )
        for score in scored.benchmarks
    ]
    reported = score_reported(given, SIX, settings=QUICK)
    for one, other in zip(reported.benchmarks, scored.benchmarks, strict=True):
        assert (one.items, one.models) == (None, 6)
        for name in ("accuracy", "cbrc", "ds", "cad", "bqs"):
            assert getattr(one, name).value == pytest.approx(getattr(other, name).value)
            assert not getattr(one, name).over_items.defined
        assert one.cbrc.over_models.low == pytest.approx(other.cbrc.over_models.low, nan_ok=True)
        assert not one.cad.over_models.defined
        assert "no intervals over items: the accuracies are given without items" in one.notes
        assert "cad, bqs: no interval over models: inversion rates are of families" in notes(one)


def test_without_inversion_rates_alignment_is_undefined() -> None:
    given = ReportedScores("x", "d", {"a1": 0.5, "a2": 0.6}, {})
    (found,) = score_reported([given], SIX, settings=POINTS).benchmarks
    assert math.isnan(found.cad.value)
    assert "cad: undefined because no inversion rate is given" in notes(found)


def test_a_family_whose_models_a_benchmark_lacks_has_no_weight() -> None:
    # Family a keeps two of its three models there: one pair instead of three.
    accuracies = {"a1": 0.2, "a2": 0.4, "b1": 0.3, "b2": 0.6}
    given = ReportedScores("x", "d", accuracies, {"a": 0.1, "b": 0.3, "c": 0.9})
    (found,) = score_reported([given], SIX, settings=POINTS).benchmarks
    assert found.inversion_rate == pytest.approx((0.1 + 0.3) / 2)


def test_an_interval_above_the_estimate_is_explained() -> None:
    rng = np.random.default_rng(0)
    models = [Model(f"m{i}", "f", i) for i in range(60)]
    names = tuple(model.name for model in models)
    ability = np.linspace(0.2, 0.8, 60)
    given = [
        ItemScores(name, "d", names, (rng.random((150, 60)) < ability).astype(np.float64))
        for name in "uvwxyz"
    ]
    scores = score_items(given, models).benchmarks
    above = [score for score in scores if score.cbrc.over_items.low > score.cbrc.value]
    assert above
    assert all("noise from few items pulls every tau down" in notes(score) for score in above)


def test_names_do_not_matter(card: Scorecard) -> None:
    """Models, families and domains may be called anything; a benchmark's name seeds its draws."""
    other = {model.name: f"other {place}" for place, model in enumerate(SIX)}
    models = [Model(other[m.name], f"fam {m.family}", m.size) for m in SIX]
    given = [
        replace(simulated(name, items, "elsewhere"), models=tuple(other.values()))
        for name, items in (("x", 300), ("y", 200), ("z", 100))
    ]
    renamed = score_items(given, models)
    for one, two in zip(card.benchmarks, renamed.benchmarks, strict=True):
        for name in ("accuracy", "cbrc", "ds", "cad", "bqs"):
            assert repr(getattr(one, name)) == repr(getattr(two, name))
        assert (one.reliability, one.stability) == (two.reliability, two.stability)
        assert one.order == two.order
    again = [replace(own, benchmark=f"new {own.benchmark}") for own in given]
    for one, two in zip(card.benchmarks, score_items(again, models).benchmarks, strict=True):
        assert one.bqs.value == two.bqs.value
        assert one.bqs.over_items != two.bqs.over_items


def test_the_order_of_models_and_of_benchmarks_does_not_matter() -> None:
    given = [simulated("x", 120), simulated("y", 90)]
    found = {score.benchmark: score for score in score_items(given, SIX).benchmarks}
    turned = [
        replace(own, models=own.models[::-1], scores=own.scores[:, ::-1]) for own in given[::-1]
    ]
    for score in score_items(turned, SIX[::-1]).benchmarks:
        wanted = found[score.benchmark]
        for name in ("accuracy", "cbrc", "ds", "cad", "bqs"):
            one, two = getattr(score, name), getattr(wanted, name)
            assert one.value == pytest.approx(two.value, abs=1e-12)
            assert one.over_items.low == pytest.approx(two.over_items.low, abs=1e-9)


def test_intervals_over_both_are_the_widest(card: Scorecard) -> None:
    for score in card.benchmarks:
        for name in ("accuracy", "ds"):
            estimate = getattr(score, name)
            widths = {
                over: interval.high - interval.low
                for over in ("items", "models", "both")
                if (interval := getattr(estimate, f"over_{over}")).defined
            }
            assert widths["both"] > widths["items"]
            assert widths["both"] > 0.8 * widths["models"]


def test_what_resampling_adds_is_taken_away(card: Scorecard) -> None:
    for score in card.benchmarks:
        assert score.cbrc.over_items.low <= score.cbrc.corrected <= score.cbrc.over_items.high
        assert score.accuracy.corrected == pytest.approx(score.accuracy.value, abs=0.005)
        reach = score.accuracy.over_items.high - score.accuracy.over_items.low
        assert 2 * 1.96 * score.accuracy.deviation == pytest.approx(reach, rel=0.15)


def test_items_in_groups_are_counted_and_said() -> None:
    groups = np.arange(60) // 10
    given = replace(simulated("x", 60), groups=groups)
    (found,) = score_items([given], SIX, settings=QUICK).benchmarks
    assert found.groups == 6
    assert "60 items in 6 groups that share a passage or a text" in notes(found)
    assert "only 6 groups of items: numbers from so few say little" in found.warnings


def test_sizes_that_order_nothing_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    models = [Model(f"m{i}", "fg"[i // 5], i % 5) for i in range(10)]
    scores = (rng.random((200, 10)) < np.tile([0.7, 0.3, 0.6, 0.4, 0.5], 2)).astype(float)
    given = ItemScores("x", "d", tuple(model.name for model in models), scores)
    (found,) = score_items([given], models, settings=POINTS).benchmarks
    assert found.order.p_value > 0.05
    assert any("order the models no better than chance" in warning for warning in found.warnings)


def test_constants_from_the_data() -> None:
    given = [simulated(name, items) for name, items in (("x", 300), ("y", 60), ("z", 900))]
    settings = replace(POINTS, epsilon="noise", decay="adaptive")
    found = score_items(given, SIX, settings=settings).benchmarks
    assert len({score.decay for score in found}) == 1
    epsilons = [score.epsilon for score in found]
    assert epsilons[1] > epsilons[0] > epsilons[2]
    plain = score_items(given, SIX, settings=POINTS).benchmarks
    for one, two in zip(found, plain, strict=True):
        assert one.cad.value == pytest.approx(math.exp(-one.decay * two.inversion_rate))
        assert (two.epsilon, two.decay) == (0.02, 12)
        assert one.detectable == two.detectable


def test_an_adaptive_lambda_needs_three_benchmarks() -> None:
    given = [simulated("x", 60), simulated("y", 60)]
    found = score_items(given, SIX, settings=replace(QUICK, decay="adaptive")).benchmarks[0]
    assert math.isnan(found.cad.value)
    assert "cad: undefined because an adaptive lambda needs three benchmarks" in notes(found)


def test_accuracies_alone_have_no_noise() -> None:
    given = ReportedScores("x", "d", {"a1": 0.5, "a2": 0.6}, {})
    with pytest.raises(ValueError, match="do not say how large their noise is"):
        score_reported([given], SIX, settings=replace(POINTS, ties="noise"))


def test_ties_by_noise_are_for_few_models() -> None:
    names = tuple(f"m{i}" for i in range(1001))
    given = ItemScores("x", "d", names, np.ones((2, 1001)))
    with pytest.raises(ValueError, match="at most 1000"):
        score_items(
            [given], [Model(name) for name in names], settings=replace(POINTS, ties="noise")
        )


def test_numbers_that_are_asked_for() -> None:
    given = [simulated("x", 100), simulated("y", 100)]
    plain = score_items(given, SIX, settings=POINTS)
    assert plain.benchmarks[0].shrunken is None
    assert plain.benchmarks[0].cross_family is None
    assert plain.curves is None
    asked = replace(POINTS, shrunken=True, cross_family=True, curves=True)
    found = score_items(given, SIX, settings=asked)
    shrunken = found.benchmarks[0].shrunken
    assert shrunken is not None
    assert shrunken.peers == 1
    assert found.benchmarks[0].cross_family is not None
    assert found.curves is not None
    assert found.curves.decay.metric.shape == (len(found.curves.decay.constants), 2)


def test_a_single_item_or_passage_gives_no_intervals_over_items() -> None:
    lone = ItemScores("x", "d", NAMES, np.array([[1.0, 0, 1, 0, 1, 0]]))
    passage = replace(simulated("y", 30), groups=np.zeros(30, dtype=np.intp))
    found = score_items([lone, passage], SIX, settings=QUICK).benchmarks
    for score in found:
        assert not score.accuracy.over_items.defined
        assert not score.accuracy.over_both.defined
        assert score.accuracy.over_models.defined
    assert "no intervals over items: there is a single item" in found[0].notes
    assert "no intervals over items: all items share one passage" in found[1].notes
    assert (
        "halves, detectable difference: undefined because there is a single item" in found[0].notes
    )


def test_what_was_asked_and_is_undefined_is_said() -> None:
    asked = replace(POINTS, shrunken=True, cross_family=True)
    given = [simulated("x", 40, None), simulated("y", 40)]
    one_family = [Model(name, "f", place) for place, name in enumerate(NAMES)]
    found = score_items(given, one_family, settings=asked).benchmarks
    assert "cbrc shrunken: undefined because it has no domain" in found[0].notes
    assert "cbrc shrunken: undefined because no two benchmarks of a domain" in notes(found[1])
    assert "cad of shared inversions: undefined because it takes two families" in notes(found[0])
