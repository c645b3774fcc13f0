"""``compose --from-hub`` against a Hub on loopback."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=")  # huggingface_hub's own use
REPO = "acme/sums"
ITEMS, LOCK, MANIFEST = (
    f"benchprism/{name}" for name in ("items.parquet", "lock.json", "export.json")
)


def held(project: Any) -> dict[str, Any]:
    """What the files of a project's subset hold."""
    return {
        name: pq.read_table(io.BytesIO(content)) if name.endswith(".parquet") else content
        for name, content in project.files(project.subset).items()
    }


def test_a_pulled_subset_is_the_pushed_one(
    project: Any, hub: Any, empty_project: Callable[[str], Any]
) -> None:
    project.pushed()
    before = held(project)
    other = empty_project("two")
    pulled = other.pull("--json")
    assert pulled.code == 0, pulled.err
    assert pulled.data == {
        "name": "sums", "repository": REPO, "commit": hub.datasets[REPO].head, "items": 3,
        "ids_only": False, "folder": str(other.subset), "written": True,
    }  # fmt: skip
    assert f"Wrote 3 items of {REPO} at " in pulled.err
    assert held(other) == before
    written = (other.subset / "items.parquet").read_bytes()
    assert written == (project.subset / "items.parquet").read_bytes()
    again = other.pull()
    assert (again.code, "Left as they are: 3 items" in again.err) == (0, True)
    exported = other.run("export", "sums")
    assert exported.code == 0, exported.err
    project.run("export", "sums", "--project", project.folder)
    assert other.files(other.exported) == project.files(project.exported)
    assert other.push().err.count("is up to date") == 1


def test_an_earlier_state_is_pulled_by_its_revision(
    project: Any, hub: Any, empty_project: Callable[[str], Any]
) -> None:
    project.pushed()
    first = hub.datasets[REPO].head
    project.compose(2)
    project.pushed()
    other = empty_project("two")
    assert other.pull("--revision", first, "--json").data["items"] == 3
    refused = other.pull()
    assert refused.code == 2
    assert "the project has another subset 'sums'" in refused.err
    assert "no such revision" in other.pull("--revision", "v9").err
    assert empty_project("three").pull("--json").data["items"] == 2


def test_without_texts_the_project_gives_them(
    project: Any, hub: Any, empty_project: Callable[[str], Any]
) -> None:
    project.pushed("--ids-only")
    before = held(project)
    files = hub.datasets[REPO].files
    tables = [pq.read_table(io.BytesIO(files[path])) for path in files if ".parquet" in path]
    assert len(tables) == 3
    texts = {"question", "context", "choices", "answer_text", "answer_index", "source", "prompt"}
    assert not [table for table in tables if texts & {*table.column_names}]
    other = empty_project("two")
    refused = other.pull()
    assert refused.code == 2
    assert "3 of its 3 items are not in the project as they were composed: 3 of mine" in refused.err
    assert "run 'benchprism items add mine --from mine.jsonl', then pull again" in refused.err
    assert not other.subset.exists()
    other.add()
    pulled = other.pull("--json")
    assert pulled.code == 0, pulled.err
    assert pulled.data["ids_only"]
    assert held(other) == before
    changed = empty_project("three")
    changed.add(key="B")
    refused = changed.pull()
    assert refused.code == 2
    assert "but other keys, records or white space" in refused.err
    assert not changed.subset.exists()


def replaced(files: dict[str, bytes], path: str, content: bytes) -> dict[str, bytes]:
    """Files of which one is another, as the manifest then says too."""
    manifest = json.loads(files[MANIFEST])
    manifest["files"][path] = hashlib.sha256(content).hexdigest()
    return {path: content, MANIFEST: json.dumps(manifest).encode()}


def test_what_is_not_as_its_lock_says_is_refused(
    project: Any, hub: Any, empty_project: Callable[[str], Any]
) -> None:
    project.pushed()
    files = dict(hub.datasets[REPO].files)
    items = pq.read_table(io.BytesIO(files[ITEMS]))
    questions = pa.array([f"{text}?" for text in items["question"].to_pylist()])
    answers = pa.array(["0"] * items.num_rows)
    lock = json.loads(files[LOCK])
    cases = {
        "has another content than benchprism/export.json says": {ITEMS: b"other"},
        "Parquet magic bytes": replaced(files, ITEMS, b"no Parquet at all"),
        "is not that of its content hash": replaced(
            files, ITEMS, _parquet(items.set_column(6, "question", questions))
        ),
        "benchprism/items.parquet is not what it says": replaced(
            files, ITEMS, _parquet(items.set_column(10, "answer_text", answers))
        ),
        "has other items than the lock": replaced(files, ITEMS, _parquet(items.slice(1))),
        "criteria.yaml is not what the lock says": replaced(
            files, LOCK, json.dumps({**lock, "name": "../../away"}).encode()
        ),
    }
    other = empty_project("two")
    for sentence, changed in cases.items():
        hub.put(REPO, {**files, **changed})
        refused = other.pull()
        assert refused.code == 2
        assert f"the subset in {REPO!r} is not as it was pushed (" in refused.err
        assert sentence in refused.err
        assert not (other.folder / "subsets").exists()


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def test_other_datasets_and_lost_connections(project: Any, hub: Any) -> None:
    hub.put("acme/other", {"README.md": b""})
    assert "was not made by 'benchprism export'" in project.pull(repo="acme/other").err
    assert "does not exist, or is private (404)" in project.pull(repo="acme/none").err
    assert "'none' is not a repository's name" in project.pull(repo="none").err
    project.pushed()
    for path in (rf"^/api/datasets/{REPO}$", r"/resolve/.*/lock\.json$"):
        hub.fault(path, times=100)
        ran = project.pull()
        assert ran.code == 2
        assert "the connection to the Hub was lost" in ran.err
        hub.faults.clear()


def test_a_gated_dataset_is_not_pulled(project: Any, hub: Any) -> None:
    project.pushed()
    hub.datasets[REPO].gated = True
    ran = project.pull()
    assert ran.code == 2
    assert f"the dataset {REPO!r} is gated; wanted an account that was granted access" in ran.err


def test_a_pulled_subset_is_composed_on(project: Any, empty_project: Callable[[str], Any]) -> None:
    project.pushed()
    other = empty_project("two")
    other.add()
    assert other.pull().code == 0
    text = "name: fewer\nfrom: [subset:sums]\nsample: {size: 2}\n"
    (other.folder / "criteria" / "fewer.yaml").write_text(text, encoding="utf-8")
    composed = other.run("compose", "criteria/fewer.yaml", "--json")
    assert composed.code == 0, composed.err
    assert (composed.data["items"], composed.data["chosen"]) == ({"mine": 3}, {"mine": 2})
    explained = other.run("explain", "sums", "mine/0")
    assert explained.code == 0, explained.err


def test_options_that_do_not_go_together(project: Any) -> None:
    assert "--revision without --from-hub" in project.run("compose", "--revision", "x").err
    assert "--check and --from-hub together" in project.pull("--check").err
    assert "a criteria file and --from-hub together" in project.pull("criteria/sums.yaml").err
