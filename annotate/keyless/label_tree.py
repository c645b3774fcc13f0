"""The ways in which a model can spell a set of labels, token by token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fork:
    """A place where labels part: the tokens so far, and those that may follow."""

    path: tuple[int, ...]
    choices: tuple[int, ...]


def forks(spellings: Sequence[Sequence[int]]) -> list[Fork]:
    """Find every place where spellings part.

    The model has to be asked only there: elsewhere one token alone may follow.

    Args:
        spellings: The tokens of each label; none may be the beginning of another.

    >>> forks([[7, 1, 9], [7, 2, 9], [7, 2, 8]])
    [Fork(path=(7,), choices=(1, 2)), Fork(path=(7, 2), choices=(8, 9))]
    """
    following: dict[tuple[int, ...], set[int]] = {}
    for spelling in spellings:
        for place, token in enumerate(spelling):
            following.setdefault(tuple(spelling[:place]), set()).add(token)
    return [
        Fork(path, tuple(sorted(tokens)))
        for path, tokens in sorted(following.items())
        if len(tokens) > 1
    ]


def log_probability(
    spelling: Sequence[int], at_forks: Mapping[tuple[int, ...], Mapping[int, float]]
) -> float:
    """Add up a label's log-probability over the forks that its spelling passes.

    Over all labels the probabilities sum to one: they are those with which a model that is held to
    the labels would write each.

    >>> log_probability([7, 2, 9], {(7,): {1: -0.5, 2: -1.0}, (7, 2): {8: -2.0, 9: -0.25}})
    -1.25
    """
    return sum(
        at_forks[path][token]
        for place, token in enumerate(spelling)
        if (path := tuple(spelling[:place])) in at_forks
    )
