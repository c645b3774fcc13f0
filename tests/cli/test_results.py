from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

Run = Callable[..., Any]
DATA = Path(__file__).parents[1] / "data"
LM_EVAL = DATA / "logs" / "lm_eval" / "out_hf"
TOY = ("--map", "question=question", "--map", "choices=choices", "--map", "answer=answer",
       "--map", "id=id", "--answer", "index0")  # fmt: skip

SCORES = "benchmark,item_id,model,correct\na,1,m,1\na,2,m,\na,1,n,0\nb,x,m,0.5\nb,x,m,0.5\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "benchprism.yaml").write_text("project: p\n", encoding="utf-8")
    (tmp_path / "scores.csv").write_text(SCORES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def toy(project: Path, benchprism: Run) -> Path:
    """A project with the toy items that the sample logs are of."""
    items = DATA / "results" / "items" / "toy_mc.jsonl"
    assert benchprism("items", "add", "toy_mc", "--from", items, *TOY).code == 0
    return project


def counted(read: int, joined: int, **others: int) -> dict[str, int]:
    names = ("not_joined", "duplicated", "conflicting", "unscored", "errored")
    return {"read": read, "joined": joined, **{name: others.get(name, 0) for name in names}}


def test_add_counts_what_became_of_a_table(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv", "--json")
    assert ran.code == 0
    assert ran.data["files"] == {"scores.parquet": 4}
    assert ran.data["benchmarks"] == [
        {"benchmark": "a", "in_project": False, "models": 2, "items": 2, "of_items": None,
         **counted(3, 3, unscored=1)},
        {"benchmark": "b", "in_project": False, "models": 1, "items": 1, "of_items": None,
         **counted(2, 1, duplicated=1)},
    ]  # fmt: skip
    stored = pq.read_table(project / "results" / "scores.parquet").to_pylist()
    assert [(row["model"], row["item_id"], row["score"]) for row in stored] == [
        ("m", "1", 1.0), ("m", "2", None), ("m", "x", 0.5), ("n", "1", 0.0),
    ]  # fmt: skip


def test_add_tells_a_reader(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv")
    assert ran.code == 0
    assert "a: the project has no items of it; ids are kept as they are" in ran.err
    assert "Added 4 results as scores.parquet" in ran.err
    lines = [line.split() for line in ran.out.splitlines()]
    assert ["b", "1", "1", "2", "1", "0", "1", "0", "0", "0"] in lines
    assert ["m", "a", "yes", "2", "2", "0", "0", "0", "1", "0"] in lines


def test_list(project: Path, benchprism: Run) -> None:
    benchprism("results", "add", "scores.csv")
    wanted = [
        {"file": "scores.parquet", "benchmark": "a", "items": 2, "models": 2, "scores": 2,
         "missing": 2},
        {"file": "scores.parquet", "benchmark": "b", "items": 1, "models": 1, "scores": 1,
         "missing": 0},
    ]  # fmt: skip
    assert benchprism("results", "list", "--json").data == wanted
    lines = [line.split() for line in benchprism("results", "list").out.splitlines()]
    assert ["scores.parquet", "a", "2", "2", "2", "2"] in lines


def test_a_name_is_taken_once(project: Path, benchprism: Run) -> None:
    add = ("results", "add", "scores.csv")
    assert benchprism(*add).code == 0
    again = benchprism(*add)
    assert again.code == 2
    assert "scores.parquet is among the results already" in again.err
    assert benchprism(*add, "--replace").code == 0
    (project / "scores.csv").write_text(SCORES.replace("x", "y"), encoding="utf-8")
    assert benchprism(*add, "--name", "second").code == 0
    assert (project / "results" / "second.parquet").is_file()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["add", "none.csv"], "none.csv is not there"),
        (["add", "odd.csv"], "has no column 'score'"),
        (["add", "odd.csv"], "did you mean 'scores'? (say which with --map score=COLUMN)"),
        (["add", "scores.csv", "--map", "score"], "wanted a pair such as score=correct"),
        (["add", "scores.csv", "--map", "scor=correct"], "did you mean 'score'?"),
        (["add", "scores.csv", "--name", "../x"], "wanted a name without folders"),
        (["add", "scores.csv", "odd.csv", "--name", "x"], "--name 'x' for 2 paths"),
        (["add", "scores.csv", "x/scores.csv"], "two paths whose results would be called"),
        (["add", "empty"], "no logs and no tables in empty"),
        (["add", "scores.csv", "--format", "lmeval"], "did you mean 'lm-eval'?"),
        (["add", "scores.csv", "--scale", "100"], "--scale '100'; wanted the worst and the best"),
        (["add", "scores.csv", "--scale", "1:1"], "two different numbers"),
        (["add", "percent.csv"], "the score 57.0 in row 1"),
        (["add", "percent.csv"], "state the range with --scale WORST:BEST"),
        (["list"], "add them with 'benchprism results add FILE'"),
        (["models"], "add them with 'benchprism results add FILE'"),
        (["list", "-p", "/"], "no benchprism.yaml in /"),
    ],
)
def test_wrong_use_is_one_sentence(
    project: Path, benchprism: Run, words: list[str], sentence: str
) -> None:
    (project / "empty").mkdir()
    odd = SCORES.replace("correct", "scores")
    (project / "odd.csv").write_text(odd, encoding="utf-8")
    percent = "benchmark,item_id,model,score\na,1,m,57.0\n"
    (project / "percent.csv").write_text(percent, encoding="utf-8")
    ran = benchprism("results", *words)
    assert ran.code == 2
    assert sentence in ran.err
    assert ran.err.count("\n") == 1
    assert not (project / "results").exists()


def test_percentages_are_placed(project: Path, benchprism: Run) -> None:
    text = "benchmark,item_id,model,score\na,1,m,57\na,2,m,-3\n"
    (project / "percent.csv").write_text(text, encoding="utf-8")
    ran = benchprism("results", "add", "percent.csv", "--scale", "0:100", "--penalties")
    assert ran.code == 0
    stored = pq.read_table(project / "results" / "percent.parquet")
    assert stored["score"].to_pylist() == [0.57, -0.03]


def test_contradictions_in_a_table_are_left_out(project: Path, benchprism: Run) -> None:
    lines = "".join(f"a,{i},m,1\n" for i in range(20))
    text = f"benchmark,item_id,model,score\n{lines}a,1,m,0\n"
    (project / "twice.csv").write_text(text, encoding="utf-8")
    ran = benchprism("results", "add", "twice.csv")
    assert ran.code == 1
    assert "'m' has contradicting scores for '1': 0 and 1" in ran.err
    stored = pq.read_table(project / "results" / "twice.parquet")
    assert sorted(stored["item_id"].to_pylist()) == sorted(str(i) for i in range(20) if i != 1)


def test_contradictions_with_other_results_are_refused(project: Path, benchprism: Run) -> None:
    assert benchprism("results", "add", "scores.csv").code == 0
    (project / "other.csv").write_text(SCORES.replace("n,0", "n,1"), encoding="utf-8")
    ran = benchprism("results", "add", "other.csv")
    assert ran.code == 2
    assert "'n' has two scores for item '1' of 'a'" in ran.err
    assert "0.0 in scores.parquet row" in ran.err
    assert not (project / "results" / "other.parquet").exists()


def test_a_folder_of_logs(toy: Path, benchprism: Run) -> None:
    """Its generative task has no items in the project; the others are added all the same."""
    ran = benchprism("results", "add", LM_EVAL, "--metric", "toy_mc=acc_norm", "--json")
    assert ran.code == 1
    counts = {row["benchmark"]: row for row in ran.data["benchmarks"]}
    assert counts["toy_mc"]["items"] == counts["toy_mc"]["of_items"] == 8
    assert counts["toy_gen"] == {
        "benchmark": "toy_gen", "in_project": False, "models": 0, "items": 0, "of_items": None,
        **counted(4, 0, not_joined=4),
    }  # fmt: skip
    chosen = {one["task"]: (one["metric"], one["filter"]) for one in ran.data["choices"]}
    assert chosen["toy_mc"] == ("acc_norm", "none")
    assert chosen["toysubj_math"] == ("acc", "none")
    assert ran.data["mixed_metrics"] == {}, "what was scored by acc contradicts, and is left out"
    assert ran.data["below_share"][0]["task"] == "toy_gen (lm-eval)"
    assert (toy / "results" / "out_hf.parquet").is_file()


def test_choices_are_said_aloud(toy: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", LM_EVAL / _samples("toy_mc"))
    assert ran.code == 0
    assert (
        "toy_mc (lm-eval) -> toy_mc: metric acc, filter none (the log's headline; not acc_norm"
        " none)" in ran.err
    )
    assert "toy_mc: items found: 8 by content" in ran.err


def test_reruns_are_said_aloud(toy: Path, benchprism: Run) -> None:
    folder = toy / "logs"
    folder.mkdir()
    for day in ("2026-11-29", "2026-12-24"):
        for path in LM_EVAL.rglob("*_2026-11-29T15-12-12.704052.json*"):
            if "toy_mc" in path.name or path.name.startswith("results"):
                text = path.read_text(encoding="utf-8")
                target = folder / path.name.replace("2026-11-29", day)
                target.write_text(text, encoding="utf-8")
    ran = benchprism("results", "add", folder)
    assert ran.code == 0
    assert "toy_mc (lm-eval): 2 runs; the last is used, 2026-12-24T15-12-12.704052" in ran.err


def test_a_stranger_among_the_logs_is_left_aside(toy: Path, benchprism: Run) -> None:
    folder = toy / "logs"
    folder.mkdir()
    samples = LM_EVAL / _samples("toy_mc")
    (folder / samples.name).write_bytes(samples.read_bytes())
    (folder / "notes.md").write_text("notes", encoding="utf-8")
    ran = benchprism("results", "add", folder)
    assert ran.code == 0
    assert "1 file in no known format left aside (notes.md)" in ran.err
    named = benchprism("results", "add", folder / "notes.md", "--name", "n")
    assert named.code == 1
    assert "notes.md: a file in no known format" in named.err


def test_a_damaged_file_among_others(toy: Path, benchprism: Run) -> None:
    (toy / "bad.csv").write_bytes(b"benchmark,item_id,model,score\na,1,\xff,1\n")
    ran = benchprism("results", "add", "scores.csv", "bad.csv")
    assert ran.code == 1
    assert "bad.csv" in ran.err
    assert (toy / "results" / "scores.parquet").is_file()
    assert not (toy / "results" / "bad.parquet").exists()


def test_the_share_that_has_to_join(toy: Path, benchprism: Run) -> None:
    rows = [("astro-0", 1), ("bio-0", 0), ("nowhere", 1)]
    text = "".join(f"toy_mc,{item},m,{score}\n" for item, score in rows)
    (toy / "part.csv").write_text(f"benchmark,item_id,model,score\n{text}", encoding="utf-8")
    ran = benchprism("results", "add", "part.csv")
    assert ran.code == 1
    assert "2 of 3 results of 1 model join, which is too few" in ran.err
    assert "not in the project, for example: 'nowhere'" in ran.err
    assert not (toy / "results").exists()
    assert benchprism("results", "add", "part.csv", "--min-joined", "0.6").code == 0
    stored = pq.read_table(toy / "results" / "part.parquet")
    assert stored["item_id"].to_pylist() == ["toy_mc/astro-0", "toy_mc/bio-0"]


def test_a_stated_benchmark(toy: Path, benchprism: Run) -> None:
    text = "item_id,model,score\nastro-0,m,1\n"
    (toy / "one.csv").write_text(text, encoding="utf-8")
    assert benchprism("results", "add", "one.csv", "--benchmark", "toy_mc").code == 0
    wrong = benchprism("results", "add", LM_EVAL, "--benchmark", "toy_mcq")
    assert wrong.code == 2
    assert "--benchmark 'toy_mcq'; wanted a benchmark whose items the project has" in wrong.err


def test_progress_is_shown(toy: Path, benchprism: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from benchprism.cli import results_reading

    monkeypatch.setattr(results_reading, "_SECONDS", 0.0)
    ran = benchprism("results", "add", "scores.csv")
    assert "Read 5 results; log 1 of 1" in ran.err


def _samples(task: str) -> str:
    return f"models__tiny-gpt2-s1/samples_{task}_2026-11-29T15-12-12.704052.jsonl"


def test_models_are_drafted_and_wait_for_a_yes(project: Path, benchprism: Run) -> None:
    names = ["Llama-2-7b-hf", "Llama-2-70b-hf", "Llama-2-7b-chat-hf", "secret"]
    rows = "".join(f"a,1,{name},1\n" for name in names)
    (project / "r.csv").write_text(f"benchmark,item_id,model,score\n{rows}", encoding="utf-8")
    benchprism("results", "add", "r.csv")
    ran = benchprism("results", "models", "--json")
    drafted = [
        (row["model"], row["family"], row["size"], row["used"]) for row in ran.data["models"]
    ]
    assert drafted == [
        ("Llama-2-70b-hf", "Llama-2", 70.0, False),
        ("Llama-2-7b-chat-hf", "Llama-2-chat", 7.0, False),
        ("Llama-2-7b-hf", "Llama-2", 7.0, False),
        ("secret", "secret", None, False),
    ]  # fmt: skip
    assert list(ran.data["unusable_for_cad"]) == ["Llama-2-chat", "secret"]
    assert not (project / "models.yaml").exists()
    written = benchprism("results", "models", "--write")
    assert "4 entries are guesses from names, and are not used until confirmed" in written.err
    assert "write 'confirmed: true'" in written.err
    path = project / "models.yaml"
    text = path.read_text(encoding="utf-8").replace("confirmed: false", "confirmed: true")
    path.write_text(text, encoding="utf-8")
    assert all(row["used"] for row in benchprism("results", "models", "--json").data["models"])


def test_the_json_of_add_is_plain(toy: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", DATA / "logs" / "inspect", "--json")
    assert json.dumps(ran.data)
    assert ran.data["findings"]


def test_results_that_are_there_are_not_added_again(project: Path, benchprism: Run) -> None:
    assert benchprism("results", "add", "scores.csv").code == 0
    ran = benchprism("results", "add", "scores.csv", "--name", "again")
    assert ran.code == 1
    assert "4 results of 2 models not added: scores.parquet has the same already" in ran.err
    assert "Nothing was added." in ran.err
    assert not (project / "results" / "again.parquet").exists()
    (project / "more.csv").write_text(SCORES + "c,1,m,1\n", encoding="utf-8")
    ran = benchprism("results", "add", "more.csv", "--json")
    assert ran.code == 0
    assert ran.data["files"] == {"more.parquet": 1}
    assert ran.data["repeated"] == [{"file": "scores.parquet", "results": 4, "models": 2}]
    rows = {row["benchmark"]: row for row in ran.data["benchmarks"]}
    assert (rows["a"]["models"], rows["a"]["joined"], rows["a"]["duplicated"]) == (0, 0, 3)
    assert (rows["c"]["models"], rows["c"]["joined"], rows["c"]["duplicated"]) == (1, 1, 0)


def test_another_metric_than_what_is_there_is_said(toy: Path, benchprism: Run) -> None:
    assert benchprism("results", "add", LM_EVAL / _samples("toy_mc"), "--name", "one").code == 0
    table = "benchmark,item_id,model,score\ntoy_mc,toy_mc/bio-0,m,1\n"
    (toy / "own.csv").write_text(table, encoding="utf-8")
    ran = benchprism("results", "add", "own.csv")
    assert (
        "toy_mc: results are of different metrics, which need not compare: acc (1 model), a metric"
        " that is not stated (1 model)" in ran.err
    )


def test_a_model_gets_the_name_that_its_log_lacks(toy: Path, benchprism: Run) -> None:
    folder = toy / "bu6tyawv"
    folder.mkdir()
    samples = LM_EVAL / _samples("toy_mc")
    (folder / samples.name).write_bytes(samples.read_bytes())
    ran = benchprism("results", "add", folder)
    assert "give it with --rename bu6tyawv=NAME" in ran.err
    ran = benchprism("results", "add", folder, "--rename", "bu6tyawv=Llama-7b", "--replace")
    assert ran.code == 0
    stored = pq.read_table(toy / "results" / "bu6tyawv.parquet")
    assert set(stored["model"].to_pylist()) == {"Llama-7b"}
    wrong = benchprism("results", "add", folder, "--rename", "bu6=x", "--replace")
    assert wrong.code == 2
    assert "use one of bu6tyawv" in wrong.err


def test_only_some_models_are_added(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv", "--model", "n", "--json")
    assert ran.code == 0
    assert [(row["model"], row["read"]) for row in ran.data["models"]] == [("n", 1)]
    (project / "wide.csv").write_text("id,year,n\n1,2020,0\n2,2021,1\n", encoding="utf-8")
    assert benchprism("results", "add", "wide.csv").code == 1
    assert benchprism("results", "add", "wide.csv", "--model", "n").code == 0
    stored = pq.read_table(project / "results" / "wide.parquet").to_pylist()
    assert [(row["item_id"], row["model"], row["score"]) for row in stored] == [
        ("1", "n", 0.0), ("2", "n", 1.0),
    ]  # fmt: skip
    assert {row["metric"] for row in stored} == {None}, "a table does not say"


def test_what_was_read_is_said_before_a_contradiction(project: Path, benchprism: Run) -> None:
    assert benchprism("results", "add", "scores.csv").code == 0
    folder = project / "logs"
    folder.mkdir()
    (folder / "scores.csv").write_text(SCORES.replace("n,0", "n,1"), encoding="utf-8")
    (folder / "bad.csv").write_bytes(SCORES.encode("utf-16"))
    ran = benchprism("results", "add", folder)
    assert ran.code == 2
    assert "bad.csv: the bytes" in ran.err
    assert "'n' has two scores for item '1' of 'a'" in ran.err


def test_a_mapping_names_a_column_once(project: Path, benchprism: Run) -> None:
    ran = benchprism("results", "add", "scores.csv", "--map", "score=a", "--map", "score=b")
    assert ran.code == 2
    assert "'score' is there already" in ran.err


def test_files_left_aside_are_named_from_where_the_search_began(toy: Path, benchprism: Run) -> None:
    folder = toy / "logs" / "one"
    folder.mkdir(parents=True)
    samples = LM_EVAL / _samples("toy_mc")
    (folder / samples.name).write_bytes(samples.read_bytes())
    (folder / "notes.md").write_text("notes", encoding="utf-8")
    ran = benchprism("results", "add", "logs")
    assert "left aside (one/notes.md)" in ran.err


def test_models_names_slips(project: Path, benchprism: Run) -> None:
    text = "benchmark,item_id,model,score\na,1,Foo-7b,1\na,1,Foo-13b,1\n"
    (project / "foo.csv").write_text(text, encoding="utf-8")
    benchprism("results", "add", "foo.csv")
    entry = "models:\n  Foo-7B: {family: Foo, size: 7}\n  Foo-13b: {family: Foo, size: 13}\n"
    (project / "models.yaml").write_text(entry, encoding="utf-8")
    ran = benchprism("results", "models")
    assert "models.yaml names 'Foo-7B', which has no results; did you mean 'Foo-7b'?" in ran.err
    assert "declared; no results" in ran.out


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("a ,3,m,1", "benchmarks that differ in white space or Unicode form only: 'a' and 'a '"),
        ("a, 1,m,1", "items of 'a' that differ in white space or Unicode form only: ' 1' and '1'"),
        ("a,3,m ,1", "the model's name 'm '; wanted a name without white space around it"),
    ],
)
def test_white_space_in_names_is_said(project: Path, benchprism: Run, row: str, said: str) -> None:
    (project / "scores.csv").write_text(f"{SCORES}{row}\n", encoding="utf-8")
    ran = benchprism("results", "add", "scores.csv")
    assert said in ran.err
