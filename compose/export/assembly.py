"""A subset made ready to be passed on: its table, its sources, and whether they permit it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...prompts.catalogue import Catalogue
from ...records.errors import InputError
from ...records.items.presets import presets
from ...records.items.record import ItemKind
from ..locking.digest import table_digest
from ..store import Subset
from .licences import find_licence
from .names import without_names
from .sources import NEEDS_RECORD, known_sources, scoring_rule
from .subset import (
    CONFIGS,
    REPOSITORY,
    WITHHELD,
    AgreementFigure,
    ExportedSource,
    ExportedSubset,
)
from .tables import TEXTS, export_schema, export_table


def assemble(
    subset: Subset,
    catalogue: Catalogue | None,
    *,
    ids_only: bool = False,
    agreement: Sequence[AgreementFigure] = (),
    judgement: Mapping[str, Any] | None = None,
    repo_id: str = REPOSITORY,
    names: bool = False,
) -> ExportedSubset:
    """Make an export of a composed subset.

    Args:
        subset: the subset, as composed.
        catalogue: the catalogue of today; it has to be the one of the subset's attributes.
        ids_only: whether to leave out texts and keys.
        agreement: how far annotators agreed on the attributes, where it is known.
        judgement: what models' results say of the subset, as it is stored beside it.
        repo_id: the name of the Hub repository that it is for.
        names: whether the lock tells the names of the people who annotated; else they are numbered.

    Raises:
        InputError: a source may not be passed on, the subset is damaged, or the catalogue is
            another one by now.
    """
    _check(subset, catalogue)
    known = catalogue if subset.lock.get("catalogue") is not None else None
    export_schema(known)
    sources = tuple(_sources(subset))
    if not ids_only:
        _require_permission(sources)
    return ExportedSubset(
        name=subset.name,
        description=subset.criteria.description,
        items=_table(subset, known, sources, ids_only=ids_only),
        sources=sources,
        catalogue=known,
        criteria=subset.criteria.plain(),
        lock=subset.lock if names else without_names(subset.lock),
        composed=subset.items.drop_columns(WITHHELD) if ids_only else subset.items,
        excluded=subset.excluded,
        ids_only=ids_only,
        repo_id=repo_id,
        agreement=tuple(agreement),
        judgement=judgement,
    )


def _check(subset: Subset, catalogue: Catalogue | None) -> None:
    if table_digest(subset.items) != subset.lock.get("content", {}).get("items"):
        raise InputError(
            f"the items in {subset.folder} are not those of its lock",
            wanted="the subset as it was composed",
            mend="compose it again",
        )
    locked = (subset.lock.get("catalogue") or {}).get("hash")
    if locked is not None and (catalogue is None or catalogue.hash != locked):
        raise InputError(
            f"the catalogue has changed since {subset.name!r} was composed",
            wanted="the catalogue that its attributes are of",
            mend="compose it again",
        )


def _sources(subset: Subset) -> Iterator[ExportedSource]:
    locked: Mapping[str, Mapping[str, Any]] = subset.lock["sources"]
    for benchmark in sorted(locked):
        items = subset.items.filter(pc.equal(subset.items["benchmark"], benchmark))
        if items.num_rows:
            yield _source(benchmark, items, locked[benchmark])


def _source(benchmark: str, items: pa.Table, told: Mapping[str, Any]) -> ExportedSource:
    name, dataset = told.get("preset"), told.get("dataset")
    preset, known = presets().get(name or ""), known_sources().get(name or "")
    from_hub = told.get("file") is None and dataset is not None
    own = preset is not None and dataset in {None, preset.dataset}
    several = preset is not None and isinstance(preset.config, list) and not told.get("config")
    dataset = dataset or (preset.dataset if preset is not None else None)
    kinds: set[ItemKind] = {*items["kind"].unique().to_pylist()}
    paper = known.paper if known is not None and own else None
    stated = told.get("licence") or "unknown"
    return ExportedSource(
        benchmark=benchmark,
        preset=name if preset is not None else None,
        title=preset.title if preset is not None else benchmark,
        dataset=dataset,
        config=told.get("config") if from_hub else None,
        configs=tuple(preset.config or ()) if preset is not None and several and own else (),
        split=told.get("split"),
        revisions=tuple(sorted(items["revision"].unique().to_pylist())),
        file=told.get("file"),
        items=items.num_rows,
        licence=find_licence(stated),
        gated=bool(told.get("gated")),
        stated_licence=stated,
        url=f"https://huggingface.co/datasets/{dataset}" if dataset is not None else None,
        paper=paper,
        rules={kind: scoring_rule(name, kind) for kind in CONFIGS if kind in kinds},
    )


def _require_permission(sources: Sequence[ExportedSource]) -> None:
    for source in sources:
        reason = None
        if source.licence.redistribution == "no":
            reason = (
                f"the licence of {source.benchmark!r} ({source.stated_licence}) does not permit"
            )
        elif source.gated:
            reason = f"the terms of {source.dataset!r}, which is gated, may not permit"
        if reason is not None:
            raise InputError(
                f"{reason} passing its items on in a new set",
                wanted="sources that may be passed on",
                mend="add --ids-only to leave out all texts, or compose without it",
            )


def _table(
    subset: Subset,
    catalogue: Catalogue | None,
    sources: Sequence[ExportedSource],
    *,
    ids_only: bool,
) -> pa.Table:
    table = export_table(
        subset.items,
        catalogue,
        datasets={s.benchmark: s.file or s.dataset for s in sources},
        configs={s.benchmark: s.config for s in sources if s.file or not s.configs},
        records=frozenset(source.benchmark for source in sources if _needs_record(source)),
    )
    return table.drop_columns(TEXTS.names) if ids_only else table


def _needs_record(source: ExportedSource) -> bool:
    known = known_sources().get(source.preset or "")
    judged = any(rule.scoring in NEEDS_RECORD for rule in source.rules.values())
    return judged or (known is not None and known.record)
