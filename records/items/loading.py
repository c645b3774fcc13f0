"""Loading a benchmark: from a file or the Hub, by a preset, a mapping, or both."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from .building import Part, build_items, settle_mapping
from .hub import read_hub
from .mapping import ColumnMapping, make_mapping
from .presets import Preset, choose_layout, find_preset, presets
from .readers import read_file
from .record import Item
from .source import Source
from .store import Provenance

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*\Z")


@dataclass(frozen=True, slots=True)
class Request:
    """What to load, and how to read it. What is not given comes from the preset."""

    benchmark: str
    """The name that the benchmark has in the project."""
    preset: str | None = None
    """The preset's name; the benchmark's own name is tried when none is given."""
    file: Path | None = None
    """A local copy; the Hub is read when there is none."""
    dataset: str | None = None
    """The Hub repository."""
    config: str | None = None
    """The Hub dataset's configuration, or the subset of a file."""
    split: str | None = None
    revision: str | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a column mapping, over those of the preset."""
    domain: str | None = None
    licence: str | None = None
    limit: int | None = None
    """How many items to load at most."""

    @property
    def preset_name(self) -> str | None:
        """The preset that is used, if any."""
        return self.preset or (self.benchmark if self.benchmark in presets() else None)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The items of a benchmark, and where they are from."""

    items: list[Item]
    provenance: Provenance
    split_assumed: bool
    """Nothing but the preset's default told the split."""
    rows_skipped: int
    """Rows of a file that belong to other benchmarks or parts."""


def load(request: Request) -> Loaded:
    """Load the items of a benchmark.

    Raises:
        InputError: the request contradicts itself, or what it names cannot be read.
    """
    _check(request)
    preset = _preset(request)
    sources = _read(request, preset)
    mapping = settle_mapping(_mapping(request, preset, sources[0]), sources[0])
    local = request.file is not None
    part = Part(
        split=request.split if local else None,
        subset=request.config if local else None,
        default_split=preset.split if preset else "",
    )
    items = build_items(request.benchmark, sources, mapping, part)
    return Loaded(
        items=items[: request.limit],
        provenance=_provenance(request, preset, sources, items, mapping),
        split_assumed=local and preset is not None and not (request.split or mapping.split),
        rows_skipped=sum(len(source.rows) for source in sources) - len(items),
    )


def _preset(request: Request) -> Preset | None:
    if request.preset_name is not None:
        return find_preset(request.preset_name)
    if request.file is None and request.dataset is None:
        return find_preset(request.benchmark)  # raises: there is nothing else to read
    return None


def _check(request: Request) -> None:
    if not _NAME.match(request.benchmark):
        raise InputError(
            f"the benchmark's name {request.benchmark!r}",
            wanted="letters, digits, '_', '-' and '.'",
            mend="choose a name that can name a file",
        )
    if request.file is not None and (request.dataset or request.revision):
        other = "--dataset" if request.dataset else "--revision"
        raise InputError(
            f"--from and {other} together",
            wanted="a file or a dataset of the Hub",
            mend="leave one of them out",
        )


def _read(request: Request, preset: Preset | None) -> list[Source]:
    if request.file is not None:
        return [read_file(request.file)]
    dataset = request.dataset or (preset.dataset if preset else "")
    known = preset.config if preset is not None and request.dataset is None else None
    configs: Sequence[str | None] = known if isinstance(known, list) else [known]
    split = request.split or (preset.split if preset else None)
    return read_hub(
        dataset,
        [request.config] if request.config is not None else configs,
        split=split,
        revision=request.revision,
    )


def _mapping(request: Request, preset: Preset | None, source: Source) -> ColumnMapping:
    if preset is None:
        return make_mapping(request.columns, source.columns)
    layouts = preset.layouts
    if request.columns:
        known = [layout.model_dump(exclude_defaults=True) for layout in layouts]
        layouts = [make_mapping({**one, **request.columns}, source.columns) for one in known]
    return choose_layout(layouts, source.columns, source=source.name)


def _provenance(
    request: Request,
    preset: Preset | None,
    sources: Sequence[Source],
    items: Sequence[Item],
    mapping: ColumnMapping,
) -> Provenance:
    splits = {item.split for item in items}
    original = preset if request.dataset is None else None
    hub = request.file is None
    dataset = request.dataset or (preset.dataset if preset and hub else None)
    config = original.config if original and hub else None
    provenance = Provenance(
        preset=request.preset_name,
        dataset=dataset,
        config=request.config or (config if isinstance(config, str) else None),
        split=splits.pop() if len(splits) == 1 else None,
        revision=items[0].revision,
        licence=request.licence or (original.licence if original else "unknown"),
        domain=request.domain or (preset.domain if preset else None),
        file=request.file.name if request.file else None,
        columns=mapping.model_dump(exclude_defaults=True),
        limit=request.limit,
    )
    if any(source.gated for source in sources):
        provenance["gated"] = True
    return provenance
