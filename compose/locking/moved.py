"""What has moved between two locks, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...metrics.reasons import named


def moved(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say what differs between two locks, causes before what follows from them.

    Args:
        then: the lock that was written.
        now: the lock of today.
    """
    found = [*causes(then, now), *_items(then["items"], now["items"])]
    if not found and then != now:
        parts = [key for key in now if then.get(key) != now[key]]
        found = [f"{', '.join(parts)}: other content"]
    return found


def causes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say what differs of what two compositions rest on, but for their items."""
    if then.get("format") != now["format"]:
        yield f"the lock's format was {then.get('format')!r} and is {now['format']!r}"
        return
    yield from _single(then, now, "benchprism", "benchprism")
    yield from _keys(then["criteria"], now["criteria"], "the criteria's")
    yield from _catalogue(then["catalogue"], now["catalogue"])
    yield from _annotators(then["annotators"], now["annotators"])
    yield from _keys(then["compositions"], now["compositions"], "the earlier composition")
    yield from _sources(then["sources"], now["sources"])
    yield from _keys(then["values"], now["values"], "values of")
    yield from _results(then["results"] or {}, now["results"] or {})
    yield from _keys(then.get("calibration", {}), now["calibration"], "the calibration of")
    yield from _selection(then["selection"] or {}, now["selection"] or {})


def _single(then: Mapping[str, Any], now: Mapping[str, Any], key: str, what: str) -> Iterator[str]:
    if then.get(key) != now.get(key):
        yield f"{what} was {then.get(key)} and is {now.get(key)}"


def _changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Keys that have another value, or are in one lock only."""
    return [key for key in sorted({*then, *now}) if then.get(key) != now.get(key)]


def _keys(then: Mapping[str, Any], now: Mapping[str, Any], what: str) -> Iterator[str]:
    changed = _changed(then, now)
    if changed:
        yield f"{what} {named(changed)} changed"


def _catalogue(then: Mapping[str, Any] | None, now: Mapping[str, Any] | None) -> Iterator[str]:
    if then != now:
        was, is_ = (
            f"{c['name']} {c['version']} ({c['hash']})" if c else "none" for c in (then, now)
        )
        yield f"the catalogue was {was} and is {is_}"


def _annotators(then: list[dict[str, Any]], now: list[dict[str, Any]]) -> Iterator[str]:
    for was, is_, verb in ((then, now, "no longer gives"), (now, then, "now gives")):
        for entry in was:
            if entry not in is_:
                prompt = entry.get("prompt_hash")
                yield f"{entry.get('annotator')} (prompt {prompt}) {verb} values of chosen items"


def _sources(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*then, *now}):
        was, is_ = then.get(name), now.get(name)
        if was is None or is_ is None:
            yield f"{name} is {'a new source' if was is None else 'no longer a source'}"
            continue
        for key in _changed(was, is_):
            if key not in {"available", "chosen", "revisions"}:
                yield f"{name}: {key} was {was.get(key)!r} and is {is_.get(key)!r}"
        if was["available"] != is_["available"]:
            yield f"{name} had {was['available']} candidates and has {is_['available']}"


def _results(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    yield from _keys(then.get("models", {}), now.get("models", {}), "what is known of the models")
    yield from _keys(then.get("scores", {}), now.get("scores", {}), "scores on")


def _selection(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    was, is_ = ([*s.get("held_in", {})] for s in (then, now))
    if was != is_:
        yield f"the held-in families were {named(was) or 'none'} and are {named(is_) or 'none'}"
    yield from _single(then, now, "share", "the selected share")


def _items(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    out, in_ = [i for i in then if i not in now], [i for i in now if i not in then]
    other = [item for item in now if item in then and then[item] != now[item]]
    for items, what in ((in_, "in"), (out, "out"), (other, "changed in content")):
        if items:
            yield f"{len(items)} item{'' if len(items) == 1 else 's'} {what}: {named(items)}"
