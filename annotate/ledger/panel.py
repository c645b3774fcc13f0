"""A panel: annotators of several kinds, some of whom annotate every item more than once.

The first pass of an annotator carries its own name, a further one its number too: ``llm:main``,
``llm:main#2``. To the ledger each pass is an annotator of its own.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

Kind = Literal["adjudicator", "human", "llm", "heuristic", "computed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""From the one whose word counts most to the one whose word counts least."""
PEOPLE: tuple[Kind, ...] = ("adjudicator", "human")

_PASS = re.compile(r"#[0-9]+\Z")


def kind_of(annotator: str) -> Kind:
    """Tell what an annotator is by its name; one of no other kind is a heuristic.

    >>> kind_of("human:ann"), kind_of("embed:minilm")
    ('human', 'heuristic')
    """
    name = annotator.partition(":")[0]
    return next((kind for kind in KINDS if kind == name), "heuristic")


def passes(annotator: str, repeats: int) -> list[str]:
    """Name the passes of an annotator.

    >>> passes("llm:main", 3)
    ['llm:main', 'llm:main#2', 'llm:main#3']
    """
    return [annotator, *(f"{annotator}#{number}" for number in range(2, repeats + 1))]


def rater_of(annotator: str) -> str:
    """Tell whose pass it is.

    >>> rater_of("llm:main#2"), rater_of("llm:main")
    ('llm:main', 'llm:main')
    """
    return _PASS.sub("", annotator)
