"""Wide tables: a row for each item and a column for each model, or the other way round.

The first column names the rows. It is called ``item_id``, ``item``, ``id``, ``doc_id`` or
``question_id``, or ``model`` when the rows are models. Columns ``benchmark`` and ``subset`` say
what an item is of; every other column that has a number holds scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from .batches import batches
from .content import Content
from .findings import LogFault, LogFinding, not_laid_out
from .runs import LogBatch, LogRun, Sample
from .wide_columns import columns_of, score_of
from .wide_rows import Row, header_of, wide_rows

FORMAT = "wide"
ITEM_NAMES = ("item_id", "item", "id", "doc_id", "question_id")
MODEL_NAMES = ("model", "model_name", "model_id")
_ABOUT = ("benchmark", "subset")
_METRIC = "score"


def read(path: Path, models: Collection[str] = ()) -> Iterator[LogBatch | LogFinding]:
    """Read one wide table, ``.csv``, ``.tsv`` or ``.parquet``.

    Args:
        path: the table.
        models: only these, where columns are models; all that have a number when empty.
    """
    names = header_of(path)
    _check(path, names)
    are_models = names[0].lower() not in MODEL_NAMES
    columns = columns_of(wide_rows(path, names), _candidates(names, models if are_models else ()))
    yield from columns.findings(path, "models" if are_models else "items")
    for benchmark, rows in _by_benchmark(wide_rows(path, names), path.stem):
        run = LogRun(
            run=path.stem,
            model="",
            benchmark=benchmark,
            source_format=FORMAT,
            source_file=str(path),
            metric=_METRIC,
        )
        yield from batches(run, _samples(rows, names[0], columns.scores, are_models=are_models))


def _check(path: Path, names: Sequence[str]) -> None:
    if not is_wide(names):
        found = f"the columns {', '.join(names[:4])}, ..."
        raise not_laid_out(path, "a wide table, whose first column is item_id or model", found)
    plain = [name.strip() for name in names]
    twice = next((name for name in plain if plain.count(name) > 1), None)
    if twice is not None:
        found = f"two columns {twice!r}" if twice else "columns without a name"
        raise LogFault(
            LogFinding(
                "layout",
                str(path),
                found,
                wanted="each column named once",
                mend="rename or remove one of them: which one counts is not known",
            )
        )


def _candidates(names: Sequence[str], models: Collection[str]) -> list[str]:
    """The columns that may hold scores."""
    others = [name for name in names[1:] if name.lower() not in _ABOUT]
    return [name for name in others if not models or name.strip() in models]


def is_wide(names: Sequence[str]) -> bool:
    """Tell whether columns are those of a wide table."""
    if not names or names[0].lower() not in (*ITEM_NAMES, *MODEL_NAMES):
        return False
    others = {name.lower() for name in names[1:]}
    is_tidy = bool(others & {*ITEM_NAMES, *MODEL_NAMES}) or bool(others & {"score", "correct"})
    return not is_tidy and len(others - set(_ABOUT)) >= 2


def _by_benchmark(
    rows: Iterator[Row | LogFinding], default: str
) -> Iterator[tuple[str, Iterator[Row | LogFinding]]]:
    """Split rows where the benchmark changes; a finding goes with the rows before it."""
    held: list[Row | LogFinding] = []
    current = default

    def group(first: Row | LogFinding) -> Iterator[Row | LogFinding]:
        yield first
        for row in rows:
            if isinstance(row, dict) and _benchmark(row, default) != current:
                held.append(row)
                return
            yield row

    held.extend([row for row in [next(rows, None)] if row is not None])
    while held:
        first = held.pop()
        current = _benchmark(first, default) if isinstance(first, dict) else current
        yield current, group(first)


def _benchmark(row: Row, default: str) -> str:
    return str(row.get("benchmark") or default)


def _samples(
    rows: Iterator[Row | LogFinding], key: str, scored: Iterable[str], *, are_models: bool
) -> Iterator[Sample | LogFinding]:
    for row in rows:
        if isinstance(row, LogFinding):
            yield row
            continue
        for name in scored:
            item, model = (row[key], name) if are_models else (name, row[key])
            yield Sample(
                doc_id=str(item),
                scores={_METRIC: score_of(row[name])},
                content=Content(source_id=str(item)),
                subset=str(row.get("subset") or ""),
                model=str(model),
            )
