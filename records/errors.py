"""The error model.

``BenchprismError`` is the only exception that a caller has to know. The command line prints it as
one sentence and exits with its code:

====================  ====  =============================================================
error                 code  meaning
====================  ====  =============================================================
``InputError``           2  a file, a value or an option that cannot be used as given
``EndpointError``        2  a service that cannot be reached or will not serve
``ConfirmationNeeded``   3  an action that a person has to confirm first
``BudgetReached``        4  a cap on money or quota; everything done so far is saved
====================  ====  =============================================================

Findings (exit code 1) are results, not errors: commands return them. A failure that belongs to one
item (a refusal, an invalid reply) is a record with a status, not an exception.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class BenchprismError(Exception):
    """A sentence in three parts: what was found, what was wanted, what to do next."""

    exit_code = 2

    def __init__(self, found: str, *, wanted: str, mend: str) -> None:
        super().__init__(f"{found}; wanted {wanted}; {mend}")
        self.found = found
        self.wanted = wanted
        self.mend = mend


class InputError(BenchprismError):
    """A file, a value or an option that cannot be used as given."""


class EndpointError(BenchprismError):
    """A service that cannot be reached or will not serve."""


class ConfirmationNeeded(BenchprismError):
    """An action that a person has to confirm first."""

    exit_code = 3


class BudgetReached(BenchprismError):
    """A cap on money or quota was reached; everything done so far is saved."""

    exit_code = 4


def suggestion(word: str, known: Iterable[str]) -> str:
    """Say which known word was probably meant, or list the known ones.

    >>> suggestion("wher", ["where", "sample"])
    "did you mean 'where'?"
    >>> suggestion("zzz", ["where", "sample"])
    'use one of sample, where'
    """
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"use one of {', '.join(names)}"


def enumerated(words: Sequence[str]) -> str:
    """Put words into a row, as a sentence has them.

    >>> enumerated(["amc"]), enumerated(["amc", "piqa"]), enumerated(["amc", "piqa", "siqa"])
    ('amc', 'amc and piqa', 'amc, piqa and siqa')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
