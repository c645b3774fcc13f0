from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
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
