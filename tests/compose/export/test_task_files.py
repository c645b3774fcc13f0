"""The task files as text: what is in them, for which items."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.folder import export_subset
from benchprism.compose.store import Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.items.record import Item


class Loader(yaml.SafeLoader):
    """YAML 1.1, as lm-evaluation-harness reads it; a function is its name."""


Loader.add_constructor("!function", lambda _loader, node: f"!{node.value}")


def told(preset: str) -> dict[str, Any]:
    datasets = {"gsm8k": "openai/gsm8k", "mmlu": "cais/mmlu", "arc_easy": "allenai/ai2_arc"}
    dataset = datasets.get(preset)
    return {"preset": preset, "dataset": dataset, "file": None, "licence": "MIT"}


@pytest.fixture
def export(
    tmp_path: Path, catalogue: Catalogue, composed: Callable[..., Subset]
) -> Callable[..., Path]:
    """Export items read by presets: ``export(items, {"arc_easy": {...}}, ids_only=False)``."""

    def make(items: list[Item], sources: dict[str, Any], *, ids_only: bool = False) -> Path:
        subset = composed(items, {name: {**told(name), **more} for name, more in sources.items()})
        export_subset(assemble(subset, catalogue, ids_only=ids_only), tmp_path / "export")
        return tmp_path / "export"

    return make


def task(folder: Path, name: str) -> Any:
    text = (folder / "harness" / f"{name}.yaml").read_text(encoding="utf-8")
    return yaml.load(text, Loader)


def test_one_metric_makes_one_group(
    export: Callable[..., Path], make_choice: Callable[..., Item]
) -> None:
    items = [make_choice("mmlu", 0, "a?", "1", "2", key=0), make_choice("my-own", 0, "b?", "x",
             "y", key=1)]  # fmt: skip
    folder = export(items, {"mmlu": {}, "my-own": {"preset": None}})
    group = task(folder, "mixed")
    assert group["task"] == ["mixed_mmlu", "mixed_my_own"]
    assert group["aggregate_metric_list"] == [
        {"metric": "acc", "aggregation": "mean", "weight_by_size": True, "filter_list": ["none"]}
    ]


def test_tasks_take_columns_by_their_bare_names(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    make_open: Callable[..., Item],
) -> None:
    items = [make_choice("arc_easy", 0, "a?", "1", "2", key=0), make_open("gsm8k", 0, "b?", "12")]
    folder = export(items, {"arc_easy": {}, "gsm8k": {}})
    arc, gsm8k = task(folder, "mixed_arc_easy"), task(folder, "mixed_gsm8k")

    assert [arc[f"doc_to_{name}"] for name in ("text", "choice", "target")] == [
        "query", "options", "gold",
    ]  # fmt: skip
    assert [one["metric"] for one in arc["metric_list"]] == ["acc", "acc_norm"]
    assert arc["custom_dataset"] == "!benchmark_items.load"
    assert gsm8k["process_results"] == "!benchmark_items.judge_number"
    assert [one["name"] for one in gsm8k["filter_list"]] == ["strict-match", "flexible-extract"]
    strict = gsm8k["filter_list"][0]["filter"][0]["regex_pattern"]
    assert re.findall(strict, "so\n#### 1,000") == ["1,000"]
    assert [inner["group_alias"] for inner in task(folder, "mixed")["task"]] == [
        "acc_norm", "exact_match (flexible-extract)",
    ]  # fmt: skip


def test_eval_yaml_has_no_task_that_would_count_a_row_without_key_as_wrong(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    make_open: Callable[..., Item],
) -> None:
    choice, keyed = make_choice("mmlu", 0, "a?", "1", "2", key=1), make_open("gsm8k", 0, "b?", "7")
    sources: dict[str, Any] = {"mmlu": {}, "gsm8k": {}}
    path = export([choice, keyed], sources) / "eval.yaml"
    tasks = yaml.safe_load(path.read_text(encoding="utf-8"))["tasks"]
    assert [one["id"] for one in tasks] == ["multiple_choice", "generative"]
    assert tasks[0]["field_spec"]["target"] == "answer_letter"
    assert tasks[1]["scorers"] == [{"name": "match", "args": {"location": "end", "numeric": True}}]

    path = export([choice, keyed, make_open("gsm8k", 1, "c?", None)], sources) / "eval.yaml"
    tasks = yaml.safe_load(path.read_text(encoding="utf-8"))["tasks"]
    assert [one["id"] for one in tasks] == ["multiple_choice"]

    assert not (export([make_open("gsm8k", 1, "c?", None)], {"gsm8k": {}}) / "eval.yaml").exists()


def test_a_benchmark_without_keys_has_no_task(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    make_open: Callable[..., Item],
) -> None:
    open_alone = export([make_open("own", 0, "b?", None)], {"own": {"preset": None}}) / "harness"
    assert sorted(path.name for path in open_alone.iterdir()) == [
        "benchmark_items.py", "sources.json",
    ]  # fmt: skip

    items = [make_open("own", 0, "b?", None), make_choice("mmlu", 0, "a?", "1", "2", key=1)]
    harness = export(items, {"own": {"preset": None}, "mmlu": {}}) / "harness"
    assert sorted(path.name for path in harness.iterdir()) == [
        "benchmark_items.py", "inspect_task.py", "lighteval_task.py", "mixed.yaml",
        "mixed_mmlu.yaml", "sources.json",
    ]  # fmt: skip


def test_a_benchmark_of_both_kinds_has_a_task_for_each(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    make_open: Callable[..., Item],
) -> None:
    items = [make_choice("own", 0, "a?", "1", "2", key=1), make_open("own", 1, "b?", "7")]
    folder = export(items, {"own": {"preset": None}})
    known = json.loads((folder / "harness" / "sources.json").read_text(encoding="utf-8"))["parts"]
    assert {name: (one["kind"], one["scoring"]) for name, one in known.items()} == {
        "own_multiple_choice": ("multiple_choice", "letters"),
        "own_generative": ("generative", "exact"),
    }


def test_a_selection_is_ascending_and_names_what_it_cannot_select(
    export: Callable[..., Path], make_choice: Callable[..., Item]
) -> None:
    def mmlu(row: int, subset: str) -> Item:
        place = {"subset": subset, "item_id": f"mmlu/{subset}/test/{row}"}
        return make_choice("mmlu", 1000 + row, f"{subset} {row}?", "1", "2", key=0, **place)

    items = [mmlu(7, "anatomy"), mmlu(2, "anatomy"), mmlu(5, "virology"),
             make_choice("arc_easy", 4, "a?", "1", "2", key=0, item_id="arc_easy/test/Mercury_1"),
             make_choice("own", 0, "b?", "1", "2", key=0)]  # fmt: skip
    sources: dict[str, Any] = {"mmlu": {}, "arc_easy": {}, "own": {"preset": None}}
    folder = export(items, sources, ids_only=True) / "harness"
    assert json.loads((folder / "samples.json").read_text()) == {
        "arc_easy": [4], "mmlu_anatomy": [2, 7], "mmlu_virology": [5],
    }  # fmt: skip
    assert json.loads((folder / "unselected.json").read_text()) == {
        "own/test/0": "no task whose documents are the rows of its dataset"
    }
    assert sorted(path.name for path in folder.iterdir()) == ["samples.json", "unselected.json"]


@pytest.mark.parametrize(
    ("told_of_source", "split", "why"),
    [
        ({"dataset": "me/arc"}, "test", "read from another dataset than allenai/ai2_arc"),
        ({}, "validation", "the task is over the split test"),
        ({"file": "arc.jsonl"}, "test", "read from a file, whose order may be another"),
    ],
)
def test_rows_of_other_data_are_not_selected(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    told_of_source: dict[str, str],
    split: str,
    why: str,
) -> None:
    item = make_choice("arc_easy", 4, "a?", "1", "2", key=0, split=split)
    folder = export([item], {"arc_easy": told_of_source}, ids_only=True)
    assert json.loads((folder / "harness" / "samples.json").read_text()) == {}
    assert json.loads((folder / "harness" / "unselected.json").read_text()) == {item.item_id: why}


class Parameters:
    """Stands for a class of lighteval: keeps what it is given, by name."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self.args = args
        self.__dict__.update(named)


@pytest.fixture
def lighteval(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of lighteval that the task file uses; lighteval itself needs torch."""
    doc = type("Doc", (Parameters,), {})
    named: dict[str, dict[str, Any]] = {
        "lighteval": {},
        "lighteval.metrics": {},
        "lighteval.metrics.utils": {},
        "lighteval.tasks": {},
        "lighteval.metrics.metrics": {"Metrics": type("Metrics", (), {"loglikelihood_acc": "acc"})},
        "lighteval.metrics.metrics_sample": {"SampleLevelComputation": object},
        "lighteval.metrics.dynamic_metrics": {"LogLikelihoodAccMetric": Parameters},
        "lighteval.metrics.normalizations": {"LogProbCharNorm": Parameters},
        "lighteval.metrics.utils.metric_utils": {"SampleLevelMetric": Parameters},
        "lighteval.tasks.lighteval_task": {"LightevalTaskConfig": Parameters},
        "lighteval.tasks.requests": {
            "Doc": doc,
            "SamplingMethod": type("SamplingMethod", (), {"GENERATIVE": "generative"}),
        },
    }
    for name, content in named.items():
        module = ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "benchmark_items", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.mark.usefixtures("lighteval")
def test_the_task_file_of_lighteval_makes_documents(
    export: Callable[..., Path],
    make_choice: Callable[..., Item],
    make_open: Callable[..., Item],
    reload: Callable[[Path], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = [make_choice("arc_easy", 0, "{{a}}?", "12", "None", key=1),
             make_choice("winogrande", 0, "Ann and _ ran.", "Bea", "12", key=0),
             make_open("gsm8k", 0, "b?", "007")]  # fmt: skip
    folder = export(items, {"arc_easy": {}, "gsm8k": {}, "winogrande": {}})
    path = folder / "harness" / "lighteval_task.py"
    space: dict[str, Any] = {"__file__": str(path), "__name__": "lighteval_task"}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), space)
    monkeypatch.delitem(sys.modules, "benchmark_items")

    arc, gsm8k, winogrande = space["TASKS_TABLE"]
    assert (arc.name, arc.hf_repo, arc.hf_subset) == (
        "mixed_arc_easy", str(folder), "multiple_choice",
    )  # fmt: skip
    rows = reload(folder)
    doc = arc.prompt_function(rows["arc_easy/test/0"], arc.name)
    assert doc.args == ("Question: {{a}}?\nAnswer:", [" 12", " None"], 1)
    assert doc.specific == {"item_id": "arc_easy/test/0"}
    assert arc.prompt_function(rows["gsm8k/test/0"], arc.name) is None
    doc = gsm8k.prompt_function(rows["gsm8k/test/0"], gsm8k.name)
    assert doc.args[1:] == (["007"], [0])
    [metric] = gsm8k.metrics
    reply = Parameters(final_text=["so #### 7"])
    assert metric.sample_level_fn.compute(Parameters(choices=["007"]), reply) == 1.0
    doc = winogrande.prompt_function(rows["winogrande/test/0"], winogrande.name)
    assert doc.args == ("Ann and ", ["Bea ran.", "12 ran."], 0)
    assert [len(one.metrics) for one in (arc, winogrande)] == [2, 1]
