"""The environment in which Argilla's server runs, apart from benchprism's own.

The server pins old releases of libraries that benchprism uses too. It gets an environment of its
own in the cache folder, made at first use from a lock file with hashes and found by the hash of
that file. It is made beside its final place and renamed when it works, so that what is there is
whole; two that need it at once make it once.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ....records.errors import BenchprismError, EndpointError, InputError
from .claim import claimed_in_turn

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Given a label and a number of steps, yields what counts a step."""

_UNREACHABLE = (
    "ConnectTimeoutError", "ConnectionError", "NewConnectionError", "ProtocolError",
    "ProxyError", "ReadTimeoutError", "SSLError", "from versions: none",
)  # fmt: skip


class Say(Protocol):
    """Prints a hint."""

    def __call__(self, message: str, /) -> None:
        """Print it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an environment is made of."""

    name: str
    lock: Path
    """Requirements with hashes."""
    modules: tuple[str, ...]
    """What must be importable before the environment counts as made."""
    newest_python: tuple[int, int]

    @property
    def folder_name(self) -> str:
        """The same for the same lock file and release of Python."""
        digest = hashlib.sha256(self.lock.read_bytes()).hexdigest()[:16]
        return f"{self.name}-{digest}-python{sys.version_info[0]}.{sys.version_info[1]}"

    @property
    def packages(self) -> int:
        """How many requirements the lock file has."""
        return len(re.findall(r"^[A-Za-z0-9]", self.lock.read_text(encoding="utf-8"), re.MULTILINE))


ARGILLA = Recipe(
    name="review-server",
    lock=Path(__file__).with_name("requirements.lock"),
    modules=("argilla_server", "asyncpg", "fakeredis", "psycopg2", "rq"),
    newest_python=(3, 13),
)


def environment_python(cache: Path, recipe: Recipe, *, progress: Progress, say: Say) -> Path:
    """The Python of the environment, which is made first where it is not there.

    Raises:
        InputError: this Python is too new for the packages, or lacks its venv module.
        EndpointError: the packages cannot be had.
    """
    check_python(sys.version_info[:2], recipe)
    folder = cache / recipe.folder_name
    if _python_of(folder).exists():
        return _python_of(folder)
    lock = cache / f".{recipe.folder_name}.lock"
    with claimed_in_turn(lock, on_wait=lambda: say("Another process is making it; waiting.")):
        if not _python_of(folder).exists():
            for left in [folder, *cache.glob(f".{recipe.folder_name}.made-*")]:
                shutil.rmtree(left, ignore_errors=True)
            _make(folder, recipe, progress, say)
    return _python_of(folder)


def check_python(version: tuple[int, ...], recipe: Recipe) -> None:
    """Refuse a Python for which the packages do not exist.

    Raises:
        InputError: it is newer than the newest that they know.
    """
    if version > recipe.newest_python:
        found, newest = (".".join(map(str, v)) for v in (version, recipe.newest_python))
        raise InputError(
            f"Argilla's server cannot run on Python {found}",
            wanted=f"Python 3.11 to {newest}",
            mend=f"install benchprism under Python {newest}, or use a server made with deploy/",
        )


def _python_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def _make(folder: Path, recipe: Recipe, progress: Progress, say: Say) -> None:
    new = Path(tempfile.mkdtemp(prefix=f".{folder.name}.made-", dir=folder.parent))
    try:
        with progress("Making the review server's environment", recipe.packages) as step:
            _create(new)
            _install(_python_of(new), recipe, folder.with_name(f"{folder.name}.log"), step, say)
        say("Trying it out ...")
        _check_imports(_python_of(new), recipe)
        new.chmod(0o755)
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _create(folder: Path) -> None:
    try:
        venv.create(folder, with_pip=True, symlinks=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(
            f"no environment could be made in {folder.parent} ({error})",
            wanted="Python's venv module with its pip, and about 700 MB of room",
            mend="on Debian: apt-get install python3-venv; elsewhere install Python whole",
        ) from error


def _install(python: Path, recipe: Recipe, log: Path, step: Callable[[], None], say: Say) -> None:
    pip = [str(python), "-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    exact = ["--only-binary=:all:", "--require-hashes", "-r", str(recipe.lock)]
    running = subprocess.Popen(  # noqa: S603  the packages are pinned by hash
        [*pip, "--progress-bar=off", *exact],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with running, log.open("w", encoding="utf-8") as words:
        try:
            for line in running.stdout or ():
                words.write(line)
                if line.startswith("Collecting "):
                    step()
                elif line.startswith("Installing "):
                    say("Installing them ...")
            failed = running.wait()
        finally:
            running.kill()
    if failed:
        raise _pip_error(log)


def _check_imports(python: Path, recipe: Recipe) -> None:
    """Import what the server needs; this also compiles it, so that the first start is quick."""
    with tempfile.TemporaryDirectory() as home:
        imported = subprocess.run(  # noqa: S603
            [python, "-I", "-c", f"import {', '.join(recipe.modules)}"],
            env={**os.environ, "ARGILLA_HOME_PATH": home},
            capture_output=True,
            text=True,
            check=False,
        )
    if imported.returncode:
        raise InputError(
            f"the packages are installed but do not work ({imported.stderr.strip()[-300:]})",
            wanted=f"packages that can be imported by {python}",
            mend="try another release of Python",
        )


def _pip_error(log: Path) -> BenchprismError:
    words = log.read_text(encoding="utf-8")
    errors = [line for line in words.splitlines() if line.startswith("ERROR: ")]
    reason = (errors[-1] if errors else words.strip()[-300:]).removeprefix("ERROR: ")
    if any(sign in words for sign in _UNREACHABLE):
        return EndpointError(
            f"pip cannot reach a package index ({reason})",
            wanted="one to fetch Argilla's server from, once",
            mend=f"connect to the network or point pip at a mirror, and run again; see {log}",
        )
    return InputError(
        f"pip could not install Argilla's server ({reason})",
        wanted="the packages of the lock file",
        mend=f"see {log} for what pip says",
    )
