"""The dataset card: what the Hub reads, and what a reader has to know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from ...records.documents import dump_document
from ...records.errors import InputError
from .composition import (
    annotators,
    attribute_rows,
    benchmark_rows,
    compared,
    coverage,
    judgement_rows,
    judges,
)
from .harness.parts import plain
from .licences import strictest
from .subset import CONFIGS, SPLIT, ExportedSubset

CARD = "README.md"
BEGIN, END = "<!-- benchprism: begin -->", "<!-- benchprism: end -->"
"""Between them stands what benchprism writes; what stands outside is the user's."""
_FRONT = re.compile(r"\A---\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
_TASKS = {
    "multiple_choice": ("multiple-choice", "question-answering"),
    "generative": ("question-answering", "text-generation"),
}
_LICENCE_KEYS = {"license", "license_name", "license_link"}
_KEPT = ("language", "pretty_name", "tags")
"""Keys of which a user's own value is kept."""


def card(export: ExportedSubset) -> str:
    """Write the card of an export: metadata in YAML, then text in Markdown."""
    return _joined(card_metadata(export), f"{BEGIN}\n{card_text(export)}{END}\n")


def _joined(metadata: dict[str, Any], text: str) -> str:
    return f"---\n{dump_document(metadata)}---\n\n{text}"


def card_metadata(export: ExportedSubset) -> dict[str, Any]:
    """What the Hub reads of an export, as far as it is known to be true."""
    licence = strictest(source.licence for source in export.sources)
    preset = all(source.preset for source in export.sources)
    return {
        "pretty_name": export.name,
        **({"language": ["en"]} if preset else {}),  # all presets are English
        "license": licence.hub,
        **({"license_name": _slug(licence.title)} if licence.hub == "other" else {}),
        "annotations_creators": _creators(export),
        "language_creators": ["found"],
        "source_datasets": _each_once(
            f"extended|{s.dataset}" if s.dataset else "original" for s in export.sources
        ),
        "size_categories": [_size(export.items.num_rows)],
        "task_categories": _each_once(t for config in export.configs for t in _TASKS[config]),
        "tags": ["benchmark", "evaluation"],
        "configs": [
            {
                "config_name": config,
                "data_files": [{"split": SPLIT, "path": f"data/{config}/{SPLIT}-*"}],
                **({"default": True} if config == export.configs[0] else {}),
            }
            for config in export.configs
        ],
    }


def _creators(export: ExportedSubset) -> list[str]:
    """Who gave the attributes; those that are computed are of a machine."""
    shares = coverage(export).sources
    people = any(source.startswith("human") for source in shares)
    machine = any(not source.startswith("human") for source in shares) or not shares
    return [*(["expert-generated"] if people else []), *(["machine-generated"] if machine else [])]


def _each_once(values: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(values)]


def _size(items: int) -> str:
    return next((name for limit, name in _SIZES if items < limit), "1M<n<10M")


def _slug(words: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-") or "other"


def card_text(export: ExportedSubset) -> str:
    """The card's text."""
    text: str = _template().render(
        export=export,
        group=plain(export.name),
        licence=strictest(source.licence for source in export.sources),
        benchmarks=benchmark_rows(export),
        attributes=attribute_rows(export),
        annotators=annotators(export),
        compared=compared(export) if export.agreement else "",
        coverage=coverage(export),
        judgement=judgement_rows(export.judgement),
        unkeyed=_unkeyed(export),
        papers=_papers(export),
    )
    return text


def _unkeyed(export: ExportedSubset) -> int:
    return 0 if export.ids_only else int(export.items["answer_text"].null_count)


def _papers(export: ExportedSubset) -> list[str]:
    return _each_once(s.paper.bibtex for s in export.sources if s.paper is not None)


@cache
def _template() -> Template:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
    )  # Markdown and no page: nothing to escape but what ends a cell
    environment.filters |= {
        "cell": _cell,
        "percent": _percent,
        "figure": _figure,
        "chance": _chance,
        "judges": judges,
    }
    text = files(__package__).joinpath("card.md.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)


def _cell(value: object) -> str:
    """Write a value so that it stays in its cell, and is no markup."""
    words = " ".join(str(value).split())
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", words)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share == 0 or share >= 0.005 else "< 1 %"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _chance(found: Mapping[str, Any]) -> str:
    """Two cells: what random subsets have, and the share of them that have less."""
    if found["beats"] is None:
        return "– | –"
    mean, low, high = (_figure(found[f"random_{end}"]) for end in ("mean", "low", "high"))
    return f"{mean} ({low} to {high}) | {int(100 * found['beats'] + 1e-6)} %"


def merged_card(existing: str, new: str) -> str:
    """Put a new card into an existing one, whose own text is kept.

    Text outside the marks is left as it is. A card without marks is the user's: its text is
    followed by the new one's. Keys of the metadata that benchprism does not write are kept, and so
    are the user's own ``language``, ``pretty_name``, ``tags`` and further ``configs``.

    Raises:
        InputError: the existing card's metadata cannot be read.
    """
    old_data, old_text = _split(existing)
    new_data, new_text = _split(new)
    stale = _LICENCE_KEYS - {*new_data}
    foreign = {key: value for key, value in old_data.items() if key not in stale}
    kept = {key: old_data[key] for key in _KEPT if key in old_data}
    configs = _merged_configs(old_data.get("configs"), new_data["configs"])
    data = {**foreign, **new_data, **kept, "configs": configs}
    return _joined(data, _merged_text(old_text, new_text))


def _merged_configs(old: Any, new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The export's configurations, then those of the user's own data."""
    listed = old if isinstance(old, list) else []
    foreign = [c for c in listed if isinstance(c, dict) and c.get("config_name") not in CONFIGS]
    if any(config.get("default") for config in foreign):
        new = [{key: value for key, value in c.items() if key != "default"} for c in new]
    return [*new, *foreign]


def _merged_text(old: str, new: str) -> str:
    begin, end = old.find(BEGIN), old.find(END)
    if not 0 <= begin < end:
        return f"{old.rstrip()}\n\n{new}" if old.strip() else new
    tail = old[end + len(END) :].removeprefix("\n")
    return f"{old[:begin]}{new.rstrip()}\n{tail}"


def _split(text: str) -> tuple[dict[str, Any], str]:
    found = _FRONT.match(text.removeprefix("\ufeff"))
    if found is None:
        return {}, text
    try:
        data = yaml.safe_load(found[1]) or {}
        if not isinstance(data, dict):
            raise TypeError("no mapping")
    except (yaml.YAMLError, TypeError) as error:
        raise InputError(
            f"the metadata of the existing {CARD} cannot be read",
            wanted="YAML between two lines of '---'",
            mend=f"mend or remove the head of {CARD}",
        ) from error
    return data, text.removeprefix("\ufeff")[found.end() :].lstrip("\r\n")
