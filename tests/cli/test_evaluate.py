"""Agreement and evaluation of the recorded annotations: the numbers of docs/agreement.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from benchprism.annotate.consolidation.rating_matrix import rating_matrix
from benchprism.annotate.ledger.current import current_annotations
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.replay import read_recordings, serving
from benchprism.cli.main import app
from benchprism.demo.demo import RECORDED_ITEMS, STEPS, prepare, unpack
from benchprism.prompts.library import load_catalogue
from benchprism.records.errors import InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.store import project_items, write_items

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")
GOLD = ROOT / "tests" / "data" / "labels" / "mmlu_redux.jsonl"
DEMO = Path(str(files("benchprism.demo")))
PROMPTS = "SELECT DISTINCT annotator, prompt_hash FROM reply"
READERS = ["llm:replay:reader-a", "llm:replay:reader-b"]


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's project, as far as its annotation."""
    folder = tmp_path_factory.mktemp("audit") / "demo"
    prepare(folder)
    unpack(folder)
    (folder / "benchprism.yaml").write_text("project: demo\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for step in STEPS:
            if step.command[:2] == ("items", "add") or step.command[0] == "annotate":
                assert CliRunner().invoke(app, step.command).exit_code == 0
    assert (folder / "data" / RECORDED_ITEMS).is_file()
    return folder


def run(project: Path, *words: object) -> Result:
    line = ["annotate", *map(str, words), "--project", str(project)]
    return CliRunner().invoke(app, line, catch_exceptions=False)


def data(project: Path, *words: object) -> Any:
    result = run(project, *words, "--json")
    assert result.exit_code == 0
    return json.loads(result.stdout)


def cell(value: float, interval: Sequence[float] | None) -> str:
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else f"{value:.2f}"


def coefficient(found: dict[str, Any] | None) -> str:
    return cell(found["estimate"], found["interval"]) if found else ""


def share(found: dict[str, Any]) -> str:
    return cell(found["share"], found["interval"])


def test_the_two_passes_agree_as_the_docs_say(audit: Path) -> None:
    (comparison,) = data(audit, "agreement")["comparisons"]
    assert (comparison["between"], comparison["annotators"]) == ("models", READERS)
    assert len(comparison["attributes"]) == 24
    for one in comparison["attributes"]:
        value, most = max(one["prevalence"].items(), key=lambda pair: pair[1])
        kappa = one.get("weighted_kappa") or one.get("cohen_kappa")
        row = (
            f"| `{one['attribute']}` | {one['items']} | {one['raw_agreement']:.2f} |"
            f" {value} {most:.2f} | {coefficient(one['alpha'])} | {coefficient(kappa)} |"
        )
        assert row in DOCS.split("\n")


@pytest.mark.parametrize("collapse", [[], ["--collapse", "ok"]])
def test_answerability_is_worth_what_the_docs_say(audit: Path, collapse: list[str]) -> None:
    found = data(audit, "evaluate", "--gold", GOLD, "--map", "mmlu_redux", *collapse)
    assert found["gold"]["joined"] == found["gold"]["items"] == 60
    assert [one["annotator"] for one in found["evaluations"]] == [*READERS, "consolidated"]
    for one in found["evaluations"]:
        name = one["annotator"].removeprefix("llm:")
        row = f"| `{name}` | {share(one['accuracy'])} | {coefficient(one['kappa'])} |"
        assert row in DOCS.split("\n")
        for value in one["values"]:
            if value["gold"] or value["given"]:
                shares = [share(value[part]) if value[part]["share"] is not None else "–"
                          for part in ("precision", "recall", "f1")]  # fmt: skip
                row = (
                    f"| `{name}` | {value['value']} | {value['gold']} | {value['given']} |"
                    f" {' | '.join(shares)} |"
                )
                assert row in DOCS.split("\n")


def test_three_alarms_in_four_are_right_and_seven_faults_in_ten_are_missed(audit: Path) -> None:
    words = ("evaluate", "--gold", GOLD, "--map", "mmlu_redux", "--collapse", "ok")
    found = data(audit, *words, "--annotator", READERS[0])
    (one,) = found["evaluations"]
    assert one["confusion"] == [[38, 2], [14, 6]]
    faulty = one["values"][1]
    assert (faulty["value"], faulty["gold"], faulty["given"]) == ("not ok", 20, 8)
    assert faulty["precision"]["share"] == 6 / 8
    assert faulty["recall"]["share"] == 6 / 20
    assert f"{precision_among(0.3, 2 / 40, 162 / 2900):.2f}" == "0.26"
    assert "would be right in 26 % of its alarms" in DOCS.replace("\n", " ")


def precision_among(recall: float, false_alarms: float, prevalence: float) -> float:
    """Precision where so many items are faulty."""
    right, wrong = recall * prevalence, false_alarms * (1 - prevalence)
    return right / (right + wrong)


def test_a_stated_doubt_is_worth_what_the_docs_say(audit: Path) -> None:
    same: dict[float, list[bool]] = {0.0: [], 1.0: []}
    items, catalogue = project_items(audit / "items"), load_catalogue("core")
    with Ledger(audit / "ledger.sqlite") as ledger:
        columns = current_annotations(ledger, catalogue, items)
    for column in columns:
        matrix = rating_matrix(column, items.num_rows)
        rated = matrix.rated.all(axis=1)
        alike = matrix.codes[rated, 0] == matrix.codes[rated, 1]
        for doubts in matrix.doubts[rated].T:
            for doubt in same:
                same[doubt] += alike[doubts == doubt].tolist()
    for words, values in (("it hesitated", same[1.0]), ("it did not", same[0.0])):
        row = f"| {words} | {len(values):,} | {np.mean(values):.0%} |".replace("%", " %")
        assert row in DOCS.split("\n")


def test_everything_says_that_it_is_a_replay(audit: Path) -> None:
    said = "llm:replay:reader-a, llm:replay:reader-b: a REPLAY of recorded annotations"
    few = ["--replicates", 20]
    for words in (["agreement", *few], ["evaluate", "--gold", GOLD, "--map", "mmlu_redux", *few]):
        assert said in run(audit, *words).stderr
        assert any(said in note for note in data(audit, *words)["notes"])
    assert all(one["replayed"] for one in data(audit, *words)["costs"])
    assert "REPLAY" in DOCS


def test_tables_are_for_people(audit: Path) -> None:
    shown = run(audit, "agreement", "--attribute", "clarity", "--replicates", "200", "--seed", "7")
    assert "Between language models" in shown.stdout
    assert "3 0.71" in shown.stdout
    assert "200 replicates, seed 7" in shown.stderr
    shown = run(audit, "evaluate", "--gold", GOLD, "--map", "mmlu_redux", "--collapse", "ok")
    for part in ("0.75 [0.41, 0.93]", "Confusion", "as not ok", "What an item cost"):
        assert part in shown.stdout
    assert "60 of 60 rows are about items of the project (60 text)" in shown.stderr


def test_gold_by_the_end_of_the_id(audit: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "mine.yaml"
    mapping.write_text(
        "id: mmlu_id\nattributes:\n  answerability: {column: label, values: {wrong_groundtruth:"
        " wrong_key, bad_question_clarity: null, multiple_correct_answers: null,"
        " no_correct_answer: null, bad_options_clarity: null}}\n",
        encoding="utf-8",
    )
    found = data(audit, "evaluate", "--gold", GOLD, "--map", mapping)
    assert found["gold"]["ways"] == {"end of id": 60}
    assert sum(found["gold"]["set_aside"].values()) == 15
    assert {one["items"] for one in found["evaluations"]} == {45}


def test_levels_and_sets_are_evaluated_too(audit: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text(
        "item_id,clarity,sensitive_topics\n"
        "gsm8k/test/100,3,none\nmmlu/abstract_algebra/test/34,0,none\nnowhere/1,3,none\n",
        encoding="utf-8",
    )
    found = data(audit, "evaluate", "--gold", gold, "--annotator", READERS[0])
    levels, sets = found["evaluations"]
    assert (levels["attribute"], levels["items"]) == ("clarity", 2)
    assert levels["mean_absolute_error"]["estimate"] is not None
    assert (sets["attribute"], sets["confusion"]) == ("sensitive_topics", None)
    assert found["gold"]["not_found"] == ["line 4"]
    shown = run(audit, "evaluate", "--gold", gold)
    assert "2 of 3 rows are about items of the project (2 id, 1 unknown)" in shown.stderr


WRONG: list[tuple[list[str], str]] = [
    (["agreement", "--between", "llm:replay:reader-a,llm:replay:reader-c"],
     "no values by 'llm:replay:reader-c'.*did you mean 'llm:replay:reader-"),
    (["agreement", "--between", "llm:replay:reader-a"], "wanted at least two annotators"),
    (["agreement", "--attribute", "clarty"], "did you mean 'clarity'"),
    (["evaluate", "--gold", str(GOLD)], "neither a column 'item_id' nor 'id'|no column of gold"),
    (["evaluate", "--gold", str(GOLD), "--map", "mmlu_redux", "--collapse", "fine"],
     "'answerability' cannot be collapsed to 'fine'"),
    (["evaluate", "--gold", str(GOLD), "--map", "mmlu_redux", "-a", "nobody"], "by 'nobody'"),
    (["evaluate", "--gold", "nowhere.csv"], "nowhere.csv is not there"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), WRONG)
def test_wrong_input_is_one_sentence(audit: Path, words: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        run(audit, *words)
    assert "\n" not in str(error.value)


def test_gold_of_other_items_is_said(audit: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("item_id,clarity\nnowhere/1,3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"no item of the project .*1 rows: 1 unknown"):
        run(audit, "evaluate", "--gold", gold)


@pytest.fixture
def project(tmp_path: Path) -> Callable[[str], Path]:
    """A project of 20 items of ARC-Easy with a project file of one's own."""

    def make(text: str) -> Path:
        folder = tmp_path / "panel"
        folder.mkdir(exist_ok=True)
        loaded = load(Request("arc_easy", file=DEMO / "arc_easy.jsonl.gz"))
        write_items(folder / "items" / "arc_easy.parquet", loaded.items, loaded.provenance)
        (folder / "benchprism.yaml").write_text(f"project: panel\n{text}", encoding="utf-8")
        return folder

    return make


def test_a_panel_of_models_prompts_and_repeats(
    project: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    words = tmp_path / "panel" / "short"
    words.mkdir(parents=True)
    (words / "system.jinja").write_text("Judge the item.\n{{ rubric }}", encoding="utf-8")
    with serving(read_recordings(DEMO / "recordings.jsonl.gz")) as server:
        at = f"base_url: '{server.base_url}'"
        folder = project(
            "annotators:\n"
            f"  a: {{model: 'replay:reader-a', {at}, repeats: 2}}\n"
            f"  short: {{model: 'replay:reader-b', {at}, prompt: short}}\n"
            "consolidation:\n"
            "  level: {method: dawid_skene, fallback: median}\n"
            "  label: {ties: missing}\n"
        )
        assert run(folder).exit_code == 0
        asked = server.requests
        assert run(folder).exit_code == 0
        assert server.requests == asked
    with Ledger(folder / "ledger.sqlite") as ledger:
        prompts = {str(row[0]): row[1] for row in ledger.query(PROMPTS)}
    assert {*prompts} == {"llm:a", "llm:a#2", "llm:short"}
    assert prompts["llm:a"] == prompts["llm:a#2"] != prompts["llm:short"]
    found = data(folder, "agreement", "--replicates", 50)
    assert [(one["between"], one["annotators"]) for one in found["comparisons"]] == [
        ("models", ["llm:a", "llm:short"]),
        ("passes", ["llm:a", "llm:a#2"]),
    ]
    assert {one["raw_agreement"] for one in found["comparisons"][1]["attributes"]} == {1.0}
    assert found["consolidation"]["settings"]["level"]["fallback"] == "median"
    assert any("fewer than three raters: median instead" in note for note in found["notes"])


def test_one_annotator_is_told_what_agreement_needs(project: Callable[[str], Path]) -> None:
    folder = project("")
    recordings = DEMO / "recordings.jsonl.gz"
    assert "no annotators gave values" in run(folder, "agreement").stderr
    run(folder, "--replay", recordings, "--annotator", "replay:reader-a", "--limit", 2)
    found = data(folder, "agreement")
    assert found["comparisons"] == []
    assert "1 annotator gave values: agreement needs two models" in found["notes"][0]
