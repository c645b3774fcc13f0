"""The commands ``compose`` and ``explain`` on a project of twelve items."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchprism.annotate.ledger.outcome import Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger
from benchprism.cli.main import main
from benchprism.compose.store import read_subset
from benchprism.prompts.library import load_catalogue
from benchprism.records.items.record import Item, choice_set_hash, content_hash
from benchprism.records.items.store import write_items

CATALOGUE = load_catalogue("core")
DEPTHS = {
    "arc": [0, 2, 3, None, 2, 1],
    "gsm": [2, 3, 3, 2, None, None],
}
CRITERIA = """
name: deep
where:
  reasoning_depth: {min: 2}
sample: {size: 4, balance: benchmark}
"""


def item(benchmark: str, row: int) -> Item:
    question, choices = f"Question {row} of {benchmark}?", ("yes", "no")
    return Item(
        item_id=f"{benchmark}/test/{row}", benchmark=benchmark, subset="", split="test", row=row,
        revision="sha256:0", question=question, context="", choices=choices, answer_index=0,
        answer_text="yes", accepted_answers=(), kind="multiple_choice",
        faults=("bad_key",) if (benchmark, row) == ("gsm", 3) else (), source="{}",
        content_hash=content_hash(question, "", choices),
        choice_set_hash=choice_set_hash(question, "", choices),
    )  # fmt: skip


def annotate(
    ledger: Ledger, benchmark: str, row: int, depth: int, *, annotator: str = "llm:main",
    model: str = "m",
) -> None:  # fmt: skip
    ledger.remember(CATALOGUE)
    reply = Reply(
        request_key=f"{benchmark}{row}{annotator}", item_id=f"{benchmark}/test/{row}",
        content_hash=item(benchmark, row).content_hash, annotator=annotator, model=model,
        prompt_hash="p", catalogue_hash=CATALOGUE.hash, status="ok", reason="", body="",
        usage=Usage(), price=None, time=f"2026-01-01T00:00:0{row}.000000+00:00", seconds=0.1,
        attempts=1,
    )  # fmt: skip
    ledger.add([(reply, [Verdict("reasoning_depth", depth, "ok", confidence=0.9)])])


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchprism.yaml").write_text("project: p\nseed: 5\n", encoding="utf-8")
    (tmp_path / "criteria").mkdir()
    (tmp_path / "criteria" / "deep.yaml").write_text(CRITERIA, encoding="utf-8")
    with Ledger(tmp_path / "ledger.sqlite", write=True) as ledger:
        for benchmark, depths in DEPTHS.items():
            items = [item(benchmark, row) for row in range(len(depths))]
            path = tmp_path / "items" / f"{benchmark}.parquet"
            write_items(path, items, {"preset": benchmark, "licence": "mit"})
            for row, depth in enumerate(depths):
                if depth is not None:
                    annotate(ledger, benchmark, row, depth)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    def benchprism(*words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["benchprism", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Ran(code, *capsys.readouterr())

    return benchprism


def test_compose_writes_the_subset_and_says_what_each_rule_leaves(project: Path, run: Any) -> None:
    ran = run("compose", "criteria/deep.yaml", "--json")
    folder = project / "subsets" / "deep"
    assert ran.code == 0
    assert ran.data == {
        "name": "deep",
        "items": {"arc": 6, "gsm": 6},
        "rules": [
            {"rule": "fault: bad_key", "left_out": 1, "missing": 0, "left": {"arc": 6, "gsm": 5}},
            {
                "rule": "reasoning_depth >= 2",
                "left_out": 5,
                "missing": 3,
                "left": {"arc": 3, "gsm": 3},
            },
            {
                "rule": "sample: size 4, seed 5, balance benchmark",
                "left_out": 2,
                "missing": 0,
                "left": {"arc": 2, "gsm": 2},
            },
        ],
        "groups": [
            {"group": "arc", "available": 3, "drawn": 2},
            {"group": "gsm", "available": 3, "drawn": 2},
        ],
        "expectations": [],
        "calibration": {},
        "chosen": {"arc": 2, "gsm": 2},
        "folder": str(folder),
    }
    assert "Wrote 4 items to subsets/deep. Next: benchprism score deep" in ran.err
    subset = read_subset(folder)
    assert subset.items.num_rows == 4
    assert subset.lock["annotators"] == [
        {
            "annotator": "llm:main",
            "model": "m",
            "prompt_hash": "p",
            "catalogue_hash": CATALOGUE.hash,
        }
    ]
    assert subset.lock["sources"]["arc"]["licence"] == "mit"
    assert subset.lock["catalogue"]["hash"] == CATALOGUE.hash


def test_the_tables_for_people(project: Path, run: Any) -> None:
    ran = run("compose", "criteria/deep.yaml")
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["2", "reasoning_depth", ">=", "2", "5", "3", "6"] in lines
    assert ["arc", "6", "6", "3", "2"] in lines


def test_one_item_is_an_item(project: Path, run: Any) -> None:
    one = CRITERIA.replace("size: 4", "size: 1")
    (project / "criteria" / "deep.yaml").write_text(one, encoding="utf-8")
    assert "1 item would be chosen." in run("compose", "criteria/deep.yaml", "--dry-run").err
    assert "Wrote 1 item to subsets/deep." in run("compose", "criteria/deep.yaml").err
    rebuilt = run("compose", "criteria/deep.yaml", "--locked").err
    assert "Rebuilt 1 item in subsets/deep, bit for bit." in rebuilt
    assert "Checked 1 criteria file: every" in run("compose", "--check").err
    assert "1 item left out by 'fault: bad_key'." in run("explain", "deep", "--rule", "1").err
    assert run("diff", "deep", "deep").out.startswith("1 item in both, 0 only in deep")


def test_a_dry_run_writes_nothing(project: Path, run: Any) -> None:
    ran = run("compose", "criteria/deep.yaml", "--dry-run", "--json")
    assert (ran.code, ran.data["folder"]) == (0, None)
    assert not (project / "subsets").exists()
    assert "4 items would be chosen. Next: benchprism compose criteria/deep.yaml" in ran.err


def test_the_criteria_are_found_from_the_projects_folder(
    project: Path, run: Any, tmp_path_factory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    ran = run("compose", "criteria/deep.yaml", "--project", str(project))
    assert ran.code == 0
    assert (project / "subsets" / "deep" / "lock.json").is_file()


def test_two_runs_give_the_same_bytes(project: Path, run: Any) -> None:
    def written() -> dict[str, bytes]:
        assert run("compose", "criteria/deep.yaml").code == 0
        folder = project / "subsets" / "deep"
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    assert written() == written()


def test_before_any_annotation_every_attribute_is_missing(project: Path, run: Any) -> None:
    (project / "ledger.sqlite").unlink()
    ran = run("compose", "criteria/deep.yaml")
    assert ran.code == 2
    assert "no item is left; wanted at least one; annotate more items" in ran.err
    assert "leaves out 11, 11 of them without a value" in ran.err
    assert ["2", "reasoning_depth", ">=", "2", "11", "11", "0"] in [
        line.split() for line in ran.out.splitlines()
    ]


@pytest.mark.parametrize(
    ("criteria", "sentence"),
    [
        ("name: deep\nwhere: {reasoning_dept: 2}", "line 2, column 9: the unknown field"),
        ("name: deep\nwhere: {reasoning_dept: 2}", "did you mean 'reasoning_depth'?"),
        ("name: deep\nwhere: {reasoning_depth: 7}", "use one of 0, 1, 2, 3"),
        ("name: deep\nwhere: {answerability: okay}", "did you mean 'ok'?"),
        ("name: deep\nwhere: {answerability: {min: 2}}", "which holds a label"),
        ("name: deep\nwhere: {clarity: {mn: 2}}", "did you mean 'min'?"),
        ("name: deep\nfrom: [acr]", "did you mean 'arc'? (benchmarks are added by"),
        ("name: deep\nname: deep", "write the key once"),
        ("name: ../deep", "a name of lower-case letters"),
        ("name: deep\nwhere: [x", "line"),
        (CRITERIA.replace("4", "50"), "6 items are left to draw from (arc 3, gsm 3); wanted 50"),
        (CRITERIA.replace("min: 2", "missing: true") + "faults: keep", "3 items are left"),
        (CRITERIA.replace("4", "7"), "faults: keep gives 7; or reasoning_depth >= 1 gives 7; or"),
        (CRITERIA.replace("min: 2", "min: 3"), "reasoning_depth >= 2 gives 6; or change sample"),
        ("name: deep\nextends: none.yaml", "line 2, column 1: no criteria file 'none.yaml'"),
        ("name: deep\nfrom: ['subset:old']", "no subset 'old'"),
        ("name: deep\nfrom: ['subset:deep']", "line 2, column 8: the composition 'deep' itself"),
        ("name: deep\nwhere: {difficulty: {min: 0.5}}", "'benchprism results add FILE'"),
        ("name: deep\nwhere: {'outcome:m': 1}", "line 2, column 9: 'outcome:m', which needs"),
        ("name: deep\nselect: {}", "line 2, column 1: 'select', which needs results"),
        ("name: deep\nwhere: {word_count: {min: 99}}", "no item is left"),
    ],
)
def test_wrong_criteria_are_one_sentence(
    criteria: str, sentence: str, project: Path, run: Any
) -> None:
    (project / "criteria" / "deep.yaml").write_text(criteria, encoding="utf-8")
    for words in ([], ["--json"], ["--dry-run"], ["--locked"]):
        ran = run("compose", "criteria/deep.yaml", *words)
        assert ran.code == 2
        assert sentence in ran.err
        assert ran.err.count("\n") == 1
        assert ran.err.startswith("benchprism: ")
        assert not (project / "subsets").exists()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("deep.yaml", "did you mean 'criteria/deep.yaml'?"),
        ("deep", "did you mean 'criteria/deep.yaml'?"),
        ("criteria/dep.yaml", "did you mean 'criteria/deep.yaml'?"),
        ("zz", "use one of criteria/deep.yaml"),
    ],
)
def test_a_path_that_is_not_there(path: str, sentence: str, project: Path, run: Any) -> None:
    ran = run("compose", path)
    assert ran.code == 2
    assert sentence in ran.err


def test_nothing_to_work_on(project: Path, run: Any) -> None:
    for path in (project / "items").iterdir():
        path.unlink()
    ran = run("compose", "criteria/deep.yaml")
    assert ran.code == 2
    assert "benchprism items add" in ran.err
    (project / "criteria" / "deep.yaml").unlink()
    assert "benchprism schema criteria" in run("compose", "criteria/deep.yaml").err
    (project / "benchprism.yaml").unlink()
    assert "benchprism init DIR" in run("compose", "criteria/deep.yaml").err


def test_a_folder_that_cannot_be_written(project: Path, run: Any) -> None:
    (project / "subsets").write_text("", encoding="utf-8")
    ran = run("compose", "criteria/deep.yaml")
    assert ran.code == 2
    assert "cannot be written" in ran.err


def test_explain_an_item_that_is_out(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    ran = run("explain", "deep", "arc/test/0", "--json")
    assert ran.code == 0
    assert ran.data == {
        "subset": "deep",
        "item_id": "arc/test/0",
        "chosen": False,
        "rule": "reasoning_depth >= 2",
        "detail": "reasoning_depth is 0, wanted at least 2",
        "verdicts": [
            {
                "rule": "reasoning_depth >= 2",
                "outcome": "not met",
                "values": [
                    {
                        "field": "reasoning_depth",
                        "value": 0,
                        "source": "llm_single",
                        "confidence": 0.9,
                        "confidence_source": "probability",
                    }
                ],
            }
        ],
        "changes": [
            "reasoning_depth at least 2 (it is 0)",
            "after that, to pass sample: size 4, seed 5, balance benchmark",
        ],
        "cautions": [],
        "today": None,
        "outdated": False,
        "replayed": [],
    }


def test_explain_says_what_is_a_replay(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    with Ledger(project / "ledger.sqlite", write=True) as ledger:
        annotate(ledger, "arc", 0, 0, annotator="llm:replay:a", model="replay:a")
        annotate(ledger, "arc", 3, 1)
    ran = run("explain", "deep", "arc/test/0")
    assert "what llm:replay:a said of it is a replay of recorded annotations" in ran.err
    assert "replay" not in run("explain", "deep", "arc/test/3").err


def test_explain_says_where_annotators_are_divided(project: Path, run: Any) -> None:
    with Ledger(project / "ledger.sqlite", write=True) as ledger:
        annotate(ledger, "arc", 0, 3, annotator="llm:other")
    run("compose", "criteria/deep.yaml")
    assert "llm_consensus   0.50 (tie)" in run("explain", "deep", "arc/test/0").out


def test_explain_for_people(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    out = run("explain", "deep", "arc/test/3").out
    assert "arc/test/3 is out of deep." in out
    assert "reasoning_depth is missing, wanted at least 2" in out
    [chosen, *_] = read_subset(project / "subsets" / "deep").items["item_id"].to_pylist()
    out = run("explain", "deep", chosen).out
    assert f"{chosen} is in deep." in out
    assert "llm_single" in out


def test_explain_notices_what_has_changed(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    with Ledger(project / "ledger.sqlite", write=True) as ledger:
        annotate(ledger, "arc", 3, 3)
    ran = run("explain", "deep", "arc/test/3")
    assert ran.code == 0
    assert "compose it again" in ran.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["dep", "arc/test/0"], "did you mean 'deep'?"),
        (["deep", "arc/tst/0"], "did you mean 'arc/test/0'?"),
        (["deep", "zzz"], "its items are of arc, gsm"),
    ],
)
def test_explain_what_is_not_there(
    words: list[str], sentence: str, project: Path, run: Any
) -> None:
    assert "compose one with" in run("explain", *words).err
    run("compose", "criteria/deep.yaml")
    ran = run("explain", *words)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1


def test_a_dry_run_shows_what_single_changes_would_leave(project: Path, run: Any) -> None:
    text = CRITERIA.replace("min: 2", "min: 3")
    (project / "criteria" / "deep.yaml").write_text(text, encoding="utf-8")
    ran = run("compose", "criteria/deep.yaml", "--dry-run", "--json")
    assert ran.code == 2
    assert ran.data["rules"][-1]["left"] == {"arc": 1, "gsm": 2}
    assert ran.data["relaxations"][0] == {
        "change": "reasoning_depth >= 2",
        "left": 6,
        "by_benchmark": {"arc": 3, "gsm": 3},
        "enough": True,
        "short": "",
    }
    lines = [line.split() for line in run("compose", "criteria/deep.yaml").out.splitlines()]
    assert ["reasoning_depth", ">=", "2", "6", "yes"] in lines
    assert ["faults:", "keep", "3", "no"] not in lines


EXPECTING = (
    CRITERIA
    + """
expect:
  - {count: items, per: benchmark, min: MIN}
  - {mean: reasoning_depth, min: 2}
"""
)


def test_nothing_is_written_unless_expectations_are_true(project: Path, run: Any) -> None:
    path = project / "criteria" / "deep.yaml"
    path.write_text(EXPECTING.replace("MIN", "3"), encoding="utf-8")
    for words in ([], ["--dry-run"]):
        ran = run("compose", "criteria/deep.yaml", *words)
        assert ran.code == 1
        assert "Nothing was written" in ran.err
        lines = [line.split() for line in ran.out.splitlines()]
        assert ["items", "per", "benchmark:", "at", "least", "3", "arc", "2", "no"] in lines
        assert not (project / "subsets").exists()
    data = run("compose", "criteria/deep.yaml", "--json").data
    assert [e["met"] for e in data["expectations"]] == [False, False, True]
    assert data["folder"] is None
    path.write_text(EXPECTING.replace("MIN", "2"), encoding="utf-8")
    assert run("compose", "criteria/deep.yaml").code == 0


def test_a_locked_subset_is_rebuilt_bit_for_bit(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    folder = project / "subsets" / "deep"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "items.parquet").unlink()
    (folder / "excluded.parquet").write_bytes(b"damaged")
    ran = run("compose", "criteria/deep.yaml", "--locked")
    assert ran.code == 0
    assert "Mended: items.parquet is missing or damaged." in ran.err
    assert "Rebuilt 4 items in subsets/deep, bit for bit." in ran.err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_a_lock_rests_on_has_moved(project: Path, run: Any) -> None:
    assert run("compose", "criteria/deep.yaml", "--locked").code == 1
    run("compose", "criteria/deep.yaml")
    folder = project / "subsets" / "deep"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with Ledger(project / "ledger.sqlite", write=True) as ledger:
        annotate(ledger, "arc", 3, 3)
    ran = run("compose", "criteria/deep.yaml", "--locked", "--json")
    assert ran.code == 1
    assert "values of reasoning_depth changed" in ran.data["moved"]
    assert "'deep' is not rebuilt" in ran.err
    assert "reasoning_depth changed" in run("compose", "criteria/deep.yaml", "--locked").out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_check_finds_what_is_out_of_date(project: Path, run: Any) -> None:
    second = "# a comment\nname: second\nexpect: [{count: items, min: 99}]\n"
    (project / "criteria" / "second.yaml").write_text(second, encoding="utf-8")
    (project / "criteria" / "third.yml").write_text("name: third\nwher: {}\n", encoding="utf-8")
    run("compose", "criteria/deep.yaml")
    assert run("compose", "criteria/deep.yaml", "--check").code == 0
    ran = run("compose", "--check", "--json")
    assert ran.code == 1
    assert [(f["file"], f["line"], f["column"]) for f in ran.data] == [
        ("criteria/second.yaml", 3, 10),
        ("criteria/second.yaml", 2, 1),
        ("criteria/third.yml", 2, 1),
    ]
    assert [f["message"].partition(";")[0] for f in ran.data] == [
        "expected items: at least 99",
        "no subset 'second' has been composed yet",
        "the unknown key 'wher'",
    ]
    ran = run("compose", "--check", "--output-format", "github")
    assert ran.code == 1
    assert ran.out.splitlines()[0] == (
        "::error file=criteria/second.yaml,line=3,col=10,title=benchprism compose::"
        "expected items: at least 99; found 11"
    )
    assert "criteria/third.yml" in run("compose", "--check").out
    assert not (project / "subsets" / "second").exists()


def test_a_check_finds_damage(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    (project / "subsets" / "deep" / "items.parquet").unlink()
    ran = run("compose", "--check", "--json")
    assert [f["message"] for f in ran.data] == ["items.parquet is missing or damaged"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "no criteria file is named; wanted one; run 'benchprism compose criteria/deep.yaml'"),
        (["--dry-run", "--check"], "--dry-run and --check together"),
        (["criteria/deep.yaml", "--output-format", "github"], "--output-format without --check"),
    ],
)
def test_options_that_do_not_go_together(
    words: list[str], sentence: str, project: Path, run: Any
) -> None:
    ran = run("compose", *words)
    assert ran.code == 2
    assert sentence in ran.err


def test_a_composition_can_start_from_another(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    text = "name: deeper\nfrom: ['subset:deep']\nwhere: {reasoning_depth: 3}\n"
    (project / "criteria" / "deeper.yaml").write_text(text, encoding="utf-8")
    assert run("compose", "criteria/deeper.yaml").code == 0
    deep, deeper = (read_subset(project / "subsets" / name) for name in ("deep", "deeper"))
    rows = deep.items.select(["item_id", "reasoning_depth"]).to_pylist()
    assert [*deeper.contents] == [r["item_id"] for r in rows if r["reasoning_depth"] == 3]
    assert [*deeper.lock["compositions"]] == ["deep"]
    assert run("compose", "criteria/deeper.yaml", "--check").code == 0
    (project / "criteria" / "deep.yaml").write_text(CRITERIA.replace("4", "6"), encoding="utf-8")
    run("compose", "criteria/deep.yaml")
    messages = [f["message"] for f in run("compose", "--check", "--json").data]
    assert "the earlier composition deep changed" in messages


def test_the_items_behind_a_number(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    ran = run("explain", "deep", "--rule", "2", "--json")
    assert ran.data["rule"] == "reasoning_depth >= 2"
    assert [row["item_id"] for row in ran.data["items"]] == [
        "arc/test/0", "arc/test/3", "arc/test/5", "gsm/test/4", "gsm/test/5",
    ]  # fmt: skip
    ran = run("explain", "deep", "--rule", "fault: bad_key")
    assert "gsm/test/3" in ran.out
    assert "1 item left out by 'fault: bad_key'." in ran.err
    assert "no rule '9' of 'deep'" in run("explain", "deep", "--rule", "9").err
    assert "no item and no rule" in run("explain", "deep").err
    assert "both an item and a rule" in run("explain", "deep", "arc/test/0", "--rule", "1").err


def test_explain_says_what_would_have_to_change(project: Path, run: Any) -> None:
    run("compose", "criteria/deep.yaml")
    out = run("explain", "deep", "arc/test/0").out
    assert "To be in, it would need:\n  - reasoning_depth at least 2 (it is 0)\n" in out


RESULTS = "benchmark,item_id,model,score\n" + "".join(
    f"{benchmark},{benchmark}/test/{row},{model},{int(row < solved)}\n"
    for benchmark in ("arc", "gsm")
    for row in range(6)
    for model, solved in {"a1": 2, "a2": 4, "b1": 1, "b2": 5}.items()
)
MODELS = """
models:
  a1: {family: A, size: 1}
  a2: {family: A, size: 2}
  b1: {family: B, size: 1}
  b2: {family: B, size: 2}
"""


def test_criteria_ask_what_models_scored(project: Path, run: Any) -> None:
    (project / "results.csv").write_text(RESULTS, encoding="utf-8")
    (project / "models.yaml").write_text(MODELS, encoding="utf-8")
    assert run("results", "add", "results.csv").code == 0
    text = "name: hard\nwhere: {difficulty: {min: 0.5}, 'outcome:b2': 1}\nselect: {share: 0.5}\n"
    (project / "criteria" / "hard.yaml").write_text(text, encoding="utf-8")
    ran = run("compose", "criteria/hard.yaml", "--json")
    # rows 2 to 4 are solved by b2 and by half of the models at most; gsm/test/3 has a fault
    assert [step["left"] for step in ran.data["rules"]][2] == {"arc": 3, "gsm": 2}
    subset = read_subset(project / "subsets" / "hard")
    assert subset.lock["selection"]["held_in"].keys() != {"A", "B"}
    assert {*subset.lock["results"]["models"]} == {"a1", "a2", "b1", "b2"}
    assert run("explain", "hard", "arc/test/0", "--json").data["verdicts"][0]["values"] == [
        {"field": "difficulty", "value": 0.0, "source": "results", "confidence": None,
         "confidence_source": None}
    ]  # fmt: skip
    assert run("compose", "criteria/hard.yaml", "--locked").code == 0
