from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.compose.composer import Composition, compose
from benchprism.compose.language.criteria import Criteria
from benchprism.compose.language.extends import read_criteria
from benchprism.compose.locking.lock import lock
from benchprism.compose.store import read_subset, write_subset, write_tables
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError

FILES = {"items.parquet", "excluded.parquet", "lock.json", "criteria.yaml"}


@pytest.fixture
def composition(table: pa.Table) -> Composition:
    sample = {"size": 4, "balance": "benchmark", "seed": 2}
    where = {"depth": {"min": 2}}
    criteria = Criteria.model_validate({"name": "deep", "where": where, "sample": sample})
    return compose(criteria, table)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_subset_reads_back_as_written(composition: Composition, tmp_path: Path) -> None:
    write_subset(tmp_path / "subsets" / "deep", composition, lock(composition))
    subset = read_subset(tmp_path / "subsets" / "deep")
    assert subset.name == "deep"
    assert subset.items == composition.chosen
    assert subset.excluded == composition.excluded
    assert subset.criteria == composition.criteria
    assert subset.lock == lock(composition)
    assert set(contents(subset.folder)) == FILES
    assert [path.name for path in (tmp_path / "subsets").iterdir()] == ["deep"]


def test_what_was_read_is_written_again_in_the_same_bytes(
    composition: Composition, tmp_path: Path
) -> None:
    write_subset(tmp_path / "deep", composition, lock(composition))
    read = read_subset(tmp_path / "deep")
    for name, table in (("items.parquet", read.items), ("excluded.parquet", read.excluded)):
        write_tables(tmp_path / name, table.schema, [table])
        assert (tmp_path / name).read_bytes() == (tmp_path / "deep" / name).read_bytes()


def test_equal_input_gives_equal_bytes(
    table: pa.Table, composition: Composition, catalogue: Catalogue, tmp_path: Path
) -> None:
    write_subset(tmp_path / "a", composition, lock(composition, catalogue=catalogue))
    again = compose(composition.criteria, pa.concat_tables([table.slice(5), table.slice(0, 5)]))
    write_subset(tmp_path / "b", again, lock(again, catalogue=catalogue))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_written_criteria_compose_the_same_subset(
    table: pa.Table, composition: Composition, tmp_path: Path
) -> None:
    write_subset(tmp_path / "a", composition, lock(composition))
    again = compose(read_criteria(tmp_path / "a" / "criteria.yaml"), table, seed=99)
    write_subset(tmp_path / "b", again, lock(again))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_the_lock_says_what_the_subset_rests_on(
    composition: Composition, catalogue: Catalogue
) -> None:
    data = lock(
        composition,
        catalogue=catalogue,
        provenance={"arc": {"dataset": "org/arc", "revision": "abc"}},
        annotators=[{"annotator": "llm:main", "prompt_hash": "p"}],
    )
    assert data["seed"] == 2
    assert data["criteria"]["from"] == ["arc", "gsm", "law"]
    assert data["criteria_hash"] == composition.criteria.hash
    assert data["catalogue"] == {"name": "small", "version": 1, "hash": catalogue.hash}
    assert data["annotators"] == [{"annotator": "llm:main", "prompt_hash": "p"}]
    assert data["sources"]["arc"] == {
        "dataset": "org/arc", "revision": "abc", "revisions": ["rev-arc"], "available": 5,
        "chosen": 1,
    }  # fmt: skip
    rows = composition.chosen.to_pylist()
    assert data["items"] == {row["item_id"]: row["content_hash"] for row in rows}
    assert len(data["items"]) == 4
    json.dumps(data)


def test_what_else_lies_in_the_folder_is_kept(composition: Composition, tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    write_subset(folder, composition, lock(composition))
    (folder / "notes").mkdir()
    (folder / "notes" / "a.txt").write_text("mine", encoding="utf-8")
    (folder / "lock.json").write_text("old", encoding="utf-8")
    write_subset(folder, composition, lock(composition))
    assert (folder / "notes" / "a.txt").read_text(encoding="utf-8") == "mine"
    assert read_subset(folder).lock == lock(composition)


def test_a_failed_write_leaves_the_old_subset(composition: Composition, tmp_path: Path) -> None:
    folder = tmp_path / "deep"
    write_subset(folder, composition, lock(composition))
    before = contents(folder)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_subset(folder, composition, {"bad": float("nan")})
    assert contents(folder) == before
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_a_crash_between_the_two_renames_is_mended(
    composition: Composition, tmp_path: Path
) -> None:
    folder = tmp_path / "deep"
    write_subset(folder, composition, lock(composition))
    folder.rename(tmp_path / ".deep.previous")
    assert read_subset(folder).items == composition.chosen


def test_a_subset_that_is_not_there(composition: Composition, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="compose one with 'benchprism compose"):
        read_subset(tmp_path / "deep")
    write_subset(tmp_path / "deep", composition, lock(composition))
    with pytest.raises(InputError, match="did you mean 'deep'"):
        read_subset(tmp_path / "dep")


@pytest.mark.parametrize("name", sorted(FILES - {"lock.json"}))
def test_a_damaged_subset_is_one_sentence(
    name: str, composition: Composition, tmp_path: Path
) -> None:
    folder = tmp_path / "deep"
    write_subset(folder, composition, lock(composition))
    for damage in ("", "\x00\x01 {"):
        (folder / name).write_text(damage, encoding="utf-8")
        with pytest.raises(InputError) as error:
            read_subset(folder)
        assert "\n" not in str(error.value)
    (folder / name).unlink()
    with pytest.raises(InputError, match="cannot be read"):
        read_subset(folder)


def test_a_folder_that_cannot_be_written(composition: Composition, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot be written"):
        write_subset(tmp_path / "file" / "deep", composition, lock(composition))
