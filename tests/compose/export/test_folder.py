"""The exported folder: whole, the same bytes each time, and careful with what is not its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchprism.compose.export import folder as exporting
from benchprism.compose.export.assembly import assemble
from benchprism.compose.export.folder import MANIFEST, export_subset, read_manifest
from benchprism.compose.export.subset import ExportedSubset
from benchprism.compose.store import LOCK, Subset
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError
from benchprism.records.items.record import Item

MC, GEN = (f"data/{k}/test-00000-of-00001.parquet" for k in ("multiple_choice", "generative"))


@pytest.fixture
def subset(
    composed: Callable[..., Subset],
    make_open: Callable[..., Item],
    make_choice: Callable[..., Item],
) -> Callable[..., Subset]:
    """A subset of an item with choices, and one without unless ``mixed`` is false."""

    def make(*, mixed: bool = True) -> Subset:
        items = [make_choice("b", 0, "Which?", "x", "y", key=0)]
        return composed([*items, *([make_open("b", 1, "What?", "12")] if mixed else [])])

    return make


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_folder_is_a_dataset_repository(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path
) -> None:
    stored = subset()
    export_subset(assemble(stored, catalogue), tmp_path / "out", sheet=True)
    found = files(tmp_path / "out")
    assert {
        MC, GEN, "README.md", "items.csv", "benchprism/lock.json", "benchprism/criteria.yaml",
        "benchprism/attributes.json", MANIFEST,
    } <= {*found}  # fmt: skip
    assert found["benchprism/lock.json"] == (stored.folder / LOCK).read_bytes()
    assert found["benchprism/criteria.yaml"] == (stored.folder / "criteria.yaml").read_bytes()
    assert Catalogue.model_validate_json(found["benchprism/attributes.json"]).hash == catalogue.hash
    manifest = read_manifest(tmp_path / "out")
    del found[MANIFEST]
    assert manifest["files"] == {n: hashlib.sha256(d).hexdigest() for n, d in found.items()}
    assert (manifest["name"], manifest["items"], manifest["ids_only"]) == ("mixed", 2, False)


def test_the_same_subset_is_the_same_bytes(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path
) -> None:
    export_subset(assemble(subset(), catalogue), tmp_path / "one")
    export_subset(assemble(subset(), catalogue), tmp_path / "two")
    export_subset(assemble(subset(), catalogue), tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_only_own_files_are_replaced(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export_subset(assemble(subset(), catalogue), out, sheet=True)
    (out / "data" / "mine.txt").write_text("mine")
    (out / "notes").mkdir()
    (out / "notes" / "a.md").write_text("mine too")
    card = out / "README.md"
    card.write_text(card.read_text(encoding="utf-8") + "\nMy words.\n", encoding="utf-8")
    export_subset(assemble(subset(mixed=False), catalogue), out)
    found = files(out)
    assert found["data/mine.txt"] == b"mine"
    assert found["notes/a.md"] == b"mine too"
    assert found["README.md"].endswith(b"\nMy words.\n")
    assert b"\n1 item of 1 benchmark, " in found["README.md"]
    export_subset(assemble(subset(mixed=False), catalogue), out)
    assert files(out)["README.md"] == found["README.md"]
    assert not {GEN, "items.csv"} & {*found}


def test_an_edited_card_keeps_its_bytes_or_is_refused(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    export_subset(assemble(subset(), catalogue), out)
    card = out / "README.md"
    own = card.read_bytes().replace(b"\n\n<!--", b"\n\n# Mine\r\n\r\nMy words.\r\n\n<!--", 1)
    card.write_bytes(own)
    export_subset(assemble(subset(), catalogue), out)
    assert card.read_bytes() == own
    card.write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"README.md is not UTF-8 \(byte 4\)"):
        export_subset(assemble(subset(), catalogue), out)
    assert card.read_bytes() == b"caf\xe9"


@pytest.mark.parametrize("manifest", [None, "{}", "no JSON", '{"format": 99, "files": {}}'])
def test_a_foreign_folder_is_refused(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path, manifest: str | None
) -> None:
    out = tmp_path / "out"
    (out / "benchprism").mkdir(parents=True)
    (out / "README.md").write_text("mine")
    if manifest is not None:
        (out / MANIFEST).write_text(manifest)
    before = files(out)
    with pytest.raises(InputError, match=r"was not made by 'benchprism export'.*--out"):
        export_subset(assemble(subset(), catalogue), out)
    assert files(out) == before


def test_an_empty_folder_is_taken_and_a_file_is_not(
    subset: Callable[..., Subset], catalogue: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    export_subset(assemble(subset(), catalogue), tmp_path / "empty")
    assert json.loads((tmp_path / "empty" / MANIFEST).read_text())["items"] == 2
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="not made by"):
        export_subset(assemble(subset(), catalogue), tmp_path / "file")


def test_nothing_half_written_is_left(
    subset: Callable[..., Subset],
    catalogue: Catalogue,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "exports" / "out"
    export_subset(assemble(subset(), catalogue), out)
    before = files(tmp_path / "exports")

    def fail(folder: Path, export: ExportedSubset) -> None:
        raise OSError(28, "No space left on device", str(folder))

    monkeypatch.setattr(exporting, "write_harnesses", fail)
    with pytest.raises(InputError, match="No space left"):
        export_subset(assemble(subset(mixed=False), catalogue), out)
    assert files(tmp_path / "exports") == before


def test_a_subset_that_moved_is_refused(
    subset: Callable[..., Subset], catalogue: Catalogue
) -> None:
    stored = subset()
    other = catalogue.model_copy(update={"version": 2})
    with pytest.raises(InputError, match="catalogue has changed since 'mixed' was composed"):
        assemble(stored, other)
    stored.lock["content"]["items"] = "0"
    with pytest.raises(InputError, match=r"are not those of its lock.*compose it again"):
        assemble(stored, catalogue)
