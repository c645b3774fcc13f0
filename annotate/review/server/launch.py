"""Start Argilla's server in its own environment, and end it."""

from __future__ import annotations

import datetime
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....records.errors import BenchprismError, EndpointError, InputError
from .access import WORKSPACE, Access, write_access
from .claim import claimed
from .home import ServerHome
from .options import ServeOptions
from .running import Running, is_taken, running, write_note

OWNER = "owner"
_BOOT = Path(__file__).with_name("hosted") / "boot.py"
_SECONDS_TO_END = 20


@dataclass(frozen=True, slots=True)
class Account:
    """A user whose password is new. It is shown once: the server keeps only its hash."""

    username: str
    role: str
    password: str | None
    """None when it was given: whoever gave it knows it."""
    api_key: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started here."""

    running: Running
    accounts: tuple[Account, ...]
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Wait until somebody stops it.

        Raises:
            EndpointError: it ended in another way.
        """
        code = self.process.wait()
        if code:
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise EndpointError(
                f"the review server ended by itself ({how})",
                wanted="it to run until it is stopped",
                mend="start it again: every submitted response is saved",
            )


@contextmanager
def review_server(
    home: ServerHome, options: ServeOptions, python: Path, environment: Mapping[str, str]
) -> Iterator[Server]:
    """Run Argilla's server on a home while the block runs.

    The server ends with the block, and also with this process, however that ends.

    Args:
        home: its folder; made where it is missing.
        options: how it is to run.
        python: of an environment that holds Argilla's server.
        environment: the variables it starts from.

    Raises:
        InputError: a server runs on this home already, or something that is given cannot be used.
        EndpointError: Argilla does not start.
    """
    options.check()
    home.make()
    with claimed(home.claim) as claim, tempfile.TemporaryDirectory(prefix="benchprism-") as own:
        if claim is None:
            raise _taken(home, options)
        home.note.unlink(missing_ok=True)
        home.empty_temporary()
        queue = Path(own) / "queue"
        with home.log.open("wb") as log:
            process = subprocess.Popen(  # noqa: S603
                [python, "-I", _BOOT, "main"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=home.folder,
                env=_variables(home, options, environment, queue),
                pass_fds=[claim],
                start_new_session=True,
            )
        try:
            yield _started(process, home, options, _orders(options, queue))
        finally:
            _end(process)
            home.note.unlink(missing_ok=True)
            home.empty_temporary()


def _variables(
    home: ServerHome, options: ServeOptions, environment: Mapping[str, str], queue: Path
) -> dict[str, str]:
    variables = {k: v for k, v in environment.items() if not k.startswith("PYTHON")}
    variables |= {
        "ARGILLA_HOME_PATH": str(home.folder),
        "ARGILLA_AUTH_SECRET_KEY": home.auth_secret(),
        "ARGILLA_SEARCH_ENGINE": "database",
        "ARGILLA_DATABASE_SQLITE_TIMEOUT": "30",
        "ARGILLA_CORS_ORIGINS": "[]",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "TMPDIR": str(home.temporary),
    }
    variables.pop("ARGILLA_DATABASE_URL", None)
    if options.database_url:
        variables["ARGILLA_DATABASE_URL"] = options.database_url
    variables["ARGILLA_REDIS_URL"] = options.redis_url or f"unix://{queue}"
    return variables


def _orders(options: ServeOptions, queue: Path) -> dict[str, Any]:
    accounts = {
        "workspace": WORKSPACE,
        "owner": OWNER,
        "owner_password": options.owner_password,
        "annotators": options.users,
        "new_passwords": options.new_passwords,
    }
    return {
        "host": options.host,
        "port": options.port,
        "queue": None if options.redis_url else str(queue),
        "accounts": accounts,
    }


def _started(
    process: subprocess.Popen[bytes],
    home: ServerHome,
    options: ServeOptions,
    orders: Mapping[str, Any],
) -> Server:
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018  pipes
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(orders).encode() + b"\n")
        process.stdin.flush()
    answer = json.loads(process.stdout.readline() or '{"failed": "start", "reason": ""}')
    if "failed" in answer:
        raise _failure(answer["failed"], answer["reason"], home, options)
    url = f"http://{_reachable(options.host)}:{answer['ready']}"
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    server = Running(process.pid, url, now)
    write_access(home, Access(url, answer["api_key"]))
    write_note(home, server)
    return Server(server, tuple(Account(**account) for account in answer["accounts"]), process)


def _reachable(host: str) -> str:
    """An address by which this machine reaches a server bound to ``host``."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  read, not bound
    return f"[{host}]" if ":" in host else host


def _end(process: subprocess.Popen[bytes]) -> None:
    with process:
        process.terminate()
        try:
            process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()


def require_free(home: ServerHome, options: ServeOptions) -> None:
    """Refuse to start a second server on a home, before anything is made ready for it.

    Raises:
        InputError: one runs there.
    """
    if is_taken(home):
        raise _taken(home, options)


def _taken(home: ServerHome, options: ServeOptions) -> InputError:
    server = running(home)
    where = f"at {server.url} (process {server.pid})" if server else "and is about to be ready"
    stop = "stop it with 'benchprism review serve --stop'"
    changes = bool(options.users or options.new_passwords or options.owner_password)
    return InputError(
        f"the review server of {home.folder} is running already {where}",
        wanted="users and passwords to be made when it starts" if changes else "one for a home",
        mend=f"{stop}, then run this command again: all else is kept"
        if changes
        else f"use it, or {stop}",
    )


def _failure(kind: str, reason: str, home: ServerHome, options: ServeOptions) -> BenchprismError:
    if kind == "bind":
        return InputError(
            f"the address {options.host}, port {options.port}, cannot be served ({reason})",
            wanted="a free port of an address of this machine",
            mend="stop what uses it, or choose another with --port (0 takes a free one)",
        )
    if kind == "user":
        return InputError(
            f"no user is called {reason!r}",
            wanted="a user of this server",
            mend=f"make it with --user {reason}",
        )
    return EndpointError(
        f"Argilla's server did not start ({reason or 'it ended'})",
        wanted="it to be ready",
        mend=f"see {home.log}",
    )
