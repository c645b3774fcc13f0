from __future__ import annotations

import stat
from pathlib import Path

import pytest

from benchprism.annotate.review.server import Access, ServerHome, find_access
from benchprism.annotate.review.server.access import write_access
from benchprism.records.errors import InputError


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    home = ServerHome(tmp_path / "review-server")
    home.make()
    return home


def test_the_projects_own_server_is_found_and_only_its_user_may_read_how(home: ServerHome) -> None:
    access = Access("http://127.0.0.1:6900", "key")
    write_access(home, access)
    assert find_access(home, {}) == access
    assert stat.S_IMODE(home.access.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.folder.stat().st_mode) == 0o700
    assert (home.folder / ".gitignore").read_text() == "*\n"


def test_the_environment_comes_first(home: ServerHome) -> None:
    write_access(home, Access("http://127.0.0.1:6900", "key"))
    given = {"ARGILLA_API_URL": "https://team.example", "ARGILLA_API_KEY": "other"}
    assert find_access(home, given) == Access("https://team.example", "other", "benchprism")
    named = {**given, "ARGILLA_WORKSPACE": "ours"}
    assert find_access(home, named).workspace == "ours"


def test_the_workspace_may_be_named_for_the_own_server_too(home: ServerHome) -> None:
    access = Access("http://127.0.0.1:6900", "key")
    write_access(home, access)
    named = find_access(home, {"ARGILLA_WORKSPACE": "ours"})
    assert named == Access("http://127.0.0.1:6900", "key", "ours")


def test_half_of_it_or_nothing_is_refused(home: ServerHome) -> None:
    with pytest.raises(InputError, match="set ARGILLA_API_KEY too"):
        find_access(home, {"ARGILLA_API_URL": "https://team.example"})
    with pytest.raises(InputError, match="set ARGILLA_API_URL too"):
        find_access(home, {"ARGILLA_API_KEY": "key"})
    with pytest.raises(InputError, match="run 'benchprism review serve'"):
        find_access(home, {})


def test_the_secret_of_log_ins_is_made_once(home: ServerHome) -> None:
    secret = home.auth_secret()
    assert len(secret) == 64
    assert home.auth_secret() == secret
    assert stat.S_IMODE((home.folder / "auth_secret").stat().st_mode) == 0o600
