"""Shares of items, and how far a sample of items fixes them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of items with its interval."""

    share: float
    low: float
    high: float


def wilson_interval(count: int, total: int, *, level: float = 0.95) -> Proportion:
    r"""Share of a whole, with the interval of Wilson's score test.

    Tells how well ``total`` sampled items fix the share of all items that have a property.

    Formula: ``(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`` with ``p = count/n``,
    ``n = total`` and ``z`` the normal quantile of ``level``.

    Args:
        count: items that have the property, 0 to ``total``.
        total: items looked at.
        level: confidence level, between 0 and 1.

    Returns:
        Share and interval, all in [0, 1]; the interval contains the share and has a width above 0
        even at ``count`` 0 or ``total``. NaN in all three when ``total`` is 0: no item was looked
        at.

    Raises:
        ValueError: ``count`` is not between 0 and ``total``.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
    JASA 22 (1927), 209-212.

    >>> p = wilson_interval(5, 20)
    >>> f"{p.share:.3f} {p.low:.3f} {p.high:.3f}"
    '0.250 0.112 0.469'
    """
    if not 0 <= count <= total:
        raise ValueError(f"count {count!r} is not between 0 and total {total!r}")
    if total == 0:
        return Proportion(math.nan, math.nan, math.nan)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = count / total
    centre = share + z * z / (2 * total)
    reach = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low = 0.0 if count == 0 else (centre - reach) / scale
    high = 1.0 if count == total else (centre + reach) / scale
    return Proportion(share, low, high)
