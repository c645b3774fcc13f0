"""Abilities in what items demand, as ``benchprism score --demand`` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchprism.cli.output import counted, print_table, say
from benchprism.cli.score_card import number
from benchprism.cli.score_compare import p_value

if TYPE_CHECKING:
    from benchprism.metrics.scorecard import ScoreSettings
    from benchprism.scoring.demanded import DemandedAbilities

_REACH = 1.96


def plain(found: DemandedAbilities, settings: ScoreSettings) -> dict[str, Any]:
    """The abilities as JSON."""
    fit = found.abilities
    return {
        "items": found.items,
        "items_without_a_value": found.without,
        "dimensions": [
            {
                "dimension": name,
                "harder_by": float(fit.demand[place]),
                "harder_by_interval": _interval(fit.demand[place], fit.demand_error[place]),
                "spread_of_models": float(fit.deviations[place]),
            }
            for place, name in enumerate(found.dimensions)
        ],
        "attributes": [
            {
                "attribute": attribute,
                "items": own.items,
                "explained": own.share,
                "explained_interval": [own.interval.low, own.interval.high]
                if own.interval.defined
                else None,
                "p": own.p_value,
                "reason": own.reason or None,
            }
            for attribute, own in zip(found.attributes, found.explained, strict=True)
        ],
        "explained_by_all": fit.explained,
        "residual_deviation": fit.residual,
        "models": [
            {
                "model": model,
                "abilities": {
                    name: {
                        "ability": float(fit.ability[row, place]),
                        "interval": _interval(fit.ability[row, place], fit.error[row, place]),
                    }
                    for place, name in enumerate(found.dimensions)
                },
            }
            for row, model in enumerate(found.models)
        ],
        "fit": {
            "iterations": fit.iterations,
            "converged": fit.converged,
            "log_likelihood": fit.log_likelihood,
        },
        "settings": {"level": 0.95, "replicates": settings.replicates, "seed": settings.seed},
    }


def _interval(value: float, error: float) -> list[float]:
    return [float(value - _REACH * error), float(value + _REACH * error)]


def show(found: DemandedAbilities) -> None:
    """Print abilities and explained difficulty for people, the ablest model first."""
    fit = found.abilities
    rows = []
    for row in np.argsort(-np.nan_to_num(fit.ability[:, 0], nan=-99), kind="stable").tolist():
        cells = [
            f"{value:+.2f} ± {_REACH * error:.2f}"
            for value, error in zip(fit.ability[row], fit.error[row], strict=True)
        ]
        rows.append([found.models[row], *cells])
    print_table(["model", *found.dimensions], rows, title="Abilities, in logits, with 95% interval")
    explained = []
    for attribute, own in zip(found.attributes, found.explained, strict=True):
        cell = number(own.share)
        if own.interval.defined:
            cell += f" [{own.interval.low:.2f}, {own.interval.high:.2f}]"
        explained.append([attribute, own.items, cell, p_value(own.p_value)])
    columns = ["attribute", "items", "share of difficulty explained", "p"]
    print_table(columns, explained, title="What makes items hard")
    say(
        "general: ability on items that demand nothing of the attributes; the others: what a model "
        "adds to it on items that demand the attribute wholly"
    )
    for attribute, own in zip(found.attributes, found.explained, strict=True):
        if own.reason:
            say(f"{attribute}: share undefined because {own.reason}")
    say(f"all attributes together explain {fit.explained:.0%} of the difficulty")
    if found.without:
        say(f"{counted(found.without, 'item')} without a value of every attribute left out")
    if not fit.converged:
        say(f"warning: the fit has not settled after {fit.iterations} steps")
