"""Datasets made over the API, and a PostgreSQL of the tests' own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LABELS = ("a", "b", "c")
LEVELS = (0, 1, 2, 3)
TOPICS = ("x", "y", "z")


def _options(values: tuple[str, ...]) -> list[dict[str, str]]:
    return [{"value": value, "text": value} for value in values]


_FIELDS = [
    {"name": "text", "title": "Text", "required": True, "settings": {"type": "text"}},
    {"name": "note", "title": "Note", "required": False, "settings": {"type": "text"}},
    {"name": "chat", "title": "Chat", "required": False, "settings": {"type": "chat"}},
]
_QUESTIONS = [
    ("label", {"type": "label_selection", "options": _options(LABELS)}),
    ("level", {"type": "rating", "options": [{"value": level} for level in LEVELS]}),
    ("topics", {"type": "multi_label_selection", "options": _options(TOPICS)}),
    ("comment", {"type": "text"}),
]
_METADATA = [
    ("benchmark", {"type": "terms"}),
    ("length", {"type": "integer"}),
    ("disagreement", {"type": "float"}),
]


@pytest.fixture(scope="session")
def make_dataset() -> Callable[..., str]:
    """Make and publish a dataset with every kind of question; returns its id."""

    def make(owner: Any, name: str, *, min_submitted: int = 1) -> str:
        workspace = next(w["id"] for w in owner("GET", "me/workspaces")["items"])
        made = owner(
            "POST",
            "datasets",
            {
                "name": name,
                "workspace_id": workspace,
                "allow_extra_metadata": False,
                "distribution": {"strategy": "overlap", "min_submitted": min_submitted},
            },
        )
        base = f"datasets/{made['id']}"
        for field in _FIELDS:
            owner("POST", f"{base}/fields", field)
        for question, settings in _QUESTIONS:
            description = {"name": question, "title": question, "settings": settings}
            owner("POST", f"{base}/questions", {**description, "required": question == "label"})
        for prop, settings in _METADATA:
            description = {"name": prop, "title": prop, "settings": settings}
            owner(
                "POST",
                f"{base}/metadata-properties",
                {**description, "visible_for_annotators": True},
            )
        owner("POST", f"{base}/vectors-settings", {"name": "v", "title": "v", "dimensions": 3})
        owner("PUT", f"{base}/publish")
        return str(made["id"])

    return make


@pytest.fixture(scope="session")
def question_ids() -> Callable[[Any, str], dict[str, str]]:
    """The ids of a dataset's questions by name; suggestions are given by them."""

    def ids(owner: Any, dataset: str) -> dict[str, str]:
        questions = owner("GET", f"datasets/{dataset}/questions")["items"]
        return {question["name"]: question["id"] for question in questions}

    return ids


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of an empty database on a PostgreSQL server of the tests' own."""
    programs = _postgresql_programs()
    if programs is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
        pytest.skip("PostgreSQL is not installed")
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)
        port = _free_port()
        settings = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"

        def run(program: str, *arguments: str) -> None:
            subprocess.run(
                [programs / program, *arguments],
                user=user, cwd=folder, check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip

        data = str(folder / "data")
        run("initdb", "-D", data, "-A", "trust", "-U", "review", "-E", "UTF8")
        run("pg_ctl", "-D", data, "-o", settings, "-l", str(folder / "log"), "-w", "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "review", "review")
            yield f"postgresql://review@127.0.0.1:{port}/review"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")


def _postgresql_programs() -> Path | None:
    found = shutil.which("initdb")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    newest = versions[-1] if versions else None
    program = Path(found).resolve() if found else newest
    return program.parent if program else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def wait_until() -> Callable[[Callable[[], bool]], None]:
    """Wait until something holds, and fail when it does not within a minute."""

    def wait(holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < deadline, "it still does not hold after a minute"
            time.sleep(0.05)

    return wait
