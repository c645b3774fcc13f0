from __future__ import annotations

import pytest

from benchprism.annotate.review.server import ServeOptions
from benchprism.records.errors import InputError


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_a_server_for_this_machine_needs_no_password(host: str) -> None:
    ServeOptions(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_a_server_that_others_can_reach_needs_one(host: str) -> None:
    with pytest.raises(InputError, match="BENCHPRISM_REVIEW_PASSWORD"):
        ServeOptions(host=host).check()
    ServeOptions(host=host, owner_password="long enough").check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ServeOptions(owner_password="short"), "5 bytes; wanted 8 to 72"),
        (ServeOptions(owner_password="ä" * 40), "80 bytes; wanted 8 to 72"),
        (ServeOptions(users=("alice", "bob smith")), "username 'bob smith'"),
        (ServeOptions(users=("",)), "username ''"),
        (ServeOptions(users=("-x",)), "username '-x'"),
        (ServeOptions(database_url="mysql://u:secret@h/d"), "kind 'mysql'"),
    ],
)
def test_what_cannot_work_is_refused(options: ServeOptions, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        options.check()
    assert "secret" not in str(refused.value)


def test_a_postgresql_database_is_taken_with_any_driver() -> None:
    ServeOptions(database_url="postgresql://u:p@h/d").check()
    ServeOptions(database_url="postgresql+asyncpg://u:p@h/d").check()
