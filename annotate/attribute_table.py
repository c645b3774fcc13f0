"""The wide table that composing, scoring and reporting read: items with all their attributes."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from ..prompts.catalogue import Attribute, AttributeType, Catalogue
from ..records.errors import InputError
from ..records.items.record import ITEM_SCHEMA
from .computed.attributes import COMPUTED_SCHEMA, computed_attributes

VALUE_TYPES: dict[AttributeType, pa.DataType] = {
    "level": pa.int8(),
    "label": pa.string(),
    "labels": pa.list_(pa.string()),
    "boolean": pa.bool_(),
}

_TOLD = ("source", "confidence", "confidence_source")


def attribute_table(items: pa.Table, values: pa.Table, catalogue: Catalogue) -> pa.Table:
    """Join items with their computed and their consolidated attributes.

    Args:
        items: A table with ``ITEM_SCHEMA``.
        values: A table with ``VALUES_SCHEMA``; see ``consolidated_values``.
        catalogue: The criteria.

    Returns:
        The items in their order; after their own columns those of ``COMPUTED_SCHEMA``, then for
        each attribute its value (null when missing), ``<attribute>.source`` (its provenance),
        ``<attribute>.confidence`` and ``<attribute>.confidence_source`` (what measures it).

    Raises:
        InputError: an attribute has the name of another column.
    """
    check_names(catalogue)
    table = items
    for name, column in zip(COMPUTED_SCHEMA.names, computed_attributes(items).columns, strict=True):
        table = table.append_column(COMPUTED_SCHEMA.field(name), column)
    return with_values(table, values, catalogue)


def with_values(table: pa.Table, values: pa.Table, catalogue: Catalogue) -> pa.Table:
    """Give a table of items the columns of consolidated values, in place of any that it has."""
    for attribute in catalogue:
        names = [attribute.id, *(f"{attribute.id}.{told}" for told in _TOLD)]
        table = table.drop_columns([name for name in names if name in table.column_names])
        given = values.filter(pc.equal(values["attribute"], attribute.id))
        rows = pc.index_in(table["item_id"], value_set=given["item_id"].combine_chunks())
        table = (
            table.append_column(attribute.id, _decoded(given["value"], attribute).take(rows))
            .append_column(f"{attribute.id}.source", given["provenance"].take(rows))
            .append_column(f"{attribute.id}.confidence", given["confidence"].take(rows))
            .append_column(
                f"{attribute.id}.confidence_source", given["confidence_source"].take(rows)
            )
        )
    return table


def check_names(catalogue: Catalogue) -> None:
    """Refuse attributes that are named like a column of the items or a computed attribute.

    Raises:
        InputError: it names the attribute.
    """
    taken = {*ITEM_SCHEMA.names, *COMPUTED_SCHEMA.names}
    for attribute in catalogue:
        if attribute.id in taken:
            raise InputError(
                f"the attribute {attribute.id!r} of the catalogue {catalogue.catalogue!r} has the"
                " name of a field that every item has",
                wanted="a name of its own",
                mend=f"rename it, for instance to 'annotated_{attribute.id}'",
            )


def _decoded(values: pa.ChunkedArray, attribute: Attribute) -> pa.Array:
    """Decode JSON values; each different text is decoded once."""
    encoded = values.combine_chunks().dictionary_encode()
    different = [json.loads(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(different, VALUE_TYPES[attribute.type]).take(encoded.indices)
