"""What ``benchprism annotate`` says about money, and what it asks before it is spent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchprism.annotate.replay import ReplayServer, read_recordings, serving
from benchprism.cli.main import app
from benchprism.records.errors import BudgetReached, ConfirmationNeeded, EndpointError, InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.store import write_items

DEMO = Path(str(files("benchprism.demo")))
Run = Callable[..., Result]
PRICES = "prices: {'replay:reader-a': {input: 1.0, cached_input: 0.1, output: 10.0}}"


@pytest.fixture
def server() -> Iterator[ReplayServer]:
    with serving(read_recordings(DEMO / "recordings.jsonl.gz")) as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: ReplayServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the 20 recorded items of ARC-Easy and a reader with a price."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    loaded = load(Request("arc_easy", file=DEMO / "arc_easy.jsonl.gz"))
    write_items(tmp_path / "items" / "arc_easy.parquet", loaded.items, loaded.provenance)
    settings(tmp_path, server, PRICES)
    return tmp_path


def settings(folder: Path, server: ReplayServer, *lines: str, annotator: str = "") -> None:
    reader = f"{{model: 'replay:reader-a', base_url: '{server.base_url}'{annotator}}}"
    text = "\n".join(["project: p", f"annotators: {{reader: {reader}}}", *lines, ""])
    (folder / "benchprism.yaml").write_text(text, encoding="utf-8")


@pytest.fixture
def run(project: Path) -> Run:
    def run(*arguments: str, command: tuple[str, ...] = ("annotate",)) -> Result:
        line = [*command, "--project", str(project), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    return run


def test_a_dry_run_shows_what_each_way_of_asking_takes(run: Run, server: ReplayServer) -> None:
    (found,) = json.loads(run("--dry-run", "--json").stdout)
    assert server.requests == 0
    chosen = found["chosen"]
    assert found["annotator"] == "llm:reader"
    assert chosen["asking"] == {"ask": "all", "items_per_call": 1}
    assert (chosen["items"], chosen["calls"], found["calibration"]["replies"]) == (20, 20, 0)
    assert 0 < chosen["price"][0] < chosen["price"][1]
    ways = {(o["asking"]["ask"], o["asking"]["items_per_call"]): o for o in found["others"]}
    assert {way: other["calls"] for way, other in ways.items()} == {
        ("all", 5): 4, ("all", 10): 2,
        ("dimension", 1): 100, ("dimension", 5): 20, ("dimension", 10): 10,
    }  # fmt: skip
    assert ways["all", 10]["price"][1] < chosen["price"][1] < ways["dimension", 1]["price"][1]


def test_a_dry_run_is_a_table_for_people(run: Run) -> None:
    result = run("--dry-run")
    assert result.exit_code == 0
    assert "llm:reader *" in result.stdout
    assert "dimension" in result.stdout
    assert "counted without the model's vocabulary" in result.stderr


def test_a_dry_run_needs_neither_key_nor_price(run: Run, project: Path) -> None:
    (project / "benchprism.yaml").write_text(
        "project: p\nannotators: {main: {model: some-model}}\n", encoding="utf-8"
    )
    result = run("--dry-run")
    assert "no price; add the model to 'prices'" in result.stderr
    (found,) = json.loads(run("--dry-run", "--json").stdout)
    assert (found["chosen"]["calls"], found["chosen"]["price"]) == (20, None)


def test_replies_in_the_ledger_correct_the_count(run: Run) -> None:
    run("--limit", "12")
    result = run("--dry-run")
    assert "corrected by 12 replies of the model in the ledger" in result.stderr
    (found,) = json.loads(run("--dry-run", "--json").stdout)
    assert found["chosen"]["items"] == 8
    run()
    assert "llm:reader: nothing is missing." in run("--dry-run").stderr


def test_above_the_threshold_it_needs_a_terminal_to_ask(
    run: Run, project: Path, server: ReplayServer
) -> None:
    settings(project, server, PRICES, "confirm_above: 0.01")
    with pytest.raises(
        ConfirmationNeeded, match=r"a yes, above the 0\.01 of 'confirm_above'"
    ) as error:
        run()
    assert error.value.exit_code == 3
    assert server.requests == 0


@pytest.mark.parametrize(("answer", "code", "asked"), [("y", 0, 20), ("n", 3, 0), ("", 3, 0)])
def test_on_a_terminal_it_asks(
    project: Path, server: ReplayServer, answer: str, code: int, asked: int
) -> None:
    settings(project, server, PRICES, "confirm_above: 0.01")
    person, terminal = os.openpty()
    command = [str(Path(sys.executable).with_name("benchprism")), "annotate", "-p", str(project)]
    with subprocess.Popen(command, stdin=terminal, stderr=subprocess.PIPE, text=True) as process:
        os.write(person, f"{answer}\n".encode())
        said = process.communicate(timeout=60)[1]
    os.close(person)
    os.close(terminal)
    assert "Go on? [y/N]" in said
    assert (process.returncode, server.requests) == (code, asked)


def test_yes_is_an_answer_and_below_the_threshold_none_is_needed(
    run: Run, project: Path, server: ReplayServer
) -> None:
    settings(project, server, PRICES, "confirm_above: 0.01")
    result = run("--limit", "5", "--yes")
    assert "This costs between" in result.stderr
    settings(project, server, PRICES)
    assert "This costs between" not in run().stderr
    (one,) = json.loads(run("--json", command=("annotate", "status")).stdout)["annotators"]
    assert one["replies"] == one["priced"] == 20
    cached = one["cached_tokens"]
    worked = one["prompt_tokens"] - cached + 0.1 * cached + 10 * one["completion_tokens"]
    assert one["price"] == pytest.approx(worked / 1e6)
    assert f"{one['price']:.4f}" in run(command=("annotate", "status")).stdout


@pytest.mark.parametrize("in_file", [True, False])
def test_yes_does_not_pass_the_budget(
    run: Run, project: Path, server: ReplayServer, in_file: bool
) -> None:
    limit = ", max_output_tokens: 500, concurrency: 2"
    settings(project, server, PRICES, *["budget: 0.05"] * in_file, annotator=limit)
    options = ["--budget", "1.0"] if in_file else ["--budget", "0.05"]
    with pytest.raises(BudgetReached, match=r"the budget of 0\.05 is reached"):
        run("--yes", *options)
    (one,) = json.loads(run("--json", command=("annotate", "status")).stdout)["annotators"]
    assert 0 < one["replies"] < 20
    assert 0.05 - 0.012 < one["price"] <= 0.05


def test_a_budget_without_a_price_is_refused(run: Run, project: Path, server: ReplayServer) -> None:
    settings(project, server)
    with pytest.raises(InputError, match="a budget, and no price for the model 'replay:reader-a'"):
        run("--budget", "5")
    assert server.requests == 0


def test_shards_have_ledgers_of_their_own_that_are_merged(
    run: Run, project: Path, server: ReplayServer
) -> None:
    run("--limit", "4")
    for number in (1, 2):
        result = run("--shard", f"{number}/2")
        assert f"annotate merge {project}/shards/{number}-of-2.sqlite" in result.stderr
    assert server.requests == 20
    paths = [str(path) for path in sorted((project / "shards").glob("*.sqlite"))]
    shard = json.loads(run("--ledger", paths[0], "--json", command=("annotate", "status")).stdout)
    assert 0 < shard["annotators"][0]["replies"] < 16
    for new in (16, 0):
        result = run(*paths, command=("annotate", "merge"))
        assert sum(int(line.split(": ")[1].split()[0]) for line in result.stderr.splitlines()
                   if "replies are new" in line) == new  # fmt: skip
    (again,) = json.loads(run("--json").stdout)
    assert (again["asked"], again["already"]) == (0, 20)


def test_shards_divide_what_the_projects_ledger_has_left(
    run: Run, project: Path, server: ReplayServer
) -> None:
    run("--limit", "10", "--yes")
    (whole,) = json.loads(run("--json", command=("annotate", "status")).stdout)["annotators"]
    budget = 2 * whole["price"]
    for shard in ("1/2", "2/2"):
        with suppress(BudgetReached):
            run("--shard", shard, "--budget", str(budget), "--yes")
    prices = []
    for path in sorted((project / "shards").glob("*.sqlite")):
        stood = run("--ledger", str(path), "--json", command=("annotate", "status")).stdout
        prices += [one["price"] for one in json.loads(stood)["annotators"]]
    assert all(price <= whole["price"] / 2 for price in prices)
    with pytest.raises(BudgetReached, match=r"budget of 0\.00 is reached"):
        run("--shard", "1/3", "--budget", str(whole["price"]), "--yes")


def test_another_ledger_has_what_the_projects_has_left(
    run: Run, project: Path, server: ReplayServer
) -> None:
    run("--limit", "10", "--yes")
    (whole,) = json.loads(run("--json", command=("annotate", "status")).stdout)["annotators"]
    settings(project, server, PRICES, annotator=", max_output_tokens: 500, concurrency: 1")
    own = str(project / "own.sqlite")
    with pytest.raises(BudgetReached):
        run("--ledger", own, "--budget", str(whole["price"] + 0.02))
    stood = run("--ledger", own, "--json", command=("annotate", "status")).stdout
    assert sum(one["price"] for one in json.loads(stood)["annotators"]) <= 0.02


def test_replies_without_a_price_count_once_there_is_one(
    run: Run, project: Path, server: ReplayServer
) -> None:
    settings(project, server)
    run("--limit", "10")
    (one,) = json.loads(run("--json", command=("annotate", "status")).stdout)["annotators"]
    cached = one["cached_tokens"]
    worked = (
        one["prompt_tokens"] - cached + 0.1 * cached + 10 * one["completion_tokens"]
    ) / 1e6  # fmt: skip
    settings(project, server, PRICES)
    for options in ([], ["--shard", "1/2"]):
        with pytest.raises(BudgetReached):
            run("--budget", str(worked), *options)
    assert server.requests == 10


def test_a_budget_is_an_amount(run: Run, server: ReplayServer) -> None:
    with pytest.raises(InputError, match="a budget of inf; wanted an amount of money"):
        run("--budget", "inf")
    assert run("--budget", "nan").exit_code == 2
    assert server.requests == 0


def test_a_budget_is_divided_among_shards(run: Run, project: Path, server: ReplayServer) -> None:
    limit = ", max_output_tokens: 500, concurrency: 1"
    settings(project, server, PRICES, annotator=limit)
    with pytest.raises(BudgetReached, match=r"the budget of 0\.02 is reached"):
        run("--shard", "1/2", "--budget", "0.04", "--yes")


WRONG: list[tuple[list[str], str]] = [
    (["--shard", "9/8"], "the shard '9/8'"),
    (["--shard", "x"], "the shard 'x'"),
    (["--ray", "auto", "--batch", "submit"], "--batch and --ray together"),
    (["--ray", "auto"], "Ray is not installed|no Ray cluster at 'auto'"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_wrong_input_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    with pytest.raises((InputError, EndpointError), match=sentence):
        run(*arguments)
