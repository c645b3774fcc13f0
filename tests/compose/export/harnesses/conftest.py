"""The real harnesses, and a subset with the items that break such tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.folder import export_subset
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.items.presets import presets
from benchprism.records.items.record import Item, items_table
from benchprism.records.items.store import write_items


@dataclass(frozen=True)
class Harness:
    """The environment of lm-evaluation-harness and Inspect."""

    folder: Path

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / "bin" / "python"

    def __call__(
        self, *arguments: str | Path, variables: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run its Python, offline unless ``variables`` say otherwise; it has to succeed."""
        offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        tokens = {"TIKTOKEN_CACHE_DIR": str(self.folder / "tiktoken")}
        ran = subprocess.run(
            [self.python, *arguments],
            env={**os.environ, **offline, **tokens, **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        return ran


@pytest.fixture(scope="session")
def harness() -> Harness:
    """The harnesses; where they cannot be had, the tests are skipped, but fail under CI."""
    name = Path(__file__).with_name("environment.py")
    spec = spec_from_file_location("harness_environment", name)
    assert spec is not None
    assert spec.loader is not None
    environment = module_from_spec(spec)
    spec.loader.exec_module(environment)
    try:
        return Harness(environment.harness_environment())
    except RuntimeError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"the harnesses cannot be installed: {error}")


@pytest.fixture
def nasty(make_open: Callable[..., Item], make_choice: Callable[..., Item]) -> list[Item]:
    """Items of many benchmarks whose texts look like something else."""
    C, O = make_choice, make_open  # noqa: E741, N806
    items = [
        C("mmlu", 0, " What is {{x}}? {% if y %} ", "12", "007", "None", "2024-01-01", key=1,
          subset="abstract_algebra", item_id="mmlu/abstract_algebra/test/34"),
        C("mmlu", 1, "[1, 2]", "[1]", "{'a': 1}", "{#1}", "true", key=3,
          subset="anatomy", item_id="mmlu/anatomy/test/7"),
        C("mmlu", 2, "{question}\u2028and {options}", "a\u2028b", "c\u0085d", "e\r\nf", "g\u200fh",
          key=0, subset="anatomy", item_id="mmlu/anatomy/test/2"),
        C("arc_easy", 0, "123", "1", "2", "3", key=2),
        C("arc_easy", 1, "None", "None", "null", "nan", key=0),
        C("arc_easy", 2, "Which of many?", *(str(n) for n in range(30)), key=28),
        C("hellaswag", 0, "Cooking: A man [step] cuts. then he", "[title] eats", "runs",
          "{{sings}}", "[1, 2]", key=3),
        C("winogrande", 0, "Ann gave Bea the _ because she was kind.", "Ann", "Bea", key=1),
        C("winogrande", 1, "The 12 is bigger than _.", "12", "007", key=0),
        C("truthfulqa", 0, "What is 2?", "two", "three", "[1]", key=0),
        C("openbookqa", 0, "12", "1", "2", "[3]", "4", key=1),
        C("commonsenseqa", 0, "where?", "12", "b", "c", "d", "e", key=4),
        C("siqa", 0, "why?", "x", "y", "z", key=2, context="Alex {{did}} it"),
        C("piqa", 0, "goal", "sol", "None", key=1),
        C("mmlu_pro", 0, "which?", *"abcdefghij", key=9, subset="math"),
        C("own", 0, "mine?", "yes", "no", key=0),
        O("gsm8k", 0, "How many?", "12"),
        O("gsm8k", 1, "{{how}} many", "007"),
        O("gsm8k", 2, "in dollars?", "1,000"),
        O("math500", 0, "Compute", "\\frac{1}{2}"),
        O("aime24", 0, "Compute", "033"),
        O("bbh", 0, "not ( True )", "False", subset="boolean_expressions",
          item_id="bbh/boolean_expressions/test/0"),
        O("bbh", 1, "None?", "None", subset="snarks", item_id="bbh/snarks/test/1"),
        O("bbh", 2, "a list", "[1, 2]", subset="snarks", item_id="bbh/snarks/test/2"),
        O("cruxeval", 0, "[PYTHON]\nassert f([1, 2]) == ??\n[/PYTHON]", "[1, 2]"),
        O("cruxeval", 1, "[PYTHON]\nassert f(1) == ??\n[/PYTHON]", "'2024-01-01'"),
        O("drop", 0, "How many yards?", "12 yards", context="They ran {{12}} yards.",
          accepted_answers=("twelve yards",)),
        O("own_open", 0, "Which date?", "2024-01-01", accepted_answers=("1 January 2024",)),
        O("own_open", 1, "12", "None"),
        O("own_open", 2, "No key?", None),
        O("eq_bench", 0, "Rate them.", str({f"emotion{n}{end}": n if end else "abcd"[n - 1]
          for n in range(1, 5) for end in ("", "_score")}), item_id="eq_bench/validation/1"),
    ]  # fmt: skip
    splits = {name: preset.split for name, preset in presets().items()}
    return [replace(item, split=splits.get(item.benchmark, "test")) for item in items]


@dataclass(frozen=True)
class Exported:
    """A subset and the folder that it was exported to."""

    subset: Subset
    folder: Path
    items: list[Item]


@pytest.fixture
def exported(
    tmp_path: Path,
    catalogue: Catalogue,
    composed: Callable[..., Subset],
) -> Callable[..., Exported]:
    """Export items: ``exported(items, ids_only=False)``, each benchmark as its preset has it."""

    def make(items: list[Item], *, ids_only: bool = False, **changes: Any) -> Exported:
        told = {item.benchmark: {**_provenance(item.benchmark), **changes} for item in items}
        subset = composed(items, told)
        folder = tmp_path / "export"
        export_subset(assemble(subset, catalogue, ids_only=ids_only), folder)
        return Exported(subset, folder, items)

    return make


def _provenance(benchmark: str) -> dict[str, Any]:
    preset = presets().get(benchmark)
    if preset is None:
        return {"preset": None, "dataset": None, "licence": "MIT", "file": "own.csv"}
    return {
        "preset": benchmark,
        "dataset": preset.dataset,
        "config": preset.config if isinstance(preset.config, str) else None,
        "split": preset.split,
        "revision": "abc",
        "licence": preset.licence,
        "file": None,
    }


@pytest.fixture
def add_results(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """``benchprism results add`` to a project of some items: ``add_results(logs, items)``."""

    def add(logs: Path, items: list[Item]) -> dict[str, Any]:
        project = tmp_path / "project"
        project.mkdir()
        (project / "benchprism.yaml").write_text("project: trial\n", encoding="utf-8")
        for name in {item.benchmark for item in items}:
            own = [item for item in items if item.benchmark == name]
            told = {key: value for key, value in _provenance(name).items() if value is not None}
            write_items(project / "items" / f"{name}.parquet", items_table(own), told)
        command = Path(sys.executable).with_name("benchprism")
        ran = subprocess.run(
            [command, "results", "add", logs, "--json", "--project", project],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        report: dict[str, Any] = json.loads(ran.stdout)
        return report

    return add
