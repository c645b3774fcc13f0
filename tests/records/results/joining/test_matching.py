from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchprism.records.items.record import content_hash
from benchprism.records.results.joining.items import ProjectItems, plain_name
from benchprism.records.results.joining.matching import LoggedItem, Matcher

from ..conftest import AddItems


@pytest.fixture
def items(project_items: AddItems, tmp_path: Path) -> ProjectItems:
    arc = [
        {"id": f"Mercury_{n}", "question": f"Is {n} prime?", "answerKey": "A",
         "choices": {"text": ["yes", "no"], "label": ["A", "B"]}} for n in (2, 3)
    ]  # fmt: skip
    ifeval = [{"key": 1019, "prompt": "Write two words."}]
    gsm = [{"question": f"{n} + {n}?", "answer": f"#### {2 * n}"} for n in range(3)]
    files = {}
    for name, rows in (("arc_easy", arc), ("ifeval", ifeval), ("gsm8k", gsm)):
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return project_items(**files)


def found(items: ProjectItems, item: LoggedItem) -> tuple[str, list[str]]:
    answer = Matcher(items).logged(item, "inspect")
    return answer.how, [items.ids[at] for at in answer.items]


def test_the_projects_own_id_comes_first(items: ProjectItems) -> None:
    item = LoggedItem("1", "arc_easy/test/Mercury_2", question="Something else?")
    assert found(items, item) == ("id", ["arc_easy/test/Mercury_2"])


def test_a_source_id_counts_where_the_text_agrees(items: ProjectItems) -> None:
    prompted = LoggedItem("7", "Mercury_3", question="Answer with a letter.\nIs 3 prime?\nA) yes")
    assert found(items, prompted) == ("source_id", ["arc_easy/test/Mercury_3"])
    changed = LoggedItem("7", "Mercury_3", question="Is 9 prime?")
    assert found(items, changed) == ("none", [])
    silent = LoggedItem("7", "Mercury_3")
    assert found(items, silent) == ("source_id", ["arc_easy/test/Mercury_3"])


def test_a_plain_number_counts_only_with_its_text(items: ProjectItems) -> None:
    assert found(items, LoggedItem("0", "1019"))[0] == "none"
    prompted = LoggedItem("0", "1019", question="write two words")
    assert found(items, prompted) == ("source_id", ["ifeval/train/1019"])


def test_content_is_surer_than_a_source_id(items: ProjectItems) -> None:
    hashes = (content_hash("Is 2 prime?", "", ["yes", "no"]),)
    item = LoggedItem("0", "Mercury_3", hashes, "Is 2 prime?", "", ("yes", "no"))
    assert found(items, item) == ("content", ["arc_easy/test/Mercury_2"])


def test_tables_may_use_the_projects_ids_the_sources_or_rows(items: ProjectItems) -> None:
    matcher = Matcher(items)

    def named(benchmark: str | None, item_id: str) -> list[str]:
        return [items.ids[at] for at in matcher.tabled(benchmark, item_id).items]

    assert named("gsm8k", "2") == named(None, "gsm8k/test/2") == ["gsm8k/test/2"]
    assert named("arc_easy", "Mercury_2") == named(None, "Mercury_2") == ["arc_easy/test/Mercury_2"]
    assert named(None, "2") == named(None, "1019") == named("gsm8k", "3") == []


def test_names_are_compared_without_their_spelling(items: ProjectItems) -> None:
    assert plain_name("High School-Biology") == plain_name("high_school_biology")
    assert items.benchmark_called("GSM8K") == "gsm8k"
    assert items.benchmark_called("ARC-Easy") == "arc_easy"
    assert items.benchmark_called("arc_challenge") is None
