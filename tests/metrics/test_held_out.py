from __future__ import annotations

from benchprism.metrics.held_out import family_folds, split_families

NAMES = [f"family{number}" for number in range(11)]


def test_a_split_is_a_partition_that_depends_on_seed_and_names_alone() -> None:
    found = split_families(NAMES, seed=3)
    assert sorted(found.held_in + found.held_out) == sorted(NAMES)
    assert (len(found.held_in), len(found.held_out)) == (6, 5)
    assert split_families(reversed(NAMES), seed=3) == found
    assert split_families([*NAMES, *NAMES], seed=3) == found
    assert len({split_families(NAMES, seed=seed).held_in for seed in range(20)}) > 15


def test_seeds_below_zero() -> None:
    assert split_families(NAMES, seed=-1) != split_families(NAMES, seed=1)


def test_one_family_leaves_nobody_to_judge() -> None:
    assert split_families(["a"]).held_out == ()
    assert split_families([]).held_in == ()


def test_every_family_is_held_out_once() -> None:
    folds = family_folds(NAMES, 4, seed=1)
    held_out = [name for fold in folds for name in fold.held_out]
    assert sorted(held_out) == sorted(NAMES)
    for fold in folds:
        assert sorted(fold.held_in + fold.held_out) == sorted(NAMES)
    assert len(family_folds(["a", "b"], 5)) == 2
