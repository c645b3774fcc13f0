"""Records that nobody is to review any more: reviewers are taken off, responses stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .client import Argilla

WITHDRAWN = "withdrawn"
"""In place of the state in which a record was sent; should it be pushed again, it differs."""
_AT_ONCE = 250


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Records of one dataset that reviewers are taken off."""

    dataset: str
    external_ids: tuple[str, ...]


def withdraw(argilla: Argilla, withdrawal: Withdrawal) -> Iterator[int]:
    """Take the reviewers off records, and tell of each batch how many it was."""
    path = f"datasets/{withdrawal.dataset}/records/bulk"
    for start in range(0, len(withdrawal.external_ids), _AT_ONCE):
        names = withdrawal.external_ids[start : start + _AT_ONCE]
        records = argilla.named_records(withdrawal.dataset, names)
        items = [
            {"external_id": one["external_id"], "metadata": _metadata(one["metadata"])}
            for one in records
        ]
        argilla.put(path, {"items": items})
        yield len(names)


def withdrawn_responses(argilla: Argilla, dataset: str) -> tuple[int, Counter[str]]:
    """Count the withdrawn records of a dataset, and what each user has finished of them.

    Args:
        argilla: The server.
        dataset: Its id.

    Returns:
        The records, and by user id the responses that are submitted or discarded.
    """
    scope = {"entity": "metadata", "metadata_property": "state"}
    wanted = {"filters": {"and": [{"type": "terms", "scope": scope, "values": [WITHDRAWN]}]}}
    records, finished = 0, Counter[str]()
    while True:
        found = argilla.post(
            f"datasets/{dataset}/records/search",
            wanted,
            repeatable=True,
            limit=_AT_ONCE,
            offset=records,
            include=["responses"],
        )["items"]
        for record in (item["record"] for item in found):
            finished.update(
                str(one["user_id"]) for one in record["responses"] if one["status"] != "draft"
            )
        records += len(found)
        if len(found) < _AT_ONCE:
            return records, finished


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {**{k: v for k, v in metadata.items() if k != "reviewer"}, "state": WITHDRAWN}
