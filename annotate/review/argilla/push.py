"""Push: what a server does not have yet of what is to be reviewed is sent, batch by batch.

Each batch arrives whole or not at all, so that a push may be interrupted and run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ..case import Case
from .client import Argilla
from .comparison import Encoder, Push, Sending, records_of
from .dataset import Dataset, make_ready
from .layout import VECTOR
from .record import Record
from .withdrawal import withdraw

AT_ONCE = 500
"""The most records that Argilla takes in one request."""
_CHARACTERS_AT_ONCE = 4_000_000


def send(argilla: Argilla, push: Push, step: Callable[[int], None]) -> Dataset:
    """Send what a push has to send.

    Args:
        argilla: The server.
        push: What ``compare`` found.
        step: Told of the records that have arrived.
    """
    delivery = push.delivery
    dataset = make_ready(argilla, push.found, delivery.layout, delivery.overlap)
    for batch in _batches(push):
        _send(argilla, dataset, batch, delivery.encoder)
        step(len(batch))
    for withdrawal in push.withdrawals:
        for records in withdraw(argilla, withdrawal):
            step(records)
    return dataset


_Batch = list[tuple[Case, Record, Sending]]


def _batches(push: Push) -> Iterator[_Batch]:
    if not any(push.sendings):
        return
    batch: _Batch = []
    characters = 0
    pairs = zip(records_of(push.delivery), push.sendings, strict=True)
    for (case, record), sending in pairs:
        if sending is None:
            continue
        size = sum(map(len, record.fields.values()))
        if batch and (len(batch) == AT_ONCE or characters + size > _CHARACTERS_AT_ONCE):
            yield batch
            batch, characters = [], 0
        batch.append((case, record, sending))
        characters += size
    if batch:
        yield batch


def _send(argilla: Argilla, dataset: Dataset, batch: _Batch, encoder: Encoder | None) -> None:
    vectors = encoder.embed([_text(case) for case, _, _ in batch]) if encoder else None
    merged = []
    for place, (_, record, sending) in enumerate(batch):
        vector = None if vectors is None else vectors[place]
        body = _body(record, dataset, vector)
        if sending.suggested - record.suggestions.keys():
            # A merged record would keep suggestions that nobody makes any more.
            argilla.patch(f"records/{sending.record}", body)
        else:
            merged.append({"external_id": sending.external_id, **body})
    if merged:
        argilla.put(f"datasets/{dataset.id}/records/bulk", {"items": merged})


def _body(
    record: Record, dataset: Dataset, vector: npt.NDArray[np.float32] | None
) -> dict[str, Any]:
    state = record.state(vector=vector is not None)
    body: dict[str, Any] = {
        "fields": dict(record.fields),
        "metadata": {**record.metadata, "state": state},
        "suggestions": [
            {"question_id": dataset.questions[name], **suggestion}
            for name, suggestion in record.suggestions.items()
        ],
    }
    if vector is not None:
        body["vectors"] = {VECTOR: [round(float(number), 6) for number in vector]}
    return body


def _text(case: Case) -> str:
    return " ".join([case.context, case.question, " ; ".join(case.choices)]).strip()
