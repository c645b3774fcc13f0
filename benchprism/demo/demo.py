"""The demo: a project over bundled real items, made step by step with the ordinary commands."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from benchprism.records.errors import InputError
from benchprism.records.files import replacing, write_text

MARK = ".benchprism-demo"
"""The file that tells a folder that an earlier demo made."""
RECORDINGS = "recordings.jsonl.gz"
RECORDED_ITEMS = "recorded-items.txt"
_CRITERIA = ("reasoning-depth.yaml", "ethics-sensitivity.yaml")
_MADE = (
    *("benchprism.yaml", "models.yaml", "ledger.sqlite", "ledger.sqlite-shm", "ledger.sqlite-wal"),
    *("data", "criteria", "items", "results", "subsets", "reports"),
)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo."""

    says: str
    """What the command is for; empty when the step before says it."""
    command: tuple[str, ...]
    """The arguments, as a user types them after ``benchprism``."""
    lines: int = 0
    """How many lines of its output are shown."""
    findings: bool = False
    """The command may exit with 1, which means that it found something."""


def _add(benchmark: str, *options: str, says: str = "") -> Step:
    return Step(says, ("items", "add", benchmark, "--from", f"data/{benchmark}.jsonl.gz", *options))


_ROWS = ("--map", "id=row")
_DOMAIN = ("--domain", "Reasoning")
STEPS = (
    _add("arc_challenge", says="Add the items of eight benchmarks, from local files, by preset."),
    _add("arc_easy"),
    _add("cruxeval", *_DOMAIN),
    _add("gsm8k", *_DOMAIN),
    _add("hellaswag", *_ROWS),
    _add("mmlu", *_ROWS),
    _add("truthfulqa", *_ROWS),
    _add("winogrande", *_ROWS),
    Step("", ("items", "list"), lines=24),
    Step("Look for faults that need no model.", ("items", "check"), lines=10, findings=True),
    Step(
        "Annotate 24 attributes. This is a REPLAY: a server on this machine answers the real"
        " requests with replies recorded from a large language model reader.",
        ("annotate", "--replay", f"data/{RECORDINGS}", "--only", f"data/{RECORDED_ITEMS}"),
        lines=10,
    ),
    Step(
        "Add what 44 models answered on GSM8K and CRUXEval.",
        ("results", "add", "data/results.parquet"),
        lines=10,
    ),
    Step(
        "Recompose by the replayed annotations: chained reasoning, then ethics sensitivity.",
        ("compose", f"criteria/{_CRITERIA[0]}"),
        lines=18,
    ),
    Step("", ("compose", f"criteria/{_CRITERIA[1]}"), lines=5),
    Step(
        "Ask why an item is out.",
        ("explain", "reasoning-depth", "mmlu/college_chemistry/test/86"),
        lines=12,
    ),
    Step("Score the benchmarks.", ("score",), lines=10),
    Step("Write the report.", ("report",), lines=21),
)


def prepare(folder: Path) -> None:
    """Make room for the demo: nothing that a user made is touched.

    Raises:
        InputError: the folder holds something, and no earlier demo made it.
    """
    made_here = (folder / MARK).is_file()
    free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    if not (made_here or free):
        raise InputError(
            f"{folder} is there already, and no demo made it",
            wanted="a new folder, or that of an earlier demo",
            mend="name another one: benchprism demo DIR",
        )
    for name in _MADE:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    write_text(folder / MARK, "Made by 'benchprism demo', which may overwrite it.\n")


def unpack(folder: Path) -> None:
    """Put the bundled files into the project folder."""
    bundle = files(__package__)
    for entry in bundle.iterdir():
        if entry.name.endswith((".gz", ".parquet")):
            _copy(entry, folder / "data" / entry.name)
    for name in _CRITERIA:
        _copy(bundle / name, folder / "criteria" / name)
    _copy(bundle / "models.yaml", folder / "models.yaml")
    write_text(folder / "data" / RECORDED_ITEMS, "".join(f"{i}\n" for i in recorded_items()))


def _copy(entry: Traversable, target: Path) -> None:
    with replacing(target) as temporary:
        temporary.write_bytes(entry.read_bytes())


def recorded_items() -> list[str]:
    """The ids of the items whose annotations were recorded."""
    data = gzip.decompress((files(__package__) / RECORDINGS).read_bytes())
    return [json.loads(line)["item_id"] for line in data.decode("utf-8").split("\n") if line]
