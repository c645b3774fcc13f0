"""``export --to hub`` against a Hub on loopback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=")  # huggingface_hub's own use

REPO = "acme/sums"
CARD = "README.md"
DATA = "data/multiple_choice/test-00000-of-00001.parquet"


def test_a_push_is_one_commit_to_a_private_dataset(project: Any, hub: Any) -> None:
    told = project.pushed()
    dataset = hub.datasets[REPO]
    assert dataset.private
    assert len(dataset.commits) == 2  # the first is of the repository's making
    assert re.fullmatch(r"sums, exported by benchprism [\d.]+\S*", dataset.messages[-1])
    assert dataset.files == {
        **project.files(project.exported),
        ".gitattributes": dataset.files[".gitattributes"],
    }
    assert told["pushed"] == {
        "url": f"{hub.url}/datasets/{REPO}", "commit": dataset.head, "pull_request": None,
    }  # fmt: skip
    assert {change["change"] for change in told["files"]} == {"added"}
    assert len(told["items"]["added"]) == 3
    sources = json.loads(dataset.files["harness/sources.json"])
    assert sources["repository"] == REPO


def test_a_dataset_is_loaded_back_from_the_hub(project: Any, hub: Any, tmp_path: Path) -> None:
    project.pushed()
    code = (
        "import datasets, json;"
        f"rows = datasets.load_dataset({REPO!r}, 'multiple_choice', split='test');"
        "print(json.dumps([[r['question'], r['choices'][r['answer_index']]] for r in rows]))"
    )
    variables = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    answers = dict(json.loads(ran.stdout))
    assert len(answers) == 3
    assert answers.items() <= project.answers.items()


def test_a_hub_without_xet_is_sent_files_as_its_lfs_takes_them(
    project: Any, hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    project.pushed()
    assert project.files(project.exported).items() <= hub.datasets[REPO].files.items()
    assert constants.HF_HUB_DISABLE_XET is False


def test_pushing_again_replaces_only_what_benchprism_wrote(project: Any, hub: Any) -> None:
    project.pushed("--csv")
    hub.put(REPO, {"notes/mine.txt": b"mine"})
    before = dict(hub.datasets[REPO].files)
    project.compose(2)
    told = project.pushed()
    after = hub.datasets[REPO].files
    assert {*before} - {*after} == {"items.csv"}
    assert after["notes/mine.txt"] == b"mine"
    assert (len(told["items"]["removed"]), told["items"]["added"]) == (1, [])
    assert len(hub.datasets[REPO].commits) == 4
    again = project.push()
    assert (again.code, len(hub.datasets[REPO].commits)) == (0, 4)
    assert "acme/sums is up to date: nothing to push." in again.err


def test_own_files_in_the_folder_are_not_pushed(project: Any, hub: Any) -> None:
    assert project.run("export", "sums").code == 0
    (project.exported / "secret.txt").write_text("mine")
    project.pushed()
    assert "secret.txt" not in hub.datasets[REPO].files
    assert (project.exported / "secret.txt").is_file()


def test_a_hand_written_card_keeps_its_text(project: Any, hub: Any) -> None:
    card = b"---\npretty_name: Mine\nannotations_creators: [me]\nmine: 1\n---\n\n# Mine\n\nWords.\n"
    hub.put(REPO, {CARD: card}, private=True)
    diff = project.pushed()["card_diff"]
    first = hub.datasets[REPO].files[CARD].decode()
    assert first.startswith("---\npretty_name: Mine\n")
    assert "\nmine: 1\n" in first
    assert "machine-generated" in first
    assert "\n# Mine\n\nWords.\n\n<!-- benchprism: begin -->\n" in first
    assert "+<!-- benchprism: begin -->" in diff
    assert "-# Mine" not in diff
    edited = first.replace("Words.", "Other words.") + "\nLast words.\n"
    hub.put(REPO, {CARD: edited.encode()})
    for size in (2, 4):
        project.compose(size)
        project.pushed()
        now = hub.datasets[REPO].files[CARD].decode()
        assert "\n# Mine\n\nOther words.\n\n" in now
        assert now.endswith("\nLast words.\n")
        assert f"\n{size} items of 1 benchmark" in now
        assert now.count("<!-- benchprism: begin -->") == 1


def test_the_folders_own_card_text_is_pushed_unless_the_hub_has_its_own(
    project: Any, hub: Any
) -> None:
    project.pushed()
    card = project.exported / CARD
    card.write_text(card.read_text(encoding="utf-8") + "\nOf the folder.\n", encoding="utf-8")
    project.pushed()
    there = hub.datasets[REPO].files[CARD]
    assert there.endswith(b"\nOf the folder.\n")
    hub.put(REPO, {CARD: there.replace(b"Of the folder.", b"Of the Hub.")})
    project.compose(2)
    ran = project.push()
    assert ran.code == 0
    assert "your own text in " in ran.err
    assert hub.datasets[REPO].files[CARD].endswith(b"\nOf the Hub.\n")
    assert card.read_text(encoding="utf-8").endswith("\nOf the folder.\n")


def test_a_dry_run_shows_the_change_and_makes_none(project: Any, hub: Any) -> None:
    first = project.push("--dry-run", "--json")
    assert first.code == 0
    assert not hub.datasets
    assert not project.exported.exists()
    assert "would be, to the new private dataset acme/sums." in first.err
    project.pushed()
    files = project.files(project.exported)
    project.compose(2)
    ran = project.push("--dry-run")
    assert ran.code == 0
    assert re.search(rf"changed +{re.escape(DATA)} +[\d.]+ kB +[\d.]+ kB", ran.out)
    assert re.search(r"removed +1 +mine/\d", ran.out)
    assert "-3 items of 1 benchmark" in ran.out
    assert "+2 items of 1 benchmark" in ran.out
    assert len(hub.datasets[REPO].commits) == 2
    assert project.files(project.exported) == files


def test_a_pull_request_leaves_the_dataset_as_it_is(project: Any, hub: Any) -> None:
    refused = project.push("--create-pr")
    assert refused.code == 2
    assert "does not exist, or is private" in refused.err
    assert not hub.datasets
    head = hub.put("other/sums", {"notes.txt": b"theirs"}, private=True)
    ran = project.push("--create-pr", repo="other/sums")
    assert ran.code == 0, ran.err
    assert f"Opened {hub.url}/datasets/other/sums/discussions/1." in ran.err
    dataset = hub.datasets["other/sums"]
    assert dataset.head == head
    assert {"notes.txt", DATA} <= {*dataset.pull_requests[0]}


def test_public_is_said_or_asked_for(project: Any, hub: Any) -> None:
    hub.put(REPO, {}, private=False)
    asked = project.push()
    assert asked.code == 3
    assert "'acme/sums' is public" in asked.err
    assert len(hub.datasets[REPO].commits) == 1
    assert project.push("--public").code == 0
    assert project.push("--public", repo="alice/open").code == 0
    assert not hub.datasets["alice/open"].private
    hub.put("alice/closed", {}, private=True)
    kept = project.push("--public", repo="alice/closed")
    assert "alice/closed is private and stays so" in kept.err
    assert hub.datasets["alice/closed"].private


def test_nothing_goes_to_a_dataset_that_came_out_public(project: Any, hub: Any) -> None:
    hub.makes_all_public = True
    ran = project.push()
    assert ran.code == 2
    assert "the Hub made the dataset 'acme/sums' public; wanted a private one" in ran.err
    assert [*hub.datasets["acme/sums"].files] == [".gitattributes"]


def test_a_file_of_others_is_not_overwritten(project: Any, hub: Any) -> None:
    head = hub.put(REPO, {"eval.yaml": b"theirs"}, private=True)
    refused = project.push()
    assert refused.code == 2
    assert "has a file 'eval.yaml' that benchprism has not written" in refused.err
    assert hub.datasets[REPO].head == head


def test_sources_that_do_not_permit_it_stop_a_push(project: Any, hub: Any) -> None:
    project.add("CC-BY-NC-4.0")
    project.compose(3)
    asked = project.push()
    assert asked.code == 3
    assert "the licence of 'mine' (CC-BY-NC-4.0) forbids commercial use" in asked.err
    assert not hub.datasets
    assert project.push("--accept-non-commercial").code == 0
    project.add("CC-BY-ND-4.0")
    project.compose(3)
    refused = project.push("--accept-non-commercial")
    assert refused.code == 2
    assert "does not permit passing its items on" in refused.err
    assert project.push("--ids-only").code == 0
    files = hub.datasets[REPO].files
    assert "harness/samples.json" in files
    assert b"What is" not in files["README.md"]


def test_gating_is_asked_again_at_a_push(project: Any, hub: Any) -> None:
    hub.put("theirs/set", {})
    lock = project.subset / "lock.json"
    data = json.loads(lock.read_text(encoding="utf-8"))
    data["sources"]["mine"]["dataset"] = "theirs/set"
    lock.write_text(json.dumps(data), encoding="utf-8")
    assert project.push().code == 0
    hub.datasets["theirs/set"].gated = True
    refused = project.push()
    assert refused.code == 2
    assert "the dataset 'theirs/set' is gated on the Hub by now" in refused.err
    assert project.push("--ids-only").code == 0
    del hub.datasets["theirs/set"]
    assert "does not tell whether terms bind theirs/set" in project.push().err


def test_options_of_a_push_need_a_place(project: Any) -> None:
    ran = project.run("export", "sums", "--public")
    assert (ran.code, "--public without --to" in ran.err) == (2, True)
    ran = project.run("export", "sums", "--to", "hubb", REPO)
    assert (ran.code, "did you mean 'hub'?" in ran.err) == (2, True)
    assert not project.exported.exists()
