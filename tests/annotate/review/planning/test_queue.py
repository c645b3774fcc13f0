"""What is in doubt about an item, and what is reviewed first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.consolidation.consolidate import consolidate
from benchprism.annotate.consolidation.policy import ConsolidationSettings
from benchprism.annotate.ledger.current import current_annotations
from benchprism.annotate.ledger.outcome import Reply, Status, Usage, Verdict
from benchprism.annotate.ledger.panel import PEOPLE
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.planning.queue import (
    Need,
    asked_items,
    candidates,
    doubts,
    failed_annotations,
    queue,
)
from benchprism.prompts.catalogue import Catalogue


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite", write=True) as opened:
        yield opened


@pytest.fixture
def say(ledger: Ledger, core: Catalogue) -> Callable[..., None]:
    ledger.remember(core)
    second = iter(range(60))

    def add(items: pa.Table, row: int, annotator: str, **said: Any) -> None:
        """Let an annotator give values, or with a text that starts with '!' a status."""
        verdicts = []
        for attribute, value in said.items():
            failed = isinstance(value, str) and value.startswith("!")
            status: Status = value[1:] if failed else "ok"
            verdicts.append(Verdict(attribute, None if failed else value, status, ""))
        reply = Reply(
            request_key=f"{annotator}-{row}", item_id=items["item_id"][row].as_py(),
            content_hash=items["content_hash"][row].as_py(), annotator=annotator, model="m",
            prompt_hash="p", catalogue_hash=core.hash, status="ok", reason="", body="",
            usage=Usage(), price=None, time=f"2026-11-29T10:00:{next(second):02}.000000+00:00",
            seconds=0.0, attempts=1,
        )  # fmt: skip
        ledger.add([(reply, verdicts)])

    return add


def found(ledger: Ledger, core: Catalogue, items: pa.Table, *attributes: str) -> dict[str, Any]:
    columns = [one.without(PEOPLE) for one in current_annotations(ledger, core, items)]
    said = [one for one in columns if not attributes or one.attribute.id in attributes]
    values = consolidate(columns, items, ConsolidationSettings()).values
    failed = failed_annotations(ledger, items)
    made = doubts(items, values, said, failed, below=0.7)
    return {one: {reason: set(a) for reason, a in own.items()} for one, own in made.items()}


def test_failures_count_where_nobody_else_gave_a_value(
    ledger: Ledger, core: Catalogue, make_items: Callable[..., pa.Table], say: Callable[..., None]
) -> None:
    items = make_items(4)
    say(items, 0, "llm:a", clarity="!refused", setting="!filtered")
    say(items, 1, "llm:a", clarity="!refused")
    say(items, 1, "llm:b", clarity=2)
    say(items, 2, "llm:a", clarity="!invalid")
    say(items, 2, "llm:a", clarity=1)  # asked again, it gave one
    say(items, 3, "llm:a", clarity="!abstained")
    say(items, 3, "human:ann", clarity="!invalid")
    assert found(ledger, core, items) == {"bench/test/0": {"failed": {"clarity", "setting"}}}
    assert found(ledger, core, items, "clarity") == {"bench/test/0": {"failed": {"clarity"}}}


def test_a_failure_on_another_text_counts_no_more(
    ledger: Ledger, core: Catalogue, make_items: Callable[..., pa.Table], say: Callable[..., None]
) -> None:
    say(make_items(["before"]), 0, "llm:a", clarity="!refused")
    assert found(ledger, core, make_items(["after"])) == {}


def test_annotators_at_odds_and_low_confidence(
    ledger: Ledger, core: Catalogue, make_items: Callable[..., pa.Table], say: Callable[..., None]
) -> None:
    items = make_items(3)
    for row, levels in enumerate([(0, 2, 2), (1, 1, 1), (0, 1)]):
        for name, level in zip("abc", levels, strict=False):
            say(items, row, f"llm:{name}", clarity=level)
    say(items, 1, "human:ann", clarity=3)  # people are no part of it
    # of three, two agree: 0.67 is below 0.7
    both = {"disagreement": {"clarity"}, "low_confidence": {"clarity"}}
    assert found(ledger, core, items) == {"bench/test/0": both, "bench/test/2": both}
    assert found(ledger, core, items, "setting") == {}


def test_candidates_are_what_the_best_kind_of_annotator_was_asked_about(
    ledger: Ledger, make_items: Callable[..., pa.Table], say: Callable[..., None]
) -> None:
    items = make_items(4)

    def found(part: slice = slice(None)) -> list[str]:
        some = items.take([*range(4)][part])
        ids: list[str] = candidates(some, asked_items(ledger, items))["item_id"].to_pylist()
        return [item_id[-1] for item_id in ids]

    assert found() == ["0", "1", "2", "3"]
    say(items, 1, "human:ann", clarity=1)
    assert (found(), asked_items(ledger, items)) == (["0", "1", "2", "3"], {})
    for row in range(3):
        say(items, row, "embed:minilm", setting="abstract")
    assert found() == ["0", "1", "2"]
    say(items, 2, "llm:a", clarity="!refused")
    assert found() == ["2"]
    assert found(slice(2)) == ["0", "1"]  # of these, rules alone have seen any
    assert asked_items(ledger, items) == {
        "bench/test/0": "heuristic", "bench/test/1": "heuristic", "bench/test/2": "llm",
    }  # fmt: skip


def test_the_order_is_by_subsets_in_doubt_then_subsets_then_reasons_then_attributes() -> None:
    unsure = {"low_confidence": frozenset({"clarity"})}
    needs: dict[str, Any] = {
        "nothing": Need(),
        "one": Need(unsure),  # type: ignore[arg-type]
        "two attributes": Need({"low_confidence": frozenset({"clarity", "setting"})}),
        "two reasons": Need({**unsure, "disagreement": frozenset({"clarity"})}),  # type: ignore[dict-item]
        "subset": Need(decided={"s": frozenset({"depth"})}),
        "subset in doubt": Need(unsure, {"s": frozenset({"clarity"})}),  # type: ignore[arg-type]
        "two subsets": Need(decided={"s": frozenset({"x"}), "t": frozenset({"x"})}),
    }
    expected = ["subset in doubt", "two subsets", "subset", "two reasons", "two attributes", "one",
                "nothing"]  # fmt: skip
    assert queue(needs, seed=0) == expected
    assert needs["subset in doubt"].reasons == ("consequence", "low_confidence")
    assert needs["two reasons"].reasons == ("disagreement", "low_confidence")
    same = {f"item {n}": Need() for n in range(30)}
    assert queue(same, 0) == queue(dict(reversed(same.items())), 0) != queue(same, 1)
    assert queue(same, 0) != sorted(same)
