"""The demo, end to end: once, as an installed command, with nothing to reach but this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}


@dataclass(frozen=True)
class Run:
    folder: Path
    result: subprocess.CompletedProcess[str]
    seconds: float


def benchprism(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    known = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "HF_"))}
    code = "from benchprism.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=False, cwd=cwd, env={**known, **NO_NETWORK},
    )  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("demo")
    start = time.monotonic()
    result = benchprism("demo", "audit", cwd=folder)
    return Run(folder / "audit", result, time.monotonic() - start)


def test_it_succeeds_in_less_than_a_minute(run: Run) -> None:
    assert run.result.returncode == 0, run.result.stderr
    assert run.seconds < 60
    assert "Traceback" not in run.result.stderr


def test_it_shows_the_commands_and_their_output(run: Run) -> None:
    shown = run.result.stdout
    for command in (
        "$ benchprism items add mmlu --from data/mmlu.jsonl.gz --map id=row",
        "$ benchprism annotate --replay data/recordings.jsonl.gz --only data/recorded-items.txt",
        "$ benchprism compose criteria/reasoning-depth.yaml",
        "$ benchprism score",
        "$ benchprism report",
    ):
        assert command in shown
    assert "position_dependent       9" in shown
    assert "1319" in shown


def test_it_says_that_annotations_are_replayed(run: Run) -> None:
    assert "This is a REPLAY" in run.result.stdout
    assert "The annotations above are a replay" in run.result.stdout
    page = (run.folder / "reports" / "report.html").read_text(encoding="utf-8")
    assert "<strong>Replay.</strong>" in page


def test_it_ends_with_three_commands_for_the_user_s_own_data(run: Run) -> None:
    commands = [line for line in run.result.stdout.split("\n") if line.startswith("$ ")]
    assert [command.split()[2] for command in commands[-3:]] == ["init", "items", "annotate"]
    assert all("my-audit" in command for command in commands[-3:])


def test_the_subsets_are_as_known(run: Run) -> None:
    subsets = run.folder / "subsets"
    deep = pq.read_table(subsets / "reasoning-depth" / "items.parquet")
    assert deep.num_rows == 60
    assert min(deep["reasoning_depth"].to_pylist()) >= 2
    assert len(set(deep["benchmark"].to_pylist())) == 6
    sensitive = pq.read_table(subsets / "ethics-sensitivity" / "items.parquet")
    assert sensitive.num_rows == 42
    rows = sensitive.select(["ethical_sensitivity", "bias_and_stereotyping", "harm_potential"])
    assert all(max(row.values()) >= 1 for row in rows.to_pylist())


def test_its_folder_is_a_project_like_any_other(run: Run) -> None:
    listed = json.loads(benchprism("items", "list", "--json", cwd=run.folder).stdout)
    assert {row["benchmark"]: row["items"] for row in listed}["gsm8k"] == 1319
    scores = json.loads(benchprism("score", "--json", cwd=run.folder).stdout)
    assert {row["benchmark"] for row in scores} == {"cruxeval", "gsm8k"}
    assert all(0 < row["bqs"] < 1 for row in scores)


def test_a_folder_of_the_user_s_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    result = benchprism("demo", "mine", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.strip().count("\n") == 0
    assert "no demo made it" in result.stderr
