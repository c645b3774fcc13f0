"""One real review server for all tests that need one, and a Hub for each that needs one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

BENCHPRISM = Path(sys.executable).with_name("benchprism")
_COMMANDS: list[subprocess.Popen[bytes]] = []
"""Kept, since a process that is forgotten while it runs is warned of."""
_LONGEST_RUN = 3600
"""Seconds after which a server ends of itself, should its tests have been killed."""


@dataclass(frozen=True)
class Argilla:
    """An Argilla server, as one user sees it over HTTP."""

    url: str
    headers: dict[str, str]

    def __call__(self, method: str, path: str, data: Any = None) -> Any:
        """Send JSON to the API and read its answer; a refusal raises ``HTTPError``."""
        body = None if data is None else json.dumps(data).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def refusal(self, method: str, path: str, data: Any = None) -> int:
        """The HTTP status with which a request is refused."""
        with pytest.raises(urllib.error.HTTPError) as refused:
            self(method, path, data)
        return refused.value.code


@dataclass(frozen=True)
class ReviewServer:
    """A running ``benchprism review serve``."""

    home: Path
    url: str
    pid: int
    passwords: dict[str, str]
    """Of the users that it made at its first start."""

    @property
    def access(self) -> dict[str, str]:
        """What push and pull find: ``api_url``, ``api_key``, ``workspace``."""
        found: dict[str, str] = json.loads((self.home / "access.json").read_text())
        return found

    @property
    def owner(self) -> Argilla:
        """The server as its owner sees it."""
        return Argilla(self.url, {"X-Argilla-Api-Key": self.access["api_key"]})

    def log_in(self, name: str, password: str | None = None) -> Argilla:
        """The server as a user who logs in with a password sees it."""
        form = f"username={name}&password={password or self.passwords[name]}".encode()
        with urllib.request.urlopen(f"{self.url}/api/v1/token", form, timeout=60) as answer:
            token = json.load(answer)["access_token"]
        return Argilla(self.url, {"Authorization": f"Bearer {token}"})


@dataclass(frozen=True)
class Started:
    """A server together with the command that runs it."""

    server: ReviewServer
    command: subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def start_review_server() -> Callable[..., Started]:
    """Start ``benchprism review serve`` on a home, with more options, and wait until it serves."""
    return _start


@pytest.fixture(scope="session")
def review_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewServer]:
    """The server that all tests share, also those of other test processes.

    Its users ``alice``, ``bob`` and ``carol`` are annotators.
    """
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    home = shared / "review-server"
    with _locked(shared) as uses:
        if not uses["now"]:
            users = [f"--user={name}" for name in ("alice", "bob", "carol")]
            server = _start(home, *users).server
            uses["passwords"] = uses.get("passwords") or server.passwords
            uses |= {"url": server.url, "pid": server.pid}
        uses["now"] += 1
        server = ReviewServer(home, uses["url"], uses["pid"], uses["passwords"])
    yield server
    with _locked(shared) as uses:
        uses["now"] -= 1
        if not uses["now"]:
            subprocess.run([BENCHPRISM, "review", "serve", "--stop", "--home", home], check=True)


@contextmanager
def _locked(folder: Path) -> Iterator[dict[str, Any]]:
    """How many test processes use the shared server; only one at a time may look and change."""
    with (folder / "review-server-uses.json").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        uses = json.loads(file.read() or '{"now": 0}')
        yield uses
        file.seek(0)
        file.truncate()
        json.dump(uses, file)


def _start(home: Path, *options: str, **variables: str) -> Started:
    guard = ["timeout", str(_LONGEST_RUN)] if shutil.which("timeout") else []
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    out, words = home / "out.json", home / "err.txt"
    with out.open("wb") as data, words.open("wb") as said:
        command = subprocess.Popen(
            [*guard, BENCHPRISM, "review", "serve", "--json", "--home", home, "--port=0", *options],
            stdin=subprocess.DEVNULL,
            stdout=data,
            stderr=said,
            env={**os.environ, **variables},
        )
    _COMMANDS.append(command)
    while command.poll() is None:
        try:
            told = json.loads(out.read_text())
        except ValueError:
            _wait_for_change(command)
            continue
        passwords = {account["username"]: account["password"] for account in told["accounts"]}
        return Started(ReviewServer(home, told["url"], told["pid"], passwords), command)
    raise AssertionError(f"benchprism review serve ended: {words.read_text()}")


def _wait_for_change(command: subprocess.Popen[bytes]) -> None:
    try:
        command.wait(0.05)
    except subprocess.TimeoutExpired:
        return


@pytest.fixture
def local_hub() -> Iterator[Any]:
    """A Hugging Face Hub on loopback: ``hub_server.LocalHub``."""
    from huggingface_hub import close_session

    spec = spec_from_file_location("hub_server", Path(__file__).with_name("hub_server.py"))
    assert spec is not None
    assert spec.loader is not None
    server = module_from_spec(spec)
    sys.modules[spec.name] = server  # dataclasses look their module up
    spec.loader.exec_module(server)
    with server.running() as hub:
        yield hub
        close_session()
