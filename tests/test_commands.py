"""Every command is documented: it has help and an example, and docs/commands.md is today's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.core import TyperGroup

from benchprism.cli.main import app

ROOT = Path(__file__).parent.parent


def commands(command: Any, name: str = "benchprism") -> Iterator[tuple[str, str]]:
    """Leaves of the tree, and groups that are commands as well."""
    if not isinstance(command, TyperGroup) or (command.help and "Example:" in command.help):
        yield name, command.help or ""
    for part, child in getattr(command, "commands", {}).items():
        yield from commands(child, f"{name} {part}")


@pytest.mark.parametrize(("name", "text"), [*commands(typer.main.get_command(app))])
def test_each_command_has_help_with_an_example(name: str, text: str) -> None:
    assert f"Example: {name}" in text


def test_the_reference_page_is_generated_from_the_commands() -> None:
    generate = [sys.executable, "-m", "typer", "benchprism.cli.main", "utils", "docs"]
    page = subprocess.run(
        [*generate, "--name", "benchprism", "--title", "Commands"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    written = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert written == page.stdout.strip() + "\n", "run: make docs"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from benchprism.cli.main import app\n"
        "heavy = {'datasets', 'openai', 'pandas', 'scipy', 'pyarrow', 'argilla', 'aiohttp'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
