"""What tokens cost: a line of the project's price table, and the price of one reply."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import Field

from ...records.documents import StrictModel
from ..ledger.outcome import Usage

_MILLION = 1_000_000


class Price(StrictModel):
    """What a model's tokens cost, in any one currency, for a million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """Tokens of the request."""
    cached_input: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Those of them that the endpoint had in its prefix cache; as ``input`` when not given."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """Tokens of the reply, hidden reasoning included."""
    batch: float = Field(default=1.0, gt=0, le=1)
    """What a batch costs, as a share of the price; 0.5 for half of it."""

    def of(self, usage: Usage, *, batch: bool = False) -> float | None:
        """The price of one reply; none when the endpoint did not count its tokens.

        >>> price = Price(input=2.0, cached_input=0.5, output=8.0)
        >>> price.of(Usage(1_000_000, 400_000, 500_000))
        5.4
        """
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        return self.of_tokens(
            usage.prompt_tokens - cached, cached, usage.completion_tokens, batch=batch
        )

    def of_tokens(
        self, fresh: float, cached: float, completion: float, *, batch: bool = False
    ) -> float:
        """The price of tokens: of requests, of their cached part, of replies."""
        cached_input = self.input if self.cached_input is None else self.cached_input
        full = fresh * self.input + cached * cached_input + completion * self.output
        return full / _MILLION * (self.batch if batch else 1.0)


@dataclass(frozen=True, slots=True)
class Rate:
    """A price, and how large a request of the model can be at the most."""

    price: Price
    characters: int
    """Of the request."""
    completion_tokens: int
    """Of the reply."""

    def most(self, usage: Usage) -> float:
        """The price of a reply; the most that it can have been where tokens were not counted.

        No token is shorter than a byte, and a character has four bytes at the most.
        """
        known = self.price.of(usage)
        if known is not None:
            return known
        return self.price.of_tokens(4 * self.characters, 0, self.completion_tokens)


def money(amount: float) -> str:
    """Write what was spent: with four places, or with more where it is small.

    >>> money(6.5), money(0.0887), money(0.0000234), money(0.0)
    ('6.5000', '0.0887', '0.000023', '0.0000')
    """
    places = 1 - math.floor(math.log10(amount)) if 0 < amount < 1 else 0
    return f"{amount:.{max(4, places)}f}"


def limit(amount: float) -> str:
    """Write an amount that somebody set: with two places, or with all that it has.

    >>> limit(20), limit(0.005), limit(0.05 / 7), limit(0.0000001)
    ('20.00', '0.005', '0.0071', '0.00000010')
    """
    exact = (places for places in range(2, 7) if round(amount, places) == amount)
    places = next(exact, None)
    return money(amount) if places is None else f"{amount:.{places}f}"
