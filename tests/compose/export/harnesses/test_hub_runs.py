"""A repository of an export, run by its id; its results come back to the items."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from benchprism.records.items.record import Item


@pytest.fixture
def judged(nasty: list[Item]) -> list[Item]:
    """Items that are judged without code: each has a key, and its rule wants no more."""
    return [item for item in nasty if item.answer_text is not None and item.benchmark != "eq_bench"]


@pytest.fixture
def hub_variables(local_hub: Any, tmp_path: Path) -> dict[str, str]:
    """The variables by which a harness reaches the Hub on loopback."""
    return {
        "HF_ENDPOINT": local_hub.url, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "HF_TOKEN": "",
    }  # fmt: skip


def put(hub: Any, folder: Path) -> None:
    paths = (path for path in folder.rglob("*") if path.is_file())
    hub.put("acme/mixed", {str(path.relative_to(folder)): path.read_bytes() for path in paths})


def test_inspect_runs_the_repository_by_its_id(
    harness: Any,
    exported: Any,
    judged: list[Item],
    local_hub: Any,
    hub_variables: dict[str, str],
    tmp_path: Path,
    add_results: Callable[..., dict[str, Any]],
) -> None:
    put(local_hub, exported(judged).folder)
    harness(
        "-m", "inspect_ai", "eval", "hf/acme/mixed", "--model", "mockllm/model",
        "--log-dir", tmp_path / "logs", "--display", "none", variables=hub_variables,
    )  # fmt: skip

    report = add_results(tmp_path / "logs", judged)
    counts = report["benchmarks"]
    assert sum(row["joined"] for row in counts) == sum(row["read"] for row in counts) == len(judged)
    assert {how for found in report["found_by"].values() for how in found} == {"id"}


def test_lm_eval_takes_the_items_from_the_repository(
    harness: Any,
    exported: Any,
    judged: list[Item],
    local_hub: Any,
    hub_variables: dict[str, str],
    tmp_path: Path,
    add_results: Callable[..., dict[str, Any]],
) -> None:
    made = exported(judged)
    put(local_hub, made.folder)
    copytree(made.folder / "harness", tmp_path / "elsewhere" / "harness")
    harness(
        "-m", "lm_eval", "run", "--model", "dummy", "--model_args", "model=acme/dummy",
        "--tasks", "mixed", "--include_path", tmp_path / "elsewhere" / "harness",
        "--metadata", json.dumps({"repository": "acme/mixed"}),
        "--output_path", tmp_path / "logs", "--log_samples", variables=hub_variables,
    )  # fmt: skip

    counts = add_results(tmp_path / "logs", judged)["benchmarks"]
    assert sum(row["joined"] for row in counts) == sum(row["read"] for row in counts) == len(judged)
