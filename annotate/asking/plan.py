"""What an annotator asks about items: which prompts, in which order, how many items a call."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Catalogue
from ...prompts.messages import Prompt, make_prompt
from ...prompts.templates import Wording
from ...records.items.record import Item, ItemKind
from ..ledger.outcome import Status
from ..ledger.store import Ledger
from ..traffic.endpoint import EndpointSettings
from .pending import Call, Known, Request, calls, missing_requests, request_key

Ask = Literal["all", "dimension"]

_KINDS: tuple[ItemKind, ...] = ("multiple_choice", "generative")


@dataclass(frozen=True, slots=True)
class Asking:
    """How much one call asks."""

    ask: Ask = "all"
    """``all`` attributes of an item at once, or one ``dimension`` after the other."""
    items_per_call: int = 1
    """Items that share a call."""


class Plan:
    """The requests and calls of one annotator under one catalogue."""

    def __init__(
        self,
        annotator: str,
        settings: EndpointSettings,
        catalogue: Catalogue,
        asking: Asking,
        wording: Wording | None = None,
    ) -> None:
        self.asking = asking
        self._annotator = annotator
        self._settings = settings
        parts = [""] if asking.ask == "all" else [d.id for d in catalogue.dimensions]
        self._parts = [_prompts(catalogue, part, asking, wording) for part in parts]

    @property
    def prompts(self) -> list[Prompt]:
        """Every prompt that is used; what is asked first comes first."""
        return [prompt for prompts in self._parts for prompt in prompts.values()]

    def count(self, items: pa.Table) -> int:
        """How many requests there are about these items, made or not."""
        return sum(_askable(items, prompts).num_rows for prompts in self._parts)

    def requests(
        self,
        items: pa.Table,
        ledgers: Sequence[Ledger],
        *,
        retry: Collection[Status] = (),
        known: Known = lambda _: None,
    ) -> Iterator[Request]:
        """Yield the requests that no ledger has, one part of the catalogue after the other.

        Args:
            items: A table with ``ITEM_SCHEMA``.
            ledgers: What was asked before.
            retry: How a request must have ended to be made again.
            known: Called for each request that is left out.
        """
        for prompts in self._parts:
            yield from self._requests(prompts, items, ledgers, retry, known)

    def calls(
        self,
        items: pa.Table,
        ledgers: Sequence[Ledger],
        *,
        retry: Collection[Status] = (),
        known: Known = lambda _: None,
    ) -> Iterator[Call]:
        """Yield the calls that make the missing requests; those with the same prefix in a row."""
        for prompts in self._parts:
            missing = self._requests(prompts, items, ledgers, retry, known)
            yield from calls(missing, self.asking.items_per_call)

    def _requests(
        self,
        prompts: dict[ItemKind, Prompt],
        items: pa.Table,
        ledgers: Sequence[Ledger],
        retry: Collection[Status],
        known: Known,
    ) -> Iterator[Request]:
        def request(item: Item) -> Request:
            prompt = prompts[item.kind]
            return Request(item, prompt, request_key(item, self._annotator, prompt, self._settings))

        askable = _askable(items, prompts)
        return missing_requests(askable, ledgers, request, retry=retry, known=known)


def _prompts(
    catalogue: Catalogue, part: str, asking: Asking, wording: Wording | None
) -> dict[ItemKind, Prompt]:
    several = asking.items_per_call > 1
    made = {
        kind: make_prompt(catalogue, kind, part=part, several=several, wording=wording)
        for kind in _KINDS
    }
    return {kind: prompt for kind, prompt in made.items() if prompt.attributes}


def _askable(items: pa.Table, prompts: dict[ItemKind, Prompt]) -> pa.Table:
    """The items of a kind that something is asked about."""
    asked = pc.is_in(items["kind"], value_set=pa.array([*prompts], pa.string()))
    return items if pc.all(asked).as_py() else items.filter(asked)  # a filtered table is a copy
