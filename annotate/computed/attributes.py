"""Attributes that are computed from the item's text, and never asked of a model."""

from __future__ import annotations

import pyarrow as pa

from ...records.items.position import position_dependent
from .answer_format import answer_format
from .readability import wording

COMPUTED_SCHEMA = pa.schema(
    [
        ("word_count", pa.int32()),  # words of question and context; numbers are none
        ("sentence_count", pa.int32()),
        ("readability_grade", pa.float64()),  # null without words
        ("choice_count", pa.int32()),
        ("answer_format", pa.string()),
        ("position_dependent", pa.bool_()),  # an option speaks of others; null without options
        ("key_is_longest", pa.bool_()),  # no other option is as long; null without a key
    ]
)


def computed_attributes(items: pa.Table) -> pa.Table:
    """Compute the attributes that need no model.

    Args:
        items: A table with ``ITEM_SCHEMA``.

    Returns:
        A table with ``COMPUTED_SCHEMA``, row by row.
    """
    question, context, choices, key, answer, kind = (
        items[name].to_pylist()
        for name in ("question", "context", "choices", "answer_index", "answer_text", "kind")
    )
    texts = [f"{c}\n\n{q}" if c else q for c, q in zip(context, question, strict=True)]
    counts = [wording(text) for text in texts]
    columns = {
        "word_count": [count.words for count in counts],
        "sentence_count": [count.sentences for count in counts],
        "readability_grade": [count.grade for count in counts],
        "choice_count": [len(options) for options in choices],
        "answer_format": [answer_format(*pair) for pair in zip(kind, answer, strict=True)],
        "position_dependent": [
            position_dependent(options) is not None if options else None for options in choices
        ],
        "key_is_longest": [_key_is_longest(*pair) for pair in zip(choices, key, strict=True)],
    }
    return pa.table(columns, schema=COMPUTED_SCHEMA)


def _key_is_longest(choices: list[str], key: int | None) -> bool | None:
    if key is None or len(choices) < 2:
        return None
    lengths = [len(choice) for choice in choices]
    return all(lengths[key] > length for n, length in enumerate(lengths) if n != key)
