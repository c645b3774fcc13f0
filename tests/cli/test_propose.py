from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchprism.annotate.keyless.local_server import local_server
from benchprism.annotate.ledger.store import Ledger

Run = Callable[..., Any]

SMALL = """
catalogue: small
version: 1
dimensions:
  - id: task
    title: Task
    attributes:
      - id: depth
        type: level
        question: How many steps of reasoning?
        levels: {0: none, 1: one, 2: more}
      - id: domain
        type: label
        question: Which domain does the knowledge belong to?
        labels: {mathematics: numbers, nature: living things, other: none of these}
"""
ALLOWED: dict[str, list[Any]] = {
    "depth": [0, 1, 2],
    "domain": ["mathematics", "nature", "other"],
}


@pytest.fixture
def project(benchprism: Run, tmp_path: Path) -> Path:
    """A project with two items and a catalogue of two attributes beside the core one."""
    table = tmp_path / "mine.csv"
    rows = ["q,a,b,key", "Which of these is NOT a mammal?,whale,shark,B", "What is 3 + 4?,7,8,A"]
    table.write_text("\n".join(rows) + "\n", "utf-8")
    project = tmp_path / "audit"
    mapping = ["--map", "question=q", "--map", "choices=a,b", "--map", "answer=key"]
    assert benchprism("init", project).code == 0
    added = benchprism(
        "items", "add", "mine", "-p", project, "--from", table, *mapping, "--answer", "letter"
    )
    assert added.code == 0
    return project


def use_small_catalogue(project: Path) -> None:
    (project / "small.yaml").write_text(SMALL, "utf-8")
    settings = project / "benchprism.yaml"
    text = settings.read_text("utf-8").replace("catalogue: core", "catalogue: small.yaml")
    settings.write_text(text, "utf-8")


def test_rules_speak_where_the_form_decides(benchprism: Run, project: Path) -> None:
    for _ in range(2):  # again, and nothing is added
        ran = benchprism("annotate", "propose", "rules", "-p", project)
        assert (ran.code, ran.out) == (0, "")
        assert "2 of 2 items" in ran.err
    with Ledger(project / "ledger.sqlite") as ledger:
        given = [*ledger.annotations()]
    negation = [(one.value, one.annotator) for one in given if one.attribute == "uses_negation"]
    assert sorted(negation) == [(False, "heuristic"), (True, "heuristic")]


def test_a_local_model_scores_and_goes_on(
    benchprism: Run, project: Path, smollm2_gguf: Path
) -> None:
    use_small_catalogue(project)
    command = ["annotate", "propose", "scores", "--gguf", smollm2_gguf, "-p", project]
    first = benchprism(*command, "--limit", 1, "--confidence", 0)
    rest = benchprism(*command, "--confidence", 0)
    again = benchprism(*command, "--confidence", 1)

    name = f"score:{smollm2_gguf.stem}"
    assert (first.code, first.out) == (0, "")
    assert f"{name}: proposes something for 1 of 1 items; 2 scores asked, 0 were" in first.err
    assert "2 of 2 items; 2 scores asked, 2 were in the ledger" in rest.err
    assert "0 of 2 items; 0 scores asked, 4 were in the ledger; 0 prompt tokens" in again.err
    with Ledger(project / "ledger.sqlite") as ledger:
        given = [*ledger.annotations()]
        ((prompt, cached),) = ledger.query(
            "SELECT sum(prompt_tokens), sum(cached_tokens) FROM reply"
        )
    assert {one.annotator for one in given} == {name}
    values = [(one.attribute, one.value) for one in given if one.status == "ok"]
    assert len(values) == 2 * 2
    assert all(value in ALLOWED[attribute] for attribute, value in values)
    assert int(str(prompt)) > int(str(cached)) > 0
    states = benchprism("annotate", "status", "-p", project, "--json").data["items"]
    assert [(state["status"], state["items"]) for state in states] == [("ok", 2)]


def test_a_server_that_is_running_is_asked_by_its_address(
    benchprism: Run, project: Path, smollm2_gguf: Path
) -> None:
    use_small_catalogue(project)
    with local_server(smollm2_gguf, context_size=2048, threads=1) as server:
        ran = benchprism(
            "annotate", "propose", "scores", "-p", project, "--base-url", server.base_url,
            "--model", "mine", "--limit", 1,
        )  # fmt: skip
    assert ran.code == 0
    assert "score:mine: proposes something for" in ran.err


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["rules", "--gguf", "m.gguf"], "--gguf for rules"),
        (["embedding", "--confidence", "0.5"], "--confidence for embedding"),
        (["scores"], "scores without one model"),
        (["scores", "--model", "m"], "scores with --model"),
        (["scores", "--base-url", "http://localhost:1/v1"], "scores with --base-url"),
        (["scores", "--gguf", "m.gguf", "--model", "m"], "scores with --gguf and --model"),
    ],
)
def test_what_does_not_fit_is_refused(
    benchprism: Run, project: Path, options: list[str], found: str
) -> None:
    ran = benchprism("annotate", "propose", *options, "-p", project)
    assert (ran.code, ran.out) == (2, "")
    assert found in ran.err


def test_a_server_that_is_away_is_one_sentence(benchprism: Run, project: Path) -> None:
    ran = benchprism(
        "annotate", "propose", "scores", "-p", project,
        "--base-url", "http://127.0.0.1:9/v1", "--model", "m",
    )  # fmt: skip
    assert ran.code == 2
    assert "wanted llama.cpp's server" in ran.err


def test_a_local_model_annotates_and_goes_on(
    benchprism: Run, project: Path, smollm2_gguf: Path
) -> None:
    use_small_catalogue(project)
    command = ["annotate", "--gguf", smollm2_gguf, "-p", project, "--json"]
    (first,) = benchprism(*command, "--limit", 1).data
    (rest,) = benchprism(*command).data
    (again,) = benchprism(*command).data

    assert [(one["asked"], one["already"]) for one in (first, rest, again)] == [
        (1, 0), (1, 1), (0, 2),
    ]  # fmt: skip
    with Ledger(project / "ledger.sqlite") as ledger:
        given = [*ledger.annotations()]
        usages = [
            *ledger.query("SELECT prompt_tokens, cached_tokens, completion_tokens FROM reply")
        ]
    assert {one.annotator for one in given} == {f"llm:{smollm2_gguf.stem}"}
    assert {one.status for one in given} <= {"ok", "truncated"}
    assert all(one.value in ALLOWED[one.attribute] for one in given if one.status == "ok")
    assert len({(one.item_id, one.attribute) for one in given}) == 2 * 2
    counts = [[int(str(count)) for count in usage] for usage in usages]
    assert all(prompt > 0 and completion > 0 for prompt, _, completion in counts)
    assert max(completion for _, _, completion in counts) < 1000  # a note is bounded
    totals = [sum(column) for column in zip(*counts, strict=True)]
    said = [
        sum(one[name] for one in (first, rest))
        for name in ("prompt_tokens", "cached_tokens", "completion_tokens")
    ]
    assert said == totals


def test_the_rubric_is_evaluated_once(benchprism: Run, project: Path, smollm2_gguf: Path) -> None:
    use_small_catalogue(project)
    (made,) = benchprism("annotate", "--gguf", smollm2_gguf, "-p", project, "--json").data
    assert made["asked"] == 2
    # of two requests the second finds the rubric, the larger part of it, in the prefix cache
    assert made["prompt_tokens"] > made["cached_tokens"] > made["prompt_tokens"] / 4
