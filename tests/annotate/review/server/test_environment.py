from __future__ import annotations

import hashlib
import re
import subprocess
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchprism.annotate.review.server import ARGILLA, environment_python
from benchprism.annotate.review.server.environment import Recipe, check_python
from benchprism.records.errors import EndpointError, InputError


@dataclass
class Told:
    """What a person would have seen."""

    labels: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    @contextmanager
    def progress(self, label: str, total: int) -> Iterator[Callable[[], None]]:
        self.labels.append(f"{label} ({total})")
        yield lambda: None

    def say(self, message: str) -> None:
        self.words.append(message)


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """An environment with one small package, in a wheel made here."""
    wheel = tmp_path / "tinything-1.0-py3-none-any.whl"
    about = "tinything-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as parts:
        parts.writestr("tinything.py", "ANSWER = 42\n")
        parts.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tinything\nVersion: 1.0")
        parts.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        parts.writestr(f"{about}/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = tmp_path / "tiny.lock"
    lock.write_text(f"tinything==1.0 \\\n    --hash=sha256:{digest}\n")
    return Recipe("tiny", lock, ("tinything",), newest_python=(99, 0))


def test_two_that_need_it_at_once_make_it_once_and_over_what_a_crash_left(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    cache = tmp_path / "cache"
    half = cache / f".{recipe.folder_name}.made-abc"
    half.mkdir(parents=True)
    (cache / recipe.folder_name / "bin").mkdir(parents=True)
    (cache / recipe.folder_name / "bin" / "python").symlink_to(tmp_path / "python-that-is-gone")
    told = Told()

    def make(_: int) -> Path:
        return environment_python(cache, recipe, progress=told.progress, say=told.say)

    with ThreadPoolExecutor(2) as two:
        first, second = two.map(make, range(2))
    assert first == second
    assert told.labels == ["Making the review server's environment (1)"]
    assert "Another process is making it; waiting." in told.words
    code = [str(first), "-I", "-c", "import tinything; print(tinything.ANSWER)"]
    assert subprocess.check_output(code, text=True) == "42\n"
    assert not half.exists()
    assert make(0) == first
    assert len(told.labels) == 1


def test_an_index_that_cannot_be_reached_is_one_sentence(
    tmp_path: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    cache, told = tmp_path / "cache", Told()
    with pytest.raises(EndpointError, match=r"pip cannot reach a package index .* connect to the"):
        environment_python(cache, recipe, progress=told.progress, say=told.say)
    assert [path.name for path in cache.iterdir() if path.is_dir()] == []


def test_a_python_that_is_too_new_is_refused() -> None:
    check_python((3, 13), ARGILLA)
    with pytest.raises(InputError, match=r"cannot run on Python 3\.14; wanted .* 3\.13"):
        check_python((3, 14), ARGILLA)


def test_the_shipped_lock_pins_everything_by_hash_and_names_no_index() -> None:
    text = ARGILLA.lock.read_text()
    requirements = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert len(requirements) == ARGILLA.packages > 80
    assert all("==" in part and "--hash=sha256:" in part for part in requirements)
    assert any(part.startswith("argilla-server==2.8.0") for part in requirements)
    assert "://" not in text
