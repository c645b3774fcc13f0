"""What an annotation will take, and the question whether it may cost that."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from benchprism.cli.output import print_json, print_table, say
from benchprism.records.errors import ConfirmationNeeded

if TYPE_CHECKING:
    from benchprism.annotate.asking.plan import Asking
    from benchprism.annotate.money.estimate import Estimate, Estimates

_ITEMS_PER_CALL = (1, 5, 10)


def other_askings(chosen: Asking) -> list[Asking]:
    """Ways to ask that are shown beside the one that is set."""
    from benchprism.annotate.asking.plan import Asking

    ways = [Asking(ask, items) for ask in ("all", "dimension") for items in _ITEMS_PER_CALL]
    return [way for way in ways if way != chosen]


def print_estimates(found: Sequence[tuple[str, Estimates]], *, json: bool) -> None:
    """Print what each annotator takes, as it is set and as it could be."""
    if json:
        print_json([_data(name, estimates) for name, estimates in found])
        return
    rows = [
        _row(name, estimate, chosen=estimate is estimates.chosen)
        for name, estimates in found
        for estimate in (estimates.chosen, *estimates.others)
        if estimate.requests
    ]
    if rows:
        print_table(
            ["annotator", "ask", "items a call", "items", "calls", "prompt tokens",
             "of it shared", "completion tokens", "price"],
            rows,
            title="What is missing, and what it takes (* as it is set)",
        )  # fmt: skip
    for name, estimates in found:
        _say_how_sure(name, estimates)


def confirm(found: Sequence[tuple[str, Estimates]], above: float, *, yes: bool) -> None:
    """Ask before something expensive; without a terminal only ``--yes`` is an answer.

    Raises:
        ConfirmationNeeded: nobody could be asked, or the answer was no.
    """
    from benchprism.annotate.money.prices import limit

    prices = [one.chosen.price for _, one in found if one.chosen.price is not None]
    low, high = (sum(price[end] for price in prices) for end in (0, 1))
    if high <= above:
        return
    say(f"This costs between {_money(low)} and {_money(high)}, by the prices in benchprism.yaml.")
    if yes:
        return
    if sys.stdin.isatty() and typer.confirm("Go on?", err=True):
        return
    raise ConfirmationNeeded(
        f"an annotation that may cost {_money(high)}",
        wanted=f"a yes, above the {limit(above)} of 'confirm_above' in benchprism.yaml",
        mend="see --dry-run, then pass --yes; --budget caps what is spent",
    )


def _row(name: str, estimate: Estimate, *, chosen: bool) -> tuple[object, ...]:
    asking = estimate.asking
    return (
        f"{name}{' *' if chosen else ''}",
        asking.ask,
        asking.items_per_call,
        estimate.items,
        estimate.calls,
        estimate.prompt_tokens,
        estimate.shared_tokens,
        estimate.completion_tokens,
        "" if estimate.price is None else "–".join(map(_money, estimate.price)),
    )


def _money(price: float) -> str:
    from benchprism.annotate.money.prices import money

    return f"{price:.2f}" if price >= 0.1 else money(price)


def _data(name: str, estimates: Estimates) -> dict[str, Any]:
    return {
        "annotator": name,
        "calibration": asdict(estimates.calibration),
        "chosen": asdict(estimates.chosen),
        "others": [asdict(estimate) for estimate in estimates.others],
    }


def _say_how_sure(name: str, estimates: Estimates) -> None:
    chosen, calibration = estimates.chosen, estimates.calibration
    if not chosen.requests:
        say(f"{name}: nothing is missing.")
        return
    counted = (
        f"counted, and corrected by {calibration.replies} replies of the model in the ledger"
        if calibration.replies
        else "counted without the model's vocabulary (the ledger has no replies to correct by)"
    )
    say(f"{name}: tokens are {counted}.")
    if chosen.price is None:
        say(f"{name}: no price; add the model to 'prices' in benchprism.yaml.")
    if chosen.too_long:
        say(f"{name}: {chosen.too_long} requests are too long and will not be sent.")
