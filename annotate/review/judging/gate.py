"""The gate: whether an attribute agrees with people well enough to decide over items.

An attribute is ``usable`` as a hard criterion when alpha between people and its values reaches a
threshold, and the lower end of its interval another one. It is ``not usable`` when the whole
interval lies below the threshold. Between the two, where alpha is undefined, or where the items
were not drawn at random, there is not enough evidence.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ....metrics.raters.agreement import Agreement
from ....prompts.catalogue import Attribute, Catalogue
from ....records.errors import InputError
from ..settings import GateSettings

Verdict = Literal["usable", "not usable", "not enough evidence"]
CALIBRATION = "calibration.json"
FORMAT = 1


class Judgement(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """What the gate says of one attribute."""

    attribute: str
    verdict: Verdict
    sentence: str
    """The verdict with what it rests on, such as ``clarity: alpha 0.38 [0.21, 0.52], not usable as
    a hard criterion``."""
    alpha: float | None
    """None when it is undefined."""
    interval: tuple[float, float] | None
    items: int
    meaning: str
    """Identifies what the attribute meant."""
    annotators: tuple[str, ...] = ()
    """Whose values were judged (``signature``)."""
    reason: str = ""
    """Why alpha or its interval is undefined, or proves nothing."""


Gate = Mapping[str, Judgement]
"""The judgements by attribute; what is not there has not been calibrated."""


def signature(annotator: Mapping[str, Any]) -> str:
    """Identify an annotator by its name, model and prompt.

    >>> signature({"annotator": "llm:main", "model": "m", "prompt_hash": "p"})
    'llm:main (m, prompt p)'
    """
    return "{annotator} ({model}, prompt {prompt_hash})".format(**annotator)


def judge(
    attribute: Attribute,
    alpha: Agreement,
    settings: GateSettings,
    annotators: Collection[str] = (),
    *,
    drawn: bool = True,
) -> Judgement:
    """Judge an attribute by its agreement with people.

    Args:
        attribute: The attribute.
        alpha: Between people and its values.
        settings: What it has to reach.
        annotators: Whose values they are, by ``signature``.
        drawn: Whether the items are a random sample.
    """
    low, high = alpha.interval
    enough = drawn and alpha.pairable >= settings.min_items and not math.isnan(low)
    reason = alpha.reason if alpha.reason and alpha.pairable else ""
    if not drawn:
        reason = "not drawn at random by a plan"
    verdict: Verdict = "not enough evidence"
    if enough and alpha.estimate >= settings.alpha and low >= settings.alpha_low:
        verdict = "usable"
    elif enough and high < settings.alpha:
        verdict = "not usable"
    return Judgement(
        attribute=attribute.id,
        verdict=verdict,
        sentence=f"{attribute.id}: {_found(alpha)}, {_in_words(verdict, alpha.pairable, reason)}",
        alpha=None if math.isnan(alpha.estimate) else alpha.estimate,
        interval=None if math.isnan(low) else (low, high),
        items=alpha.pairable,
        meaning=meaning(attribute),
        annotators=tuple(sorted(annotators)),
        reason=reason,
    )


def _found(alpha: Agreement) -> str:
    if math.isnan(alpha.estimate):
        return "no alpha"
    low, high = alpha.interval
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"alpha {alpha.estimate:.2f}{interval}"


def _in_words(verdict: Verdict, number: int, reason: str) -> str:
    if verdict != "not enough evidence":
        return f"{verdict} as a hard criterion"
    items = f"{number} item{'' if number == 1 else 's'}"
    return f"{verdict} for a hard criterion ({', '.join(filter(None, [items, reason]))})"


def meaning(attribute: Attribute) -> str:
    """Identify what an attribute means, however it is arranged for people: 16 digits."""
    content = attribute.model_dump(by_alias=True, exclude={"title", "aspect"})
    text = json.dumps(content, ensure_ascii=False, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def read_gate(path: Path, catalogue: Catalogue) -> Gate | None:
    """Read the judgements of the last calibration, of attributes that still mean the same.

    Args:
        path: The calibration's file.
        catalogue: The criteria of today.

    Returns:
        The judgements; none when nothing has been calibrated.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["format"] != FORMAT:
            raise ValueError(f"the format {data['format']!r}")
        judgements = [Judgement.model_validate(entry) for entry in data["gate"]]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, ValidationError) as error:
        raise InputError(
            f"{path} cannot be read ({type(error).__name__})",
            wanted=f"a calibration of the format {FORMAT}",
            mend="run 'benchprism review calibrate' again",
        ) from error
    today = {attribute.id: meaning(attribute) for attribute in catalogue}
    return {one.attribute: one for one in judgements if today.get(one.attribute) == one.meaning}


def worst_first(judgements: Iterable[Judgement]) -> tuple[Judgement, ...]:
    """Put what is not usable first, then what there is not enough evidence for."""
    order: list[Verdict] = ["not usable", "not enough evidence", "usable"]
    return tuple(sorted(judgements, key=lambda one: order.index(one.verdict)))


def gate_data(judgements: Mapping[str, Judgement]) -> dict[str, Any]:
    """Write judgements as ``read_gate`` reads them: keys of the calibration's file."""
    return {"format": FORMAT, "gate": [one.model_dump() for one in judgements.values()]}
