"""What stands in the way of a push: tokens, refusals, lost connections, other pushes."""

from __future__ import annotations

from typing import Any

import pytest
from huggingface_hub import constants

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=")  # huggingface_hub's own use

REPO = "acme/sums"
CARD = "README.md"
FINE = {"role": "fineGrained", "displayName": "t"}


def scoped(name: str, *permissions: str) -> dict[str, Any]:
    return {"scoped": [{"entity": {"type": "org", "name": name}, "permissions": [*permissions]}]}


TOKENS: list[tuple[dict[str, Any], str, tuple[str, ...], str | None]] = [
    ({"role": "read"}, REPO, (), "the token has the role 'read'"),
    ({**FINE, "fineGrained": scoped("acme", "repo.content.read")}, REPO, (),
     "no write access to 'acme/sums'; wanted the permission 'repo.write'"),
    ({**FINE, "fineGrained": scoped("other", "repo.write")}, REPO, (), "no write access"),
    ({"role": "write"}, "other/sums", (), "is not a member of 'other'; wanted one of alice, acme"),
    ({"role": "write"}, "readers/sums", (), "may only read in 'readers'"),
    ({"role": "write"}, "sums", (), "'sums' is not a repository's name; wanted ORG/NAME"),
    ({**FINE, "fineGrained": scoped("acme", "repo.write")}, REPO, (), None),
    ({**FINE, "fineGrained": scoped("acme/sums", "repo.write")}, REPO, (), None),
    ({**FINE, "fineGrained": {"global": ["discussion.write"]}}, "there/sums",
     ("--create-pr",), None),
]  # fmt: skip


def test_the_token_is_checked_for_write_access_first(project: Any, hub: Any) -> None:
    hub.put("there/sums", {}, private=True)
    for token, repo, options, sentence in TOKENS:
        hub.accounts["hf_writer"]["auth"]["accessToken"] = token
        hub.requests.clear()
        ran = project.push(*options, repo=repo)
        assert "hf_writer" not in ran.out + ran.err
        if sentence is None:
            assert ran.code == 0, ran.err
        else:
            assert ran.code == 2
            assert sentence in ran.err
            assert {path for _, path in hub.requests} <= {"/api/whoami-v2"}
            assert not project.exported.exists()


def test_the_token_is_read_from_the_projects_env_file(
    project: Any, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_TOKEN")
    without = project.push()
    assert without.code == 2
    assert "no token for the Hub; wanted one with write access; make one at https://" in without.err
    (project.folder / ".env").write_text("HF_TOKEN=hf_wri\u00e9ter\n", encoding="utf-8")
    assert "has characters that no token has" in project.push().err
    (project.folder / ".env").write_text("HF_TOKEN=hf_writer\n", encoding="utf-8")
    assert project.push().code == 0


WHOAMI, CREATE = r"^/api/whoami", r"^/api/repos/create"
COMMIT, READ = r"/commit/main$", rf"^/api/datasets/{REPO}$"
FAULTS = [
    (WHOAMI, 401, {}, "does not accept the token (401); wanted a token that is valid; make one"),
    (WHOAMI, 429, {"Retry-After": "77"}, "no more requests of this account for now (429)"),
    (WHOAMI, 429, {"Retry-After": "77"}, "run the same command again in 77 seconds"),
    (WHOAMI, 429, {"RateLimit": '"api";r=0;t=55'}, "run the same command again in 55 seconds"),
    (WHOAMI, 503, {}, "cannot serve at the moment (503: injected 503)"),
    (WHOAMI, None, {}, "the connection to the Hub was lost, or not made, for 'acme/sums'"),
    (READ, 403, {}, "may not do this in 'acme/sums' (403)"),
    (READ, 503, {}, "run the same command again later; https://status.huggingface.co"),
    (COMMIT, 401, {}, "does not accept the token (401)"),
    (COMMIT, 403, {}, "may not do this in 'acme/sums' (403); wanted write access to it; give"),
    (COMMIT, 404, {"X_Error_Code": "RepoNotFound"}, "does not exist, or is private (404)"),
    (COMMIT, 409, {}, "(409); wanted one at a time; run the same command again in a minute"),
    (COMMIT, 412, {}, "has changed on the Hub since it was compared (412)"),
    (COMMIT, 429, {"Retry-After": "9"}, "run the same command again in 9 seconds"),
    (COMMIT, 503, {}, "cannot serve at the moment (503"),
    (COMMIT, 418, {}, "the Hub refused the request (418: injected 418)"),
    (COMMIT, None, {}, "a commit is on the Hub whole or not at all"),
]


def test_a_fault_leaves_nothing_half_written(project: Any, hub: Any) -> None:
    project.pushed()
    before = dict(hub.datasets[REPO].files)
    project.compose(2)
    for path, status, headers, sentence in FAULTS:
        hub.fault(path, status, headers=headers)
        ran = project.push()
        assert ran.code == 2
        assert sentence in ran.err
        assert ran.err.splitlines()[-1].count("; ") >= 2
        assert "Traceback" not in ran.err
        assert "hf_writer" not in ran.out + ran.err
        assert hub.datasets[REPO].files == before
        assert not [entry for entry in project.folder.rglob(".*") if entry.name.startswith(".sums")]
    project.pushed()
    files = hub.datasets[REPO].files
    assert files == {**project.files(project.exported),
                     ".gitattributes": files[".gitattributes"]}  # fmt: skip


@pytest.mark.parametrize("status", [403, None])
def test_a_fault_while_the_dataset_is_made(project: Any, hub: Any, status: int | None) -> None:
    hub.fault(CREATE, status)
    assert project.push().code == 2
    assert not hub.datasets
    hub.fault(COMMIT, status)
    ran = project.push()
    assert ran.code == 2
    assert "the repository 'acme/sums' was made for it" in ran.err
    assert [*hub.datasets[REPO].files] == [".gitattributes"]
    assert project.push().code == 0


def test_files_that_cannot_be_sent_leave_nothing_half_written(
    project: Any, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    hub.fault(r"^/lfs/", 503, times=2)
    project.pushed()  # the library has tried again
    before = dict(hub.datasets[REPO].files)
    project.compose(2)
    for status in (503, None):
        hub.fault(r"^/lfs/", status, times=100)
        ran = project.push()
        assert ran.code == 2
        words = "cannot serve at the moment (503" if status else "the connection to the Hub was"
        assert words in ran.err
        assert hub.datasets[REPO].files == before
        hub.faults.clear()
    assert project.push().code == 0


def test_an_answer_that_is_lost_is_no_lost_commit(project: Any, hub: Any) -> None:
    hub.fault(COMMIT, served=True)
    ran = project.push()
    assert ran.code == 2
    assert "run the same command again: a commit is on the Hub whole or not at all" in ran.err
    assert len(hub.datasets[REPO].commits) == 2
    again = project.push()
    assert (again.code, "is up to date" in again.err) == (0, True)
    assert len(hub.datasets[REPO].commits) == 2


def test_a_push_of_another_meanwhile_is_not_overwritten(project: Any, hub: Any) -> None:
    project.pushed()
    project.compose(2)
    hub.before.append((COMMIT, lambda: hub.put(REPO, {CARD: b"Theirs.\n"})))
    ran = project.push()
    assert ran.code == 2
    assert "has changed on the Hub since it was compared (412)" in ran.err
    assert "look at the change with --dry-run" in ran.err
    assert hub.datasets[REPO].files[CARD] == b"Theirs.\n"
    assert project.push().code == 0
    assert hub.datasets[REPO].files[CARD].count(b"Theirs.\n") == 1


def test_a_card_that_the_hub_does_not_take(project: Any, hub: Any) -> None:
    head = hub.put(REPO, {CARD: b"---\nmine: 'license: nonsense'\n---\n"}, private=True)
    ran = project.push()
    assert ran.code == 2
    assert "license" in ran.err
    assert hub.datasets[REPO].head == head


def test_nothing_is_reached(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    ran = project.push()
    assert ran.code == 2
    assert "the connection to the Hub was lost, or not made" in ran.err
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert "unset HF_HUB_OFFLINE" in project.push().err
    assert not project.exported.exists()


def test_damaged_files_of_the_dataset_are_named(project: Any, hub: Any) -> None:
    project.pushed()
    files = dict(hub.datasets[REPO].files)
    cases = {
        CARD: (b"caf\xe9", "acme/sums/README.md is not UTF-8 (byte 4)"),
        "benchprism/lock.json": (b"{}", "acme/sums/benchprism/lock.json cannot be read"),
        "benchprism/export.json": (b"{}", "acme/sums was not made by 'benchprism export'"),
    }
    for path, (content, sentence) in cases.items():
        head = hub.put(REPO, {**files, path: content})
        ran = project.push()
        assert ran.code == 2
        assert sentence in ran.err
        assert "mend that file in the repository, or remove it there" in ran.err
        assert hub.datasets[REPO].head == head
