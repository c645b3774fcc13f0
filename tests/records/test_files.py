from __future__ import annotations

from pathlib import Path

import pytest

from benchprism.records.errors import InputError
from benchprism.records.files import listed, replacing, replacing_folder, restore_folder, write_text


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write_and_fail(path: Path) -> None:
    path.write_text("two", encoding="utf-8")
    raise ZeroDivisionError


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_text(path, "one\n")
    write_text(path, "two\n")
    assert path.read_bytes() == b"two\n"
    assert names(path.parent) == ["a.txt"]


def test_a_block_that_fails_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "one")
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        write_and_fail(temporary)
    assert path.read_text(encoding="utf-8") == "one"
    assert names(tmp_path) == ["a.txt"]


def test_a_folder_is_replaced_and_the_rest_carried_over(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "f"
    for text in ("one", "two"):
        with replacing_folder(folder) as new:
            (new / "a.txt").write_text(text, encoding="utf-8")
        (folder / f"{text}.txt").write_text("mine", encoding="utf-8")
    assert names(folder) == ["a.txt", "one.txt", "two.txt"]
    assert (folder / "a.txt").read_text(encoding="utf-8") == "two"
    assert names(folder.parent) == ["f"]
    assert folder.stat().st_mode & 0o700 == 0o700


def test_of_the_old_folder_its_own_files_go(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "data").mkdir(parents=True)
    for name in ("data/old", "data/mine", "gone", "mine"):
        (folder / name).write_text(name)
    (folder / "data" / "link").symlink_to("nowhere")
    with replacing_folder(folder, own=["data/old", "gone"]) as new:
        (new / "data").mkdir()
        (new / "data" / "new").write_text("new")
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}
    assert found == {"data/new", "data/mine", "data/link", "mine"}
    assert (folder / "data" / "link").is_symlink()


def test_a_block_that_fails_leaves_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    with replacing_folder(folder) as new:
        (new / "a.txt").write_text("one", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), replacing_folder(folder) as new:
        write_and_fail(new / "a.txt")
    assert (folder / "a.txt").read_text(encoding="utf-8") == "one"
    assert names(tmp_path) == ["f"]


def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match="No space left on device"),
        replacing_folder(tmp_path / "f"),
    ):
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


def test_the_old_folder_comes_back_after_a_crash(tmp_path: Path) -> None:
    (tmp_path / ".f.previous").mkdir()
    restore_folder(tmp_path / "f")
    restore_folder(tmp_path / "f")
    assert names(tmp_path) == ["f"]


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    write_text(tmp_path / "file", "")
    with pytest.raises(InputError, match="cannot be written"):
        write_text(tmp_path / "file" / "a.txt", "")
    with (
        pytest.raises(InputError, match="cannot be written"),
        replacing_folder(tmp_path / "file" / "f"),
    ):
        pass


def test_a_write_that_fails_names_the_file_and_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    said = r"a\.txt cannot be written \(No space.*make room"
    with pytest.raises(InputError, match=said), replacing(path):
        raise OSError(28, "Error writing bytes to file")
    with pytest.raises(OSError, match="other"), replacing(path):
        raise OSError(2, "No such file", "other")
    with pytest.raises(InputError, match="choose a shorter name"):
        write_text(tmp_path / ("a" * 300), "")
    assert names(tmp_path) == []


def test_the_files_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.md"):
        write_text(tmp_path / name, "")
    assert [path.name for path in listed(tmp_path, "*.txt")] == ["a.txt", "b.txt"]
    assert listed(tmp_path / "none", "*") == []
    with pytest.raises(InputError, match=r"a\.txt cannot be read \(Not a directory\)"):
        listed(tmp_path / "a.txt", "*")
