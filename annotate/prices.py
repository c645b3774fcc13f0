"""What tokens cost: a line of the project's price table, and the price of one reply."""

from __future__ import annotations

from pydantic import Field

from ..records.documents import StrictModel
from .outcome import Usage

_MILLION = 1_000_000


class Price(StrictModel):
    """What a model's tokens cost, in any one currency, for a million tokens."""

    input: float = Field(ge=0)
    """Tokens of the request."""
    cached_input: float | None = Field(default=None, ge=0)
    """Those of them that the endpoint had in its prefix cache; as ``input`` when not given."""
    output: float = Field(ge=0)
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
