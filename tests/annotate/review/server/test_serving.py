"""The command on a home of its own: started, killed, started again, stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

BENCHPRISM = Path(sys.executable).with_name("benchprism")
RECORDS = 60


def serve(*options: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run ``benchprism review serve`` where it is expected to end by itself."""
    return subprocess.run(
        [BENCHPRISM, "review", "serve", *map(str, options)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
        env={**os.environ, **variables},
    )  # fmt: skip


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children(pid: int) -> list[int]:
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


@dataclass
class Reviewer:
    """Submits one response after another, and remembers those that were acknowledged."""

    user: Any
    records: list[str]
    acknowledged: dict[str, str] = field(default_factory=dict)

    def work(self, enough: threading.Event) -> None:
        for number, record in enumerate(self.records):
            label = "abc"[number % 3]
            values = {"label": {"value": label}}
            try:
                self.user(
                    "POST", f"records/{record}/responses", {"status": "submitted", "values": values}
                )
            except (urllib.error.URLError, HTTPException, OSError):
                return
            self.acknowledged[record] = label
            if number == RECORDS // 3:
                enough.set()


@dataclass
class Story:
    """What is known of the server when it is killed."""

    home: Path
    start: Callable[..., Any]
    wait_until: Callable[[Callable[[], bool]], None]
    started: Any
    dataset: str
    reviewers: list[Reviewer]


@pytest.fixture
def story(
    tmp_path: Path,
    start_review_server: Callable[..., Any],
    make_dataset: Callable[..., str],
    wait_until: Callable[[Callable[[], bool]], None],
) -> Story:
    """A server with two reviewers who are logged in."""
    home = tmp_path / "home"
    started = start_review_server(home, "--user=alice", "--user=bob")
    server = started.server
    dataset = make_dataset(server.owner, "killed", min_submitted=2)
    items = [{"external_id": str(n), "fields": {"text": f"Item {n}"}} for n in range(RECORDS)]
    made = server.owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})
    records = [record["id"] for record in made["items"]]
    reviewers = [Reviewer(server.log_in(name), records) for name in ("alice", "bob")]
    return Story(home, start_review_server, wait_until, started, dataset, reviewers)


def test_a_server_lives_through_a_kill_and_ends_when_told(story: Story) -> None:
    a_second_start_says_that_it_runs_already(story)
    status_tells_what_runs(story)
    a_taken_port_is_one_sentence(story)
    sigkill_loses_no_acknowledged_response(story)
    a_restart_keeps_log_ins_and_passwords(story)
    secrets_lie_where_only_their_user_may_read_them(story)
    stop_ends_it_and_nothing_is_left(story)
    the_server_ends_with_the_command_that_runs_it(story)
    an_unknown_user_gets_no_new_password(story)


def a_second_start_says_that_it_runs_already(story: Story) -> None:
    second = serve("--home", story.home, "--port=0")
    assert second.returncode == 2
    server = story.started.server
    assert f"running already at {server.url} (process {server.pid})" in second.stderr
    assert second.stdout == ""
    assert "use it, or stop it" in second.stderr
    for option in ("--user=carol", "--new-password=alice"):
        refused = serve("--home", story.home, option)
        assert refused.returncode == 2
        assert f"running already at {server.url}" in refused.stderr
        assert "--stop', then run this command again: all else is kept" in refused.stderr
        assert "Starting" not in refused.stderr


def status_tells_what_runs(story: Story) -> None:
    told = serve("--status", "--json", "--home", story.home)
    assert told.returncode == 0
    status = json.loads(told.stdout)
    server = story.started.server
    assert (status["state"], status["url"], status["pid"]) == ("running", server.url, server.pid)
    assert status["version"] == "2.8.0"
    assert status["users"] == {"owner": "owner", "alice": "annotator", "bob": "annotator"}
    killed = {"name": "killed", "workspace": "benchprism", "status": "ready", "records": RECORDS}
    assert status["datasets"] == [{**killed, "completed": 0}]
    assert server.passwords["alice"] not in told.stdout
    assert "killed" in serve("--status", "--home", story.home).stdout


def a_taken_port_is_one_sentence(story: Story) -> None:
    port = story.started.server.url.split(":")[-1]
    refused = serve("--home", story.home.with_name("other"), "--port", port)
    assert refused.returncode == 2
    assert f"port {port}, cannot be served" in refused.stderr
    assert "Traceback" not in refused.stderr


def sigkill_loses_no_acknowledged_response(story: Story) -> None:
    enough = threading.Event()
    work = [threading.Thread(target=r.work, args=(enough,)) for r in story.reviewers]
    server = story.started.server
    [worker] = children(server.pid)
    for thread in work:
        thread.start()
    assert enough.wait(60)
    os.kill(server.pid, signal.SIGKILL)
    for thread in work:
        thread.join()
    assert story.started.command.wait(30) == 2
    assert "ended by itself (signal 9)" in (story.home / "err.txt").read_text()
    assert serve("--status", "--home", story.home).returncode == 1
    story.wait_until(lambda: not is_alive(worker))

    story.started = story.start(story.home, BENCHPRISM_REVIEW_PASSWORD="an own password")
    owner = story.started.server.owner
    kept: dict[str, dict[str, str]] = {}
    found = owner("GET", f"datasets/{story.dataset}/records?include=responses&limit=1000")
    for record in found["items"]:
        for response in record["responses"]:
            answers = kept.setdefault(response["user_id"], {})
            answers[record["id"]] = response["values"]["label"]["value"]
        both = len(record["responses"]) == 2
        assert record["status"] == ("completed" if both else "pending")
    users = {user["username"]: user["id"] for user in owner("GET", "users")["items"]}
    for name, reviewer in zip(("alice", "bob"), story.reviewers, strict=True):
        assert len(reviewer.acknowledged) < RECORDS
        assert reviewer.acknowledged.items() <= kept[users[name]].items()
        assert len(kept[users[name]]) <= len(reviewer.acknowledged) + 1


def a_restart_keeps_log_ins_and_passwords(story: Story) -> None:
    server, old = story.started.server, story.reviewers[0].user
    assert server.passwords == {}
    still = type(old)(server.url, old.headers)
    assert still("GET", "me")["username"] == "alice"
    assert server.log_in("owner", "an own password")("GET", "me")["role"] == "owner"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.log_in("owner", "another password")


def secrets_lie_where_only_their_user_may_read_them(story: Story) -> None:
    for name in ("access.json", "auth_secret", "server.json", "argilla.db"):
        assert (story.home / name).stat().st_mode & 0o077 == 0
    assert story.home.stat().st_mode & 0o077 == 0
    log = (story.home / "server.log").read_text()
    assert story.started.server.access["api_key"] not in log
    assert "an own password" not in log


def stop_ends_it_and_nothing_is_left(story: Story) -> None:
    server = story.started.server
    [worker] = children(server.pid)
    stopped = serve("--stop", "--home", story.home)
    assert stopped.returncode == 0
    assert story.started.command.wait(30) == 0
    story.wait_until(lambda: not is_alive(server.pid) and not is_alive(worker))
    assert json.loads(serve("--status", "--json", "--home", story.home).stdout) == {
        "state": "stopped",
        "home": str(story.home),
    }
    again = serve("--stop", "--home", story.home)
    assert again.returncode == 1
    assert "No review server runs" in again.stderr


def the_server_ends_with_the_command_that_runs_it(story: Story) -> None:
    started = story.start(story.home, "--user=carol", "--new-password=alice")
    server = started.server
    assert {*server.passwords} == {"carol", "alice"}
    assert server.log_in("alice")("GET", "me")["username"] == "alice"
    family = [server.pid, *children(server.pid)]
    ps = subprocess.run(
        ["ps", "-o", "ppid=", "-p", str(server.pid)], capture_output=True, check=True
    )
    os.kill(int(ps.stdout), signal.SIGKILL)
    started.command.wait()
    story.wait_until(lambda: not any(map(is_alive, family)))
    assert serve("--status", "--home", story.home).returncode == 1


def an_unknown_user_gets_no_new_password(story: Story) -> None:
    refused = serve("--home", story.home, "--port=0", "--new-password=nobody")
    assert refused.returncode == 2
    assert "no user is called 'nobody'; wanted a user of this server" in refused.stderr


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1"])
def test_an_address_that_others_can_reach_demands_a_password(tmp_path: Path, address: str) -> None:
    refused = serve("--home", tmp_path, "--host", address, BENCHPRISM_REVIEW_PASSWORD="")
    assert refused.returncode == 2
    assert "BENCHPRISM_REVIEW_PASSWORD" in refused.stderr
    assert [*tmp_path.iterdir()] == []


def test_a_database_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    url = "postgresql://review:hidden@127.0.0.1:9/review"
    refused = serve("--home", tmp_path / "home", "--port=0", ARGILLA_DATABASE_URL=url)
    assert refused.returncode == 2
    assert "Argilla's server did not start (" in refused.stderr
    assert "server.log" in refused.stderr
    assert "hidden" not in refused.stderr
    assert "Traceback" not in refused.stderr
