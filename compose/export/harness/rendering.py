"""What libraries made of exported items, compared with the items themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....records.items.record import Item
from .benchmark_items import label, left_out
from .probe import digest

_EXAMPLES = 5
_WITHOUT_KEY = "instructions"
"""The rule whose replies are judged by what they look like."""
_FULL = {"eqbench": 100.0}
"""What a right answer scores, where that is not 1."""

Row = Mapping[str, Any]
Parts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Counts:
    """Items of one benchmark."""

    items: int
    """In the folder, without those that the rule cannot judge."""
    left_out: int
    """That the rule cannot judge: they have no key, for example."""
    rendered: int
    """Whose texts came out as they are in the subset."""
    keyed: int | None
    """Whose key is the subset's; none where the rule has no keys."""
    right: int | None
    """Scored as right when a model answers with the key; none where there is none or no score."""
    joined: int | None
    """Whose result was read back from the library's log; none where there is no log."""

    @property
    def holds(self) -> bool:
        """Whether all figures are those of all items."""
        wanted = (self.rendered, self.keyed, self.right, self.joined)
        return all(count in {None, self.items} for count in wanted)


@dataclass(slots=True)
class Checked:
    """What was found of each item."""

    benchmarks: Mapping[str, str]
    """Of the items that have to come out."""
    left: Sequence[str] = ()
    """The benchmark of each item that is left out."""
    rendered: set[str] = field(default_factory=set)
    keyed: set[str] = field(default_factory=set)
    right: set[str] | None = None
    without_key: set[str] = field(default_factory=set)
    """Benchmarks whose rule has no keys."""
    joined: Mapping[str, int] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)

    def counts(self, *, logs: bool) -> dict[str, Counts]:
        """Count by benchmark; ``logs`` tells whether results had to come back."""
        return {name: self._counts(name, logs=logs) for name in self._names()}

    def _names(self) -> list[str]:
        return sorted({*self.benchmarks.values(), *self.left})

    def _counts(self, name: str, *, logs: bool) -> Counts:
        own = {item_id for item_id, benchmark in self.benchmarks.items() if benchmark == name}
        return Counts(
            items=len(own),
            left_out=sum(benchmark == name for benchmark in self.left),
            rendered=len(own & self.rendered),
            keyed=None if name in self.without_key else len(own & self.keyed),
            right=None if self.right is None or name in self.without_key else len(own & self.right),
            joined=self.joined.get(name, 0) if logs else None,
        )

    def differ(self, text: str) -> None:
        """Note a difference; the first few are kept."""
        if len(self.differences) < _EXAMPLES:
            self.differences.append(text)


def check_dataset(
    rows: Iterable[Row], exported: Sequence[Row], known: Mapping[str, Item]
) -> Checked:
    """Compare the rows that ``datasets`` loads with the file's, and these with the items."""
    check = Checked({row["item_id"]: row["benchmark"] for row in exported})
    loaded = {row["item_id"]: row["text"] for row in rows}
    for row in exported:
        item_id = row["item_id"]
        item = known.get(item_id)
        if item is None or not _is_copy(row, item):
            check.differ(f"{item_id}: the file's texts are not the subset's")
        elif loaded.get(item_id) != digest(row):
            check.differ(f"{item_id}: loaded with other values than the file's")
        else:
            check.rendered.add(item_id)
        if item is not None and (row["answer_index"], row["answer_text"]) == (
            item.answer_index,
            item.answer_text,
        ):
            check.keyed.add(item_id)
    return check


def _is_copy(row: Row, item: Item) -> bool:
    lists = tuple(row["choices"] or ()), tuple(row["accepted_answers"] or ())
    texts = row["question"], row["context"], row["content_hash"]
    return (*texts, *lists) == (
        item.question, item.context, item.content_hash, item.choices, item.accepted_answers,
    )  # fmt: skip


def check_samples(
    rows: Iterable[Row], exported: Sequence[Row], known: Mapping[str, Item], parts: Parts | None
) -> Checked:
    """Compare what a harness asked, keyed and scored with the items.

    Args:
        rows: what the probe saw, one for each item and filter.
        exported: the rows of the folder.
        known: the subset's items.
        parts: the tasks' rules; none for ``eval.yaml``, which has none and takes all rows.
    """
    wanted, left = _wanted(exported, parts)
    check = Checked(wanted, left, right=None if parts is None else set())
    rules = (parts or {}).values()
    check.without_key |= {p["benchmark"] for p in rules if p["scoring"] == _WITHOUT_KEY}
    by_item: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_item[row["item_id"]].append(row)
    for item_id in by_item.keys() - wanted.keys():
        check.differ(f"{item_id}: asked, although it is not of the folder or has no key")
    for item_id in wanted:
        if item_id not in by_item or item_id not in known:
            check.differ(f"{item_id}: not asked")
            continue
        for name, found in _findings(by_item[item_id], known[item_id], parts):
            if found is None:
                {"rendered": check.rendered, "keyed": check.keyed}.get(
                    name, check.right if check.right is not None else set()
                ).add(item_id)
            else:
                check.differ(f"{item_id}: {found}")
    return check


def _wanted(exported: Sequence[Row], parts: Parts | None) -> tuple[dict[str, str], list[str]]:
    wanted, left = {}, []
    for row in exported:
        part = _part_of(row, parts) if parts is not None else {}
        if parts is not None and (part is None or left_out(row, part) is not None):
            left.append(row["benchmark"])
        else:
            wanted[row["item_id"]] = row["benchmark"]
    return wanted, left


def _part_of(row: Row, parts: Parts) -> Mapping[str, Any] | None:
    place = row["benchmark"], row["kind"]
    return next((p for p in parts.values() if (p["benchmark"], p["kind"]) == place), None)


def _findings(
    rows: Sequence[Row], item: Item, parts: Parts | None
) -> Iterator[tuple[str, str | None]]:
    """What was looked at, and what is wrong with it, if anything."""
    part = parts[rows[0]["part"]] if parts is not None else None
    asked = all(_shows(row, item, part) for row in rows)
    yield "rendered", None if asked else "asked with other texts than the subset's"
    if part is not None and part["scoring"] == _WITHOUT_KEY:
        return
    keys = [row["key"] for row in rows if not _is_key(row["key"], item)]
    yield "keyed", f"the key {keys[0]!r}" if keys else None
    if part is not None:
        full = _FULL.get(part["metric"], 1.0) if "asked" in rows[0] else 1.0
        scores = [row["score"] for row in rows if row["score"] not in {full, 1.0}]
        yield "right", f"the key scores {scores[0]}" if scores else None


def _is_key(key: Any, item: Item) -> bool:
    """Tell whether a key is the item's: a place, a letter, or the accepted answers."""
    if isinstance(key, int):
        return key == item.answer_index
    keys = [key] if isinstance(key, str) else list(key)
    if item.answer_index is not None:
        return keys == [label(item.answer_index)]
    return bool(keys) and keys[0] == item.answer_text and {*keys[1:]} <= {*item.accepted_answers}


def _shows(row: Row, item: Item, part: Mapping[str, Any] | None) -> bool:
    """Tell whether the question, the context and every choice were asked, byte for byte."""
    if isinstance(row["asked"], str):
        listed = row.get("choices")
        texts = [item.question.strip(), item.context]
        texts += [] if listed is not None or part is None else item.choices
        same = listed is None or tuple(listed) == item.choices
        return same and all(text in row["asked"] for text in texts)
    return part is not None and _likelihoods_of(row["asked"], item, part)


def _likelihoods_of(asked: Sequence[Sequence[str]], item: Item, part: Mapping[str, Any]) -> bool:
    """Tell whether pairs of a prompt and what the likelihood is taken of are the item's."""
    beginning, prompts, endings = item.question.strip(), *zip(*asked, strict=True)
    if part["scoring"] == "blank":
        before, _, after = item.question.partition("_")
        return endings == (f" {after.strip()}",) * len(prompts) and prompts == tuple(
            before + choice for choice in item.choices
        )
    if part["cleaned"]:
        return len(asked) == len(item.choices)
    if part["scoring"] == "letters":
        texts = [beginning, item.context, *item.choices]
        expected = tuple(f" {label(place)}" for place in range(len(item.choices)))
    else:
        texts = [beginning, item.context]
        expected = tuple(f" {choice}" for choice in item.choices)
    return endings == expected and all(text in prompts[0] for text in texts)
