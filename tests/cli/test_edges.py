from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchprism.cli import init as init_module
from benchprism.cli.output import counted, print_table
from benchprism.project import find_project

COMMAND = Path(sys.executable).with_name("benchprism")
LONG = "a" * 300
QUESTION = '{"q": "Which?", "a": "x", "b": "y", "key": "A"}\n'
ADD = "add mine --from q.jsonl --map question=q --map choices=a,b --map answer=key --answer letter"


def ran(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the installed command in a process of its own."""
    if "stdout" not in options:
        options["stdout"] = subprocess.PIPE
    return subprocess.run(
        [COMMAND, *words], stderr=subprocess.PIPE, text=True, check=False, timeout=60, **options
    )


def sentence(error: str) -> str:
    """What the one line on stderr says."""
    assert error.startswith("benchprism: "), error
    assert error.count("\n") == 1, error
    return error.removeprefix("benchprism: ").strip()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project with one item."""
    folder = tmp_path / "p"
    assert ran("init", str(folder)).returncode == 0
    (folder / "q.jsonl").write_text(QUESTION, encoding="utf-8")
    added = ran("items", *ADD.split(), cwd=folder)
    assert added.stdout.startswith("mine: 1 item, ")
    yield folder
    for path in (folder, *folder.iterdir()):
        if path.is_dir():
            path.chmod(0o755)


def bound_by_permissions() -> None:
    """Take from this process, should it be root's, the power to pass over permissions."""
    prctl, drop_from_bounding_set = ctypes.CDLL(None).prctl, 24
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        prctl(drop_from_bounding_set, capability, 0, 0, 0)


def test_a_full_disk_behind_the_output() -> None:
    for words in (["items", "presets"], ["items", "presets", "--json"], ["--help"]):
        with Path("/dev/full").open("w") as full:
            done = ran(*words, stdout=full)
        assert done.returncode == 2
        assert sentence(done.stderr).startswith("the output cannot be used (No space left")


def test_a_file_that_grows_too_large(project: Path) -> None:
    import resource

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    done = ran("items", *ADD.split(), cwd=project, preexec_fn=limit)
    assert done.returncode == 2
    assert "items/mine.parquet cannot be written (File too large)" in sentence(done.stderr)
    assert [path.name for path in (project / "items").iterdir()] == ["mine.parquet"]


def test_a_reader_that_has_seen_enough() -> None:
    for words in (["items", "presets"], ["items", "presets", "--json"], ["--help"]):
        read, write = os.pipe()
        os.close(read)
        done = ran(*words, stdout=write)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, "")


def test_names_that_cannot_be(benchprism: Callable[..., Any], project: Path) -> None:
    os.chdir(project)
    for words in (["init", LONG], ["items", *ADD.replace("mine", LONG).split()]):
        done = benchprism(*words)
        assert done.code == 2
        assert sentence(done.err).endswith("choose a shorter name")
    for words in (["init", "bad\udcff"], ["items", *ADD.replace("mine", "bad\udcff").split()]):
        done = benchprism(*words)
        assert done.code == 2
        assert r"'bad\udcff'" in sentence(done.err)


def test_any_name_makes_a_project_that_can_be_read(
    benchprism: Callable[..., Any], tmp_path: Path
) -> None:
    for name in ('a: b "c" #d', "back\\slash", "é ☃ 😀", "yes", "0755"):
        assert benchprism("init", tmp_path / name).code == 0
        assert find_project(tmp_path / name).settings.project == name


def test_no_words_and_misspelt_words(benchprism: Callable[..., Any]) -> None:
    done = benchprism()
    assert (done.code, done.err) == (2, "")
    assert "Usage: benchprism" in done.out
    assert sentence(benchprism("scor").err) == (
        "No such command 'scor'; did you mean 'score'? see 'benchprism --help'"
    )


def test_an_interruption_is_one_sentence(
    benchprism: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(init_module, "write_text", interrupted)
    done = benchprism("init", tmp_path / "p")
    assert (done.code, sentence(done.err)) == (130, "interrupted; what was finished is saved")


def test_an_interruption_while_modules_load(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n", encoding="utf-8")
    done = ran("--help", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert (done.returncode, sentence(done.stderr)) == (130, "interrupted; nothing was done")


@pytest.mark.parametrize(
    ("folder", "command"),
    [
        ("items", "items list"),
        ("results", "score"),
        ("subsets", "report"),
    ],
)
def test_a_folder_that_may_not_be_read(project: Path, folder: str, command: str) -> None:
    (project / folder).mkdir(exist_ok=True)
    (project / folder).chmod(0)
    done = ran(*command.split(), cwd=project, preexec_fn=bound_by_permissions)
    assert done.returncode == 2
    assert f"{folder}" in sentence(done.stderr)
    assert "(Permission denied)" in done.stderr


def test_a_project_that_cannot_be_written_is_read(project: Path) -> None:
    from benchprism.annotate.ledger.store import Ledger

    Ledger(project / "ledger.sqlite", write=True).close()
    (project / "ledger.sqlite").chmod(0o444)
    project.chmod(0o555)
    done = ran("annotate", "status", "--json", cwd=project, preexec_fn=bound_by_permissions)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)


def test_an_env_file_that_is_no_text(project: Path) -> None:
    (project / ".env").write_bytes(b"KEY=\xff\n")
    done = ran("annotate", "--dry-run", cwd=project)
    assert done.returncode == 2
    assert ".env cannot be read (not UTF-8 text)" in sentence(done.stderr)


def test_tables_show_escapes_and_obey_no_color(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_table(["a\x1b[31m"], [["b\x1b]0;c\x07 \ud800"]], title="[bold]\x9b")
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert all(shown in out for shown in (r"a\x1b[31m", r"b\x1b]0;c\x07 \ud800", r"[bold]\x9b"))


def test_one_is_not_many() -> None:
    assert [counted(n, "item") for n in (0, 1, 2)] == ["0 items", "1 item", "2 items"]
