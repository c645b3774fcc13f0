"""The result: what one model scored on one item in one log, as the log itself names the item.

A reader knows nothing of the project's items. It keeps whatever the log holds to find them again:
the log's own id, the source's id, and hashes of the item's content.
"""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

Status = Literal["scored", "unscored", "errored"]
"""``errored``: the run failed on this item; ``unscored``: no usable score. Neither is wrong."""

RESULT_SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("model", pa.string()),
        ("benchmark", pa.string()),
        ("subset", pa.string()),
        ("doc_id", pa.string()),
        ("source_id", pa.string()),
        ("item_hashes", pa.list_(pa.string())),
        ("question", pa.string()),
        ("context", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("trial", pa.int32()),
        ("metric", pa.string()),
        ("filter", pa.string()),
        ("score", pa.float64()),
        ("raw_score", pa.float64()),
        ("status", pa.string()),
        ("choice_index", pa.int32()),
        ("response", pa.string()),
        ("source_format", pa.string()),
        ("source_file", pa.string()),
    ]
)
"""One row for each run, item, trial, metric and filter.

- ``run``: the harness's id of the run; ``model``, ``benchmark``, ``subset``: the log's own names.
- ``doc_id``: the log's id of the item, often its row; ``source_id``: the id inside the item.
- ``item_hashes``: ``content_hash`` of each form in which the log may hold the item, the likeliest
  first; null when neither question nor prompt is there.
- ``question``, ``context``, ``choices``: the item as the log holds it; null when it does not.
- ``trial``: 0-based repeat of the same item. ``metric``, ``filter``: the log's own names.
- ``raw_score``: the number in the log. ``score``: the same on 0 to 1, where 1 is best; null when it
  is missing or its range is not known. A metric that punishes (EQ-Bench) may go below 0: nothing
  is clamped.
- ``choice_index``: 0-based choice that the model took, where the log says so.
"""
