"""A project whose subset is pushed to a Hub on loopback, and pulled back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

REPO = "acme/sums"
QUESTIONS = [
    {"q": f"What is {n} + {n}?", "a": str(2 * n), "b": str(n), "key": "A"} for n in range(5)
]


@dataclass
class Project:
    """A project in the working folder, with a subset ``sums`` of a benchmark of one's own."""

    folder: Path
    run: Callable[..., Any]

    @property
    def exported(self) -> Path:
        return self.folder / "exports" / "sums"

    @property
    def subset(self) -> Path:
        return self.folder / "subsets" / "sums"

    @property
    def answers(self) -> dict[str, str]:
        """Right answers by question, of all items."""
        return {question["q"]: question["a"] for question in QUESTIONS}

    def files(self, folder: Path) -> dict[str, bytes]:
        """Every file of a folder, by its path in it."""
        paths = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    def add(self, licence: str = "MIT", key: str = "A") -> None:
        lines = "\n".join(json.dumps({**question, "key": key}) for question in QUESTIONS)
        (self.folder / "mine.jsonl").write_text(lines, encoding="utf-8")
        columns = ("--map", "question=q", "--map", "choices=a,b", "--map", "answer=key")
        added = self.run("items", "add", "mine", "--from", "mine.jsonl", *columns,
                         "--answer", "letter", "--licence", licence)  # fmt: skip
        assert added.code == 0

    def compose(self, size: int) -> None:
        text = f"name: sums\nsample: {{size: {size}}}\n"
        (self.folder / "criteria" / "sums.yaml").write_text(text, encoding="utf-8")
        assert self.run("compose", "criteria/sums.yaml").code == 0

    def push(self, *options: str, repo: str = REPO) -> Any:
        return self.run("export", "sums", "--to", "hub", repo, *options)

    def pushed(self, *options: str) -> Any:
        ran = self.push("--json", *options)
        assert ran.code == 0, ran.err
        return ran.data["hub"]

    def pull(self, *options: str, repo: str = REPO) -> Any:
        return self.run("compose", "--from-hub", repo, *options)


@pytest.fixture
def hub(local_hub: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The Hub, which the environment names, with a token that may write."""
    for name in [name for name in os.environ if name.startswith(("HF_", "HUGGING"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", local_hub.url)
    monkeypatch.setenv("HF_TOKEN", "hf_writer")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nowhere")
    return local_hub


@pytest.fixture
def empty_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, benchprism: Callable[..., Any], hub: Any
) -> Callable[[str], Project]:
    """Make a project without items, and work in it."""
    assert hub.url

    def make(name: str) -> Project:
        (tmp_path / name / "criteria").mkdir(parents=True)
        (tmp_path / name / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
        monkeypatch.chdir(tmp_path / name)
        return Project(tmp_path / name, benchprism)

    return make


@pytest.fixture
def project(empty_project: Callable[[str], Project]) -> Project:
    """A project with a subset of three items; nothing is on the Hub yet."""
    made = empty_project("one")
    made.add()
    made.compose(3)
    return made
