from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchprism.annotate.ledger import Ledger


def test_rules_speak_where_the_form_decides(benchprism: Callable[..., Any], tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("q,a,b,key\nWhich of these is NOT a mammal?,whale,shark,B\n", "utf-8")
    project = tmp_path / "audit"
    mapping = ["--map", "question=q", "--map", "choices=a,b", "--map", "answer=key"]
    assert benchprism("init", project).code == 0
    added = benchprism(
        "items", "add", "mine", "-p", project, "--from", table, *mapping, "--answer", "letter"
    )
    assert added.code == 0
    for _ in range(2):  # again, and nothing is added
        ran = benchprism("annotate", "propose", "rules", "-p", project)
        assert (ran.code, ran.out) == (0, "")
        assert "1 of 1 items" in ran.err
    with Ledger(project / "ledger.sqlite") as ledger:
        given = [*ledger.annotations()]
    negation = [(one.value, one.annotator) for one in given if one.attribute == "uses_negation"]
    assert negation == [(True, "heuristic")]
