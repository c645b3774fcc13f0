from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchprism.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "items"


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `benchprism items ...` in a project folder, as the installed command does."""
    (tmp_path / "benchprism.yaml").write_text("project: test\n")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        monkeypatch.setattr("sys.argv", ["benchprism", "items", *map(str, arguments)])
        try:
            main()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        else:
            code = 0
        return Done(code, *capsys.readouterr())

    return run


def write(name: str, *rows: dict[str, Any]) -> str:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def test_a_local_copy_is_added_listed_and_checked(run: Run) -> None:
    added = run("add", "mmlu", "--from", DATA / "mmlu_test.jsonl")
    assert added.out.startswith("mmlu: 5 items in 3 subsets, split test, 0 faulty, sha256:")
    assert "Took the split for 'test'" in added.err
    assert "Replaced" in run("add", "mmlu", "--from", DATA / "mmlu_test.jsonl").err
    run("add", "arc_easy", "--from", DATA / "arc_easy_validation.jsonl", "--split", "validation")

    listed = run("list", "--json").json
    assert [(one["benchmark"], one["items"]) for one in listed] == [("arc_easy", 4), ("mmlu", 5)]
    assert listed[1]["kinds"] == {"multiple_choice": 5}
    assert (listed[0]["licence"], listed[0]["file"]) == (
        "CC-BY-SA-4.0",
        "arc_easy_validation.jsonl",
    )
    assert "arc_easy" in run("list").out

    checked = run("check")
    assert (checked.code, checked.out) == (0, "")
    assert "Checked 9 items: nothing found." in checked.err
    assert run("check", "--json").json == []


def test_an_empty_project_is_listed_as_empty(run: Run) -> None:
    assert run("list", "--json").json == []
    assert "benchprism items add mmlu" in run("list").err


def test_findings_are_printed_and_exit_with_one(run: Run) -> None:
    run("add", "mmlu", "--from", DATA / "mmlu_test.jsonl")
    rows = [{"q": "a", "c": ["x", "y"], "k": "A"}, {"q": "b", "c": ["x", "y"], "k": "E"}]
    columns = ("--map", "question=q", "--map", "choices=c", "--map", "answer=k")
    added = run("add", "mine", "--from", write("m.jsonl", *rows, rows[0]), *columns)
    assert "Read the answers as 'letter', the only way they can be read." in added.err
    assert "1 faulty" in added.out
    checked = run("check", "mine", "--json")
    assert checked.code == 1
    assert [(one["item_id"], one["fault"]) for one in checked.json] == [
        ("mine/1", "bad_key"),
        ("mine/2", "exact_duplicate"),
    ]
    assert {"benchmark", "item_id", "fault", "detail"} == set(checked.json[0])
    table = run("check")
    assert table.code == 1
    assert "bad_key" in table.out
    assert run("check", "mmlu").code == 0


def test_summaries_are_json_too(run: Run) -> None:
    options = ("--limit", 2, "--domain", "Codes", "--licence", "MIT-0", "--json")
    added = run("add", "cruxeval", "--from", DATA / "zeroeval.jsonl", *options)
    assert added.json["items"] == added.json["limit"] == 2
    assert (added.json["domain"], added.json["licence"]) == ("Codes", "MIT-0")
    assert "Left out 2 rows" in added.err
    presets = {one["preset"]: one for one in run("presets", "--json").json}
    assert len(presets) == 24
    assert presets["arc_easy"]["dataset"] == "allenai/ai2_arc"
    assert "winogrande" in run("presets").out


MAP = ("--map", "question=q")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("check", "mmlu"), "no items in"),
        (("add", "mmluu"), "the unknown preset 'mmluu'; wanted a known benchmark, or --from FILE"),
        (("add", "mmlu", "--from", "none.jsonl"), "none.jsonl is not there"),
        (("add", "mmlu", "--from", "f.jsonl"), "f.jsonl has no column 'question'"),
        (("add", "x", "--preset", "mmul", "--from", "f.jsonl"), "did you mean 'mmlu'?"),
        (("add", "x", "--from", "f.jsonl"), "choose among the columns q, a, b, k"),
        (("add", "x", "--from", "f.jsonl", *MAP), "no column is mapped to the answer"),
        (("add", "x", "--from", "f.jsonl", *MAP, *MAP), "--map question=... twice"),
        (("add", "x", "--from", "f.jsonl", "--map", "question"), "wanted PART=COLUMN"),
        (("add", "x", "--from", "f.jsonl", "--map", "qestion=q"), "did you mean 'question'?"),
        (("add", "x", "--from", "f.jsonl", "--answer", "index2"), "did you mean 'index1'?"),
        (
            ("add", "x", "--from", "f.jsonl", *MAP, "--map", "choices=a,b", "--map", "answer=k"),
            "the answer '1' can be read as index0 or index1; wanted the answer coding stated",
        ),
        (("add", "../x", "--from", "f.jsonl", *MAP, "--map", "answer=k"), "the benchmark's name"),
        (("add", "x", "--from", "f.jsonl", "--dataset", "a/b"), "--from and --dataset together"),
        (("add", "mmlu", "--from", "f.jsonl", "--revision", "a"), "--from and --revision together"),
        (("list", "--project", "/"), "wanted a project folder"),
    ],
)
def test_wrong_input_is_one_sentence(run: Run, arguments: tuple[str, ...], sentence: str) -> None:
    write("f.jsonl", {"q": "Is 2 prime?", "a": "yes", "b": "no", "k": "1"})
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("benchprism: ")
    assert sentence in done.err
    assert done.err.count("\n") == 1


def test_a_damaged_items_file_is_named(run: Run) -> None:
    Path("items").mkdir()
    Path("items/bad.parquet").write_bytes(b"PAR1")
    for command in ("list", "check"):
        done = run(command)
        assert done.code == 2
        assert "bad.parquet cannot be read" in done.err


def test_a_failed_add_leaves_the_items_as_they_were(run: Run) -> None:
    run("add", "mmlu", "--from", DATA / "mmlu_test.jsonl")
    assert run("add", "mmlu", "--from", DATA / "piqa_validation.jsonl").code == 2
    assert run("list", "--json").json[0]["items"] == 5
    assert [path.name for path in Path("items").iterdir()] == ["mmlu.parquet"]
