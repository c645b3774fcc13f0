"""Voices: the values that one annotator alone would give, or one version of a prompt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from benchprism.annotate.consolidation.consolidate import consolidate
from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.annotate.ledger.current import Current, current_annotations
from benchprism.annotate.ledger.panel import kind_of, rater_of
from benchprism.annotate.ledger.store import Ledger
from benchprism.prompts.catalogue import Catalogue

_REPLIES = "SELECT reply_id, item_id, content_hash, annotator, prompt_hash, part FROM reply"


@dataclass(frozen=True, slots=True, eq=False)
class Voice:
    """Values of one voice."""

    change: str
    values: Callable[[], pa.Table]
    """Makes them, as ``annotate.consolidate`` does."""


def single_annotators(
    ledger: Path,
    catalogue: Catalogue,
    items: pa.Table,
    settings: ConsolidationSettings,
    attributes: Collection[str],
) -> Iterator[Voice]:
    """The values that each annotator alone gives, people included.

    Several passes of one annotator are settled among themselves; however many annotators the
    project asks for, one is enough here.

    Args:
        ledger: the ledger's path.
        catalogue: the criteria of today.
        items: a table with ``ITEM_SCHEMA``.
        settings: how ties are broken.
        attributes: ids of attributes; annotators who gave no value of them are left out. With a
            single one left, there is nothing to compare.
    """
    with Ledger(ledger) as opened:
        said = current_annotations(opened, catalogue, items)
    raters = sorted({rater for one in said if one.attribute.id in attributes for rater in _of(one)})
    if len(raters) < 2:
        return
    alone = ConsolidationSettings(
        level=settings.level.for_others,
        label=settings.label.for_others,
        labels=settings.labels.for_others,
        boolean=settings.boolean.for_others,
    )
    for rater in raters:
        yield Voice(f"{rater} alone", partial(_alone, said, rater, items, alone))


def _alone(
    said: Sequence[Current], rater: str, items: pa.Table, settings: ConsolidationSettings
) -> pa.Table:
    return consolidate([_only(one, rater) for one in said], items, settings).values


def _of(said: Current) -> Iterator[str]:
    """Who gives values, apart from what is computed."""
    for place in np.unique(said.annotators):
        if kind_of(said.names[place]) != "computed":
            yield rater_of(said.names[place])


def _only(said: Current, rater: str) -> Current:
    own = np.array([*(rater_of(name) == rater for name in said.names), True])
    return said.where(own[said.annotators])


def prompt_versions(
    ledger: Path, catalogue: Catalogue, items: pa.Table, settings: ConsolidationSettings
) -> Iterator[Voice]:
    """The values under each version of a prompt, the replies to its other versions left out.

    Items of each kind, and each part of the criteria, have a prompt of their own: versions are
    those of one of these, where there are several. What people say stays.

    Args:
        ledger: the ledger's path.
        catalogue: the criteria of today.
        items: a table with ``ITEM_SCHEMA``.
        settings: how one value is made of several.
    """
    versions = _versions(ledger, items)
    for (kind, part), replies in sorted(versions.items()):
        for version in sorted(replies) if len(replies) > 1 else ():
            others: set[str] = set().union(*(replies[one] for one in replies if one != version))
            values = partial(_without, ledger, catalogue, items, settings, others)
            of = f"{kind}, {part}" if part else kind
            yield Voice(f"prompt {version} ({of})", values)


def _without(
    ledger: Path,
    catalogue: Catalogue,
    items: pa.Table,
    settings: ConsolidationSettings,
    replies: Collection[str],
) -> pa.Table:
    """The values when some replies are left out."""
    with Ledger(ledger) as opened:
        said = current_annotations(opened, catalogue, items, without=replies)
    return consolidate(said, items, settings).values


def _versions(ledger: Path, items: pa.Table) -> dict[tuple[str, str], dict[str, set[str]]]:
    """Replies of language models by version of the prompt, by kind of the item and part."""
    columns = [items[name].to_pylist() for name in ("item_id", "content_hash", "kind")]
    kinds = {(item, content): kind for item, content, kind in zip(*columns, strict=True)}
    found: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    with Ledger(ledger) as opened:
        rows = cast(Iterator[tuple[str, str, str, str, str, str]], opened.query(_REPLIES))
        for reply, item, content, annotator, version, part in rows:
            kind = kinds.get((item, content))
            if kind is not None and kind_of(annotator) == "llm":
                found[kind, part][version].add(reply)
    return found
