from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = [
    {"question": f"{i} + {i}?", "subject": subject, "choices": ["0", "2", "None"], "answer": i}
    for subject in ("addition", "sums")
    for i in range(2)
]
CARD = b"""---
configs:
- config_name: all
  data_files:
  - {split: test, path: all/test-*}
  - {split: dev, path: all/dev-*}
- config_name: sums
  data_files:
  - {split: test, path: sums/test-*}
---
"""
READ = """
import json, sys
from benchprism.records.errors import InputError
from benchprism.records.items.hub import read_hub

for dataset, configs, split, revision in json.loads(sys.argv[1]):
    try:
        for one in read_hub(dataset, configs, split=split, revision=revision):
            print(json.dumps([one.name, one.revision, one.subset, one.split, len(one.rows)]
                             + ["gated"] * one.gated))
    except InputError as error:
        print(json.dumps(str(error)))
"""
UNREACHABLE = "http://127.0.0.1:9"


class Hub(Protocol):
    url: str

    def put(self, name: str, files: dict[str, bytes], **options: bool) -> str: ...


Start = Callable[..., "subprocess.CompletedProcess[str]"]


def parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


FILES = {
    "README.md": CARD,
    "all/test-0.parquet": parquet(ROWS),
    "all/dev-0.parquet": parquet(ROWS[:1]),
    "sums/test-0.parquet": parquet(ROWS[2:]),
}


@pytest.fixture
def start(hub: Hub, tmp_path: Path) -> Start:
    """Start a program in a project: the libraries read their environment when imported."""
    (tmp_path / "benchprism.yaml").write_text("project: hub\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    environment |= {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "cache"), "NO_PROXY": "*"}
    environment |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            check=False,
            cwd=tmp_path,
            env=environment | more,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def read(start: Start, *requests: tuple[Any, ...], **environment: str) -> list[Any]:
    done = start("-c", READ, json.dumps(requests), **environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_preset_is_read_at_its_commit_and_again_from_the_cache(hub: Hub, start: Start) -> None:
    commit = hub.put("cais/mmlu", FILES)
    command = (str(Path(sys.executable).with_name("benchprism")), "items", "add", "mmlu", "--json")
    first = start(*command)
    assert first.returncode == 0, first.stderr
    summary = json.loads(first.stdout)
    assert (summary["items"], summary["subsets"], summary["split"]) == (4, 2, "test")
    assert (summary["dataset"], summary["config"]) == ("cais/mmlu", "all")
    assert summary["revision"] == commit
    for offline in ({"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": UNREACHABLE}):
        again = start(*command, **offline)
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout) == summary
        assert "Replaced" in again.stderr


def test_what_the_cache_has_is_read_offline_and_nothing_else(hub: Hub, start: Start) -> None:
    commit = hub.put("cais/mmlu", FILES)
    both = ["all", "sums"]
    online = read(start, ("cais/mmlu", both, "test", None), ("cais/mmlu", ["all"], "dev", commit))
    assert online == [
        ["cais/mmlu (all)", commit, "all", "test", 4],
        ["cais/mmlu (sums)", commit, "sums", "test", 2],
        ["cais/mmlu (all)", commit, "", "dev", 1],
    ]
    requests = [
        ("cais/mmlu", both, "test", None),
        ("cais/mmlu", ["all"], "dev", commit),
        ("cais/mmlu", ["all"], "test", "0" * 40),
        ("cais/mmlu", ["other"], "test", None),
        ("me/other", [None], None, None),
    ]
    for offline in ({"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": UNREACHABLE}):
        *found, revision, config, dataset = read(start, *requests, **offline)
        assert found == online
        assert f"the cache has 'cais/mmlu' at {commit}, not '0000" in revision
        assert "the Hub cannot be reached, and 'cais/mmlu' (other) is not in the cache" in config
        assert "the Hub cannot be reached, and 'me/other' is not in the cache" in dataset
        assert "or read a local copy with --from FILE" in dataset


def test_each_obstacle_has_its_own_sentence_and_next_step(hub: Hub, start: Start) -> None:
    hub.put("me/open", FILES)
    hub.put("me/private", FILES, private=True)
    hub.put("me/gated", FILES, gated=True)
    hub.put("me/script", {"README.md": b"", "script.py": b"import datasets"})
    cases = {
        ("me/gated", "all", "test", None): "accept its terms on https://huggingface.co/datasets/",
        ("me/private", "all", "test", None): "'me/private' does not exist, or is private; wanted",
        ("me/nothing", "all", "test", None): "set HF_TOKEN to a token that may read it",
        ("me/open", "al", "test", None): "no configuration 'al'; wanted one of all, sums; choose",
        ("me/open", None, "test", None): "several configurations; wanted one of all, sums; choose",
        ("me/open", "all", "train", None): "no split 'train'; wanted one of test, dev; choose one",
        ("me/open", "all", None, None): "several splits; wanted one of test, dev; choose one with",
        ("me/open", "all", "test", "v9"): "no revision 'v9'; wanted a branch, a tag or a commit",
        ("a/b/c", "all", "test", None): "'a/b/c' is not a repository's name; wanted OWNER/NAME",
        (
            "me/script",
            None,
            "test",
            None,
        ): "cannot be read (Dataset scripts are no longer supported",
    }
    requests = [(dataset, [config], *rest) for dataset, config, *rest in cases]
    for sentence, found in zip(cases.values(), read(start, *requests), strict=True):
        assert sentence in found
        assert "\n" not in found
    requests = [("me/private", ["sums"], None, None), ("me/gated", ["sums"], None, None)]
    found = read(start, *requests, HF_TOKEN="hf_reader")
    assert [one[3:] for one in found] == [["test", 2], ["test", 2, "gated"]]
