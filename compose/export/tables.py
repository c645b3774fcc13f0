"""The exported table: its columns, flat and typed, with the texts byte for byte."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...annotate.attribute_table import VALUE_TYPES
from ...annotate.computed.attributes import COMPUTED_SCHEMA
from ...prompts.catalogue import Catalogue
from ...records.errors import InputError

ORIGIN = pa.schema(
    [
        ("item_id", pa.string()),
        ("benchmark", pa.string()),
        ("subset", pa.string()),  # a part of the benchmark; may be empty
        ("source_dataset", pa.string()),  # Hub repository, or the name of the file that was read
        ("source_config", pa.string()),
        ("source_split", pa.string()),
        ("source_revision", pa.string()),  # commit, or sha256:... of the file
        ("source_row", pa.int64()),  # from 0, in the configuration and split
        ("content_hash", pa.string()),
        ("kind", pa.string()),
        ("faults", pa.list_(pa.string())),
    ]
)
TEXTS = pa.schema(
    [
        ("prompt", pa.string()),  # context and question, as a model is asked; without the choices
        ("context", pa.string()),
        ("question", pa.string()),
        ("choices", pa.list_(pa.string())),
        ("answer_index", pa.int32()),  # from 0; null without a key among choices
        ("answer_letter", pa.string()),  # A to Z, then 1, 2, ..., as Inspect names choices
        ("answer_text", pa.string()),
        ("accepted_answers", pa.list_(pa.string())),
        ("source_record", pa.string()),  # JSON, where scoring needs more than the key
    ]
)
"""What is left out where only ids may be passed on."""


def export_schema(catalogue: Catalogue | None, *, ids_only: bool = False) -> pa.Schema:
    """The columns of an exported table, in their order.

    Raises:
        InputError: an attribute has the name of another column.
    """
    fields = [*ORIGIN, *(() if ids_only else TEXTS), *COMPUTED_SCHEMA]
    for attribute in catalogue or ():
        fields += [
            pa.field(attribute.id, VALUE_TYPES[attribute.type]),
            pa.field(f"{attribute.id}_source", pa.string()),
            pa.field(f"{attribute.id}_confidence", pa.float64()),
        ]
    names = [field.name for field in fields]
    for name in names:
        if names.count(name) > 1:
            raise InputError(
                f"the catalogue would give two columns the name {name!r}",
                wanted="a name of its own for each column of the export",
                mend=f"rename the attribute {name!r} in the catalogue",
            )
    return pa.schema(fields)


def export_table(
    items: pa.Table,
    catalogue: Catalogue | None,
    datasets: Mapping[str, str | None],
    configs: Mapping[str, str | None],
    records: frozenset[str],
) -> pa.Table:
    """Turn the attribute table of a subset into the exported one.

    Args:
        items: the attribute table's rows.
        catalogue: the criteria behind its attributes.
        datasets: what each benchmark was read from.
        configs: the configuration that it was read from; where none is named, the item's subset.
        records: the benchmarks whose own records are exported too.
    """
    benchmarks = items["benchmark"].to_pylist()
    made = {
        "source_dataset": [datasets[name] for name in benchmarks],
        "source_config": _configs(items, configs),
        "source_split": items["split"],
        "source_revision": items["revision"],
        "source_row": items["row"],
        "prompt": prompts(items),
        "answer_letter": map(letter, items["answer_index"].to_pylist()),
        "source_record": [
            record if name in records else None
            for name, record in zip(benchmarks, items["source"].to_pylist(), strict=True)
        ],
    }
    columns = []
    schema = export_schema(catalogue)
    for field in schema:
        stored = _stored_name(field.name, items)
        column = made.get(field.name)
        column = items[stored] if column is None else column
        if not isinstance(column, pa.ChunkedArray):
            column = pa.chunked_array([pa.array(column, field.type)])
        columns.append(column.cast(field.type))
    return pa.table(columns, schema=schema)


def _stored_name(name: str, items: pa.Table) -> str:
    """The column of the attribute table that an exported one is taken from."""
    for ending in ("source", "confidence"):
        dotted = f"{name.removesuffix(f'_{ending}')}.{ending}"
        if name.endswith(f"_{ending}") and dotted in items.column_names:
            return dotted
    return name


def _configs(items: pa.Table, configs: Mapping[str, str | None]) -> Iterator[str | None]:
    pairs = zip(items["benchmark"].to_pylist(), items["subset"].to_pylist(), strict=True)
    return (configs.get(name, part) for name, part in pairs)


def prompts(items: pa.Table) -> pa.ChunkedArray:
    """What is asked: the context, if there is one, an empty line, and the question."""
    joint = pc.if_else(pc.equal(items["context"], ""), "", "\n\n")
    return pc.binary_join_element_wise(items["context"], joint, items["question"], "")


def letter(index: int | None) -> str | None:
    """The label of a choice, as Inspect gives them.

    >>> letter(0), letter(25), letter(26), letter(None)
    ('A', 'Z', '1', None)
    """
    if index is None:
        return None
    letters = string.ascii_uppercase
    return letters[index] if index < len(letters) else str(index - len(letters) + 1)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table so that equal tables are equal bytes, with its features for ``datasets``."""
    features = {field.name: _feature(field.type) for field in table.schema}
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        table.replace_schema_metadata(metadata).combine_chunks(),
        path,
        version="2.6",
        compression="zstd",
        compression_level=3,
        row_group_size=10_000,
    )


def _feature(type_: pa.DataType) -> dict[str, object]:
    if pa.types.is_list(type_):
        return {"feature": _feature(type_.value_type), "_type": "Sequence"}
    return {"dtype": dtype(type_), "_type": "Value"}


def dtype(type_: pa.DataType) -> str:
    """The name that ``datasets`` has for a type of single values."""
    return {"double": "float64"}.get(str(type_), str(type_))
