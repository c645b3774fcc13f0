"""Which word of an annotator counts, when it has said several things of one attribute."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchprism.annotate.ledger.current import current_annotations
from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger, reply_id
from benchprism.prompts.library import load_catalogue

CORE = load_catalogue("core")
MakeItems = Callable[..., pa.Table]
Said = tuple[str, str, int | None]
"""The request, how it ended, and the level."""
ANN, MODEL = "human:ann", "llm:a"


def entry(second: int, annotator: str, items: pa.Table, said: Said) -> tuple[Reply, list[Verdict]]:
    request, status, level = said
    reply = Reply(
        request_key=request,
        item_id=items["item_id"][0].as_py(),
        content_hash=items["content_hash"][0].as_py(),
        annotator=annotator,
        model="m",
        prompt_hash="p",
        catalogue_hash=CORE.hash,
        status="ok",
        reason="",
        body="",
        usage=Usage(),
        price=None,
        time=f"2026-11-29T10:00:{second:02}.000000+00:00",
        seconds=0.0,
        attempts=1,
    )
    verdict: Any = Verdict("clarity", level, status, "")  # type: ignore[arg-type]
    return reply, [verdict]


def counted(path: Path, items: pa.Table, without: tuple[str, ...] = ()) -> list[Any]:
    with Ledger(path) as ledger:
        found = current_annotations(ledger, CORE, items, without=without)
    clarity = next(one for one in found if one.attribute.id == "clarity")
    return [clarity.values[code] for code in clarity.codes]


@pytest.mark.parametrize(
    ("annotator", "words", "level"),
    [
        # asked again, by another prompt or in parts, a model's last word counts
        (MODEL, [("r1", "ok", 1), ("r2", "ok", 2)], 2),
        (MODEL, [("r1", "ok", 1), ("r2", "abstained", None)], None),
        (MODEL, [("r1", "abstained", None), ("r1", "ok", 3)], 3),
        # a failure is no word, for whatever reason
        (MODEL, [("r1", "ok", 1), ("r1", "refused", None)], 1),
        (MODEL, [("r1", "ok", 1), ("r1", "invalid", None), ("r1", "error", None)], 1),
        (MODEL, [("r1", "ok", 1), ("r1", "abstained", None), ("r1", "truncated", None)], None),
        # a response that is changed, withdrawn, or given again
        (ANN, [("blind", "ok", 1), ("blind", "ok", 0)], 0),
        (ANN, [("blind", "ok", 1), ("blind", "abstained", None)], None),
        (ANN, [("blind", "ok", 1), ("blind", "abstained", None), ("blind", "ok", 2)], 2),
        (ANN, [("blind", "ok", 1), ("blind", "invalid", None)], None),
        # another response of the same person: a draft of it takes nothing back
        (ANN, [("blind", "ok", 1), ("seen", "abstained", None)], 1),
        (ANN, [("blind", "ok", 1), ("seen", "ok", 2)], 2),
        (ANN, [("blind", "ok", 1), ("seen", "ok", 2), ("seen", "abstained", None)], 1),
        ("adjudicator:lead", [("a", "ok", 1), ("b", "abstained", None)], 1),
    ],
)
def test_the_last_word_counts(
    tmp_path: Path,
    make_items: MakeItems,
    annotator: str,
    words: list[Said],
    level: int | None,
) -> None:
    items = make_items(1)
    entries = [entry(second, annotator, items, said) for second, said in enumerate(words)]
    for name, order in (("old first", 1), ("new first", -1)):
        with Ledger(tmp_path / name, write=True) as ledger:
            ledger.remember(CORE)
            ledger.add(entries[::order])
        assert counted(tmp_path / name, items) == ([] if level is None else [level])


def test_replies_can_be_left_out(tmp_path: Path, make_items: MakeItems) -> None:
    items = make_items(1)
    entries = [entry(1, ANN, items, ("blind", "ok", 1)), entry(2, ANN, items, ("seen", "ok", 2))]
    with Ledger(tmp_path / "l", write=True) as ledger:
        ledger.remember(CORE)
        ledger.add(entries)
    assert counted(tmp_path / "l", items, (reply_id(entries[1][0]),)) == [1]
    assert counted(tmp_path / "l", items, (reply_id(entries[0][0]),)) == [2]
