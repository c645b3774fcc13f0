"""Sheets and files of answers, and what import makes of them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.review.planning.plan_store import (
    PLAN_SCHEMA,
    STRATA_SCHEMA,
    Plan,
    write_plan,
)
from benchprism.cli.main import app
from benchprism.records.errors import InputError
from benchprism.records.sheets import unguarded

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "'tis", 'plain, "quoted"\n2']
MakeProject = Callable[..., Path]
Rows = list[dict[str, str]]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["review", *map(str, words)], catch_exceptions=False)


def export(project: Path, *options: object) -> dict[str, Any]:
    result = run("export", "--project", project, "--json", *options)
    assert result.exit_code == 0
    return dict(json.loads(result.stdout))


def read(path: Path) -> Rows:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def write(path: Path, rows: Rows, *, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def imported(project: Path, *words: object) -> tuple[dict[str, Any], Result]:
    result = run("import", "--project", project, "--json", *words)
    return dict(json.loads(result.stdout)["files"][0]), result


def decisions(project: Path) -> dict[tuple[str, str], tuple[object, str]]:
    with Ledger(project / "ledger.sqlite") as ledger:
        return {
            (one.item_id.removeprefix("bench/test/"), one.attribute): (one.value, one.annotator)
            for one in ledger.annotations()
            if one.annotator.startswith("human:") and one.status == "ok"
        }


def replies(project: Path) -> list[dict[str, Any]]:
    with Ledger(project / "ledger.sqlite") as ledger:
        query = "SELECT body FROM reply JOIN body USING (body_hash) WHERE annotator GLOB 'human:*'"
        return [json.loads(str(body)) for (body,) in ledger.query(f"{query} ORDER BY time")]


@pytest.fixture
def project(review_project: MakeProject) -> Path:
    return review_project("first", "second", "third", "fourth", "open")


@pytest.fixture
def sheet(project: Path) -> Rows:
    return read(Path(export(project, "--csv")["sheet"]))


def filled(row: Mapping[str, str], **cells: str) -> dict[str, str]:
    return {**row, "status": "submitted", "reviewer": "alice", **cells}


def test_a_sheet_that_was_filled_in_is_in_the_ledger(
    project: Path, sheet: Rows, tmp_path: Path
) -> None:
    assert [row["kinds"] for row in sheet] == ["deductive"] * 4
    assert [row["negated"] for row in sheet] == ["no"] * 4
    assert [row["status"] + row["reviewer"] + row["note"] for row in sheet] == [""] * 4
    sheet[0] |= filled({}, depth="2", kinds="causal; deductive", note="'=1+1")
    sheet[1] |= filled({}, status="discarded", note="unreadable")
    sheet[2] |= filled({}, status="Draft", reviewer="bob", depth="")
    path = write(tmp_path / "filled.csv", sheet)
    file, result = imported(project, path)
    assert (result.exit_code, file["faults"], file["pending"]) == (0, [], 1)
    assert decisions(project) == {
        ("0", "depth"): (2, "human:alice"),
        ("0", "kinds"): (["deductive", "causal"], "human:alice"),
        ("0", "task"): ("fact", "human:alice"),
        ("0", "negated"): (False, "human:alice"),
        ("0", "lures"): (0, "human:alice"),
    }
    bodies = {body["item_id"][-1]: body for body in replies(project)}
    assert {name: (b["status"], b["user"], b["note"]) for name, b in bodies.items()} == {
        "0": ("submitted", "alice", "=1+1"),
        "1": ("discarded", "alice", "unreadable"),
        "2": ("draft", "bob", ""),
    }
    assert bodies["0"]["suggested"]["kinds"] == ["deductive"]
    assert "depth" not in bodies["2"]["values"]


def test_a_sheet_that_is_read_again_adds_what_is_new_alone(
    project: Path, sheet: Rows, tmp_path: Path
) -> None:
    sheet[0] |= filled({})
    path = write(tmp_path / "filled.csv", sheet)
    imported(project, path)
    os.utime(path, (2e9, 2e9))  # a copy, or saved without a change
    file, _ = imported(project, path)
    assert (file["recorded"]["new"], file["recorded"]["known"]) == ({}, 1)
    sheet[0]["depth"], sheet[1] = "0", filled(sheet[1])
    os.utime(write(path, sheet), (2.1e9, 2.1e9))
    file, _ = imported(project, path)
    assert (file["recorded"]["new"], file["recorded"]["known"]) == ({"submitted": 2}, 0)
    assert decisions(project)["0", "depth"] == (0, "human:alice")
    # the file's time is still to come, and does not count
    assert all(body["time"] <= datetime.now(UTC).isoformat() for body in replies(project))


@pytest.mark.parametrize(
    ("delimiter", "encoding", "truth"),
    [(";", "utf-8-sig", "FALSE"), ("\t", "utf-8", "false"), (",", "utf-8-sig", "No")],
)
def test_sheets_are_read_as_spreadsheet_programs_save_them(
    project: Path, sheet: Rows, tmp_path: Path, delimiter: str, encoding: str, truth: str
) -> None:
    sheet[0] |= filled({}, negated=truth, note="straße")
    rows: Rows = [*sheet, dict.fromkeys(sheet[0], "")]
    path = write(tmp_path / "filled.csv", rows, delimiter=delimiter, encoding=encoding)
    file, result = imported(project, path)
    assert (result.exit_code, file["recorded"]["new"]) == (0, {"submitted": 1})
    assert decisions(project)["0", "negated"] == (False, "human:alice")
    assert replies(project)[0]["note"] == "straße"


def test_no_cell_is_a_formula_and_texts_come_back_byte_for_byte(
    review_project: MakeProject, tmp_path: Path
) -> None:
    project = review_project(*FORMULAS, "open")
    rows = read(Path(export(project, "--csv")["sheet"]))
    for place, text in enumerate(FORMULAS):
        row = rows[place]
        assert not any(
            cell[:1] in {"=", "+", "-", "@", "\t", "\r"} for cell in row.values() if cell
        )
        shown = text.replace("\r", "␍")
        assert unguarded(row["question"]) in {text, shown}
        assert unguarded(row["context"]) in {text, shown}
        assert f"✔ B. {shown}" in row["choices"].replace("\r", "␍")
        guard = "'" if text.lstrip("'")[0] in "=+-@\t\r" else ""
        rows[place] = filled(row, note=guard + text)
    path = write(tmp_path / "filled.csv", rows)
    assert imported(project, path)[1].exit_code == 0
    assert [body["note"] for body in replies(project)] == FORMULAS


def test_what_cannot_be_taken_is_told_with_its_line_and_the_rest_is_taken(
    project: Path, sheet: Rows, tmp_path: Path
) -> None:
    unknown = filled(sheet[3], item_id="bench/test/99")
    rows = [
        filled(sheet[0], task="fcat"),
        filled(sheet[1], note="two\nlines"),
        filled(sheet[2], depth=""),
        unknown,
        filled(sheet[3], status="done"),
        {**sheet[3], "depth": "0"},
        filled(sheet[3], reviewer=" "),
        filled(sheet[3], depth="3"),
        filled(sheet[3], kinds="none; causal"),
        filled(sheet[3], origin="?"),
        filled(sheet[1]),
        filled(sheet[3], reviewer="bob", depth="1.0", kinds="Deductive; CAUSAL", task="Sum"),
        filled(sheet[0], negated="WAHR"),
    ]
    path = write(tmp_path / "filled.csv", rows)
    file, result = imported(project, path)
    assert result.exit_code == 1
    assert [fault.removeprefix(f"{path}, ") for fault in file["faults"]] == [
        "line 2: task: 'fcat' is none of fact, sum, other",
        "line 7 (row 4): submitted without an answer to depth",
        "line 9 (row 5): the unknown item 'bench/test/99'",
        "line 11 (row 6): the status 'done', wanted submitted, draft or discarded",
        "line 13 (row 7): answered without a status, wanted submitted, draft or discarded",
        "line 15 (row 8): no reviewer's name ('')",
        "line 17 (row 9): depth: '3' is none of 0, 1, 2",
        "line 19 (row 10): kinds: 'none' together with other labels",
        "line 21 (row 11): the cell 'origin' is not that of this sheet",
        "line 23 (row 12): 'bench/test/1' is answered by 'alice' a second time",
        "line 27 (row 14): negated: 'WAHR' is neither yes nor no",
    ]
    assert {who for _, who in decisions(project).values()} == {"human:alice", "human:bob"}
    assert decisions(project)["3", "depth"] == (1, "human:bob")
    assert decisions(project)["3", "kinds"] == (["deductive", "causal"], "human:bob")
    assert decisions(project)["3", "task"] == ("sum", "human:bob")
    assert "Not taken: " in result.stderr


def test_the_reviewer_may_be_named_at_import(project: Path, sheet: Rows, tmp_path: Path) -> None:
    path = write(tmp_path / "filled.csv", [filled(sheet[0], reviewer="")])
    imported(project, path, "--reviewer", "carol")
    assert {who for _, who in decisions(project).values()} == {"human:carol"}
    with pytest.raises(InputError, match="without '#'"):
        run("import", "--project", project, path, "--reviewer", "a#2")


def answers(project: Path, /, **changes: Any) -> dict[str, Any]:
    """What the page saves when the first item is submitted as suggested."""
    html = Path(export(project)["page"]).read_text("utf-8")
    start = html.index(">", html.index('id="review"')) + 1
    page = json.loads(html[start : html.index("</script>", start)])
    item = page["items"][0]
    values = {name: one["value"] for name, one in item["suggestions"].items()}
    response = {
        **{name: item[name] for name in ("item_id", "content_hash", "mode")},
        "status": "submitted",
        "values": values,
        "note": "",
        "time": "2026-05-01T10:00:00.123Z",
        "suggested": values,
    }
    kept = ("format", "version", "page", "project", "catalogue", "dimension")
    return {
        **{name: page[name] for name in kept},
        "questions": [question["name"] for question in page["questions"]],
        "reviewer": "alice",
        "responses": [response],
        **changes,
    }


def saved(tmp_path: Path, content: Mapping[str, Any]) -> Path:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_responses_of_a_page_that_cannot_be_taken_are_told(project: Path, tmp_path: Path) -> None:
    content = answers(project)
    [good] = content["responses"]
    content["responses"] = [
        {**good, "item_id": "bench/test/9"},
        {**good, "values": {**good["values"], "task": "FACT"}},
        {**good, "values": {**good["values"], "negated": True}},
        {**good, "values": {**good["values"], "dpeth": 1}},
        {**good, "values": {**good["values"], "depth": True}},
        {**good, "values": {}},
        {**good, "status": "pending"},
        {**good, "mode": "adjudication"},
        {**good, "time": "yesterday"},
        {**good, "time": "0001-01-01T00:00:00+23:00"},
        {**good, "mode": "blind"},
        {**good, "notes": ""},
        {name: good[name] for name in good if name != "note"},
        [],
        {**good, "item_id": "bench/test/1"},
    ]
    file, result = imported(project, saved(tmp_path, content))
    assert result.exit_code == 1
    assert [fault.partition(", response ")[2].partition(":")[0] for fault in file["faults"]] == [
        *map(str, range(1, 15))
    ]
    assert "task: 'FACT' is none of fact, sum, other" in file["faults"][1]
    assert "'dpeth' is not asked about 'bench/test/0'" in file["faults"][3]
    assert [fault.partition(": ")[2] for fault in file["faults"][6:]] == [
        "status: 'pending', wanted 'submitted', 'draft' or 'discarded'",
        "mode: 'adjudication', wanted 'seen' or 'blind'",
        "the time 'yesterday' is none",
        "the time '0001-01-01T00:00:00+23:00' is none",
        "'blind', and with suggestions: it was changed after it was saved",
        "the unknown key 'notes'",
        "'note' is missing",
        "[] is no response",
    ]
    assert {item for item, _ in decisions(project)} == {"1"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"project": "other"}, r"belongs to the project 'other'; wanted .* 'audit'"),
        ({"catalogue": "0123456789abcdef"}, "a catalogue that the project does not know"),
        ({"version": 2}, "has version 2 of the answers; wanted version 1"),
        ({"format": "x"}, "holds no answers"),
        ({"reviewer": 1}, "reviewer: 1, wanted text"),
        ({"questions": ["depth", "dpeth"]}, "no attribute 'dpeth'"),
        *(
            ({"reviewer": name}, "wanted the name of a person; give it with --reviewer")
            for name in ("", "a\nb", "adjudicator:alice", "human:a", "llm:a", "alice#2")
        ),
    ],
)
def test_files_of_another_kind_are_refused(
    project: Path, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = saved(tmp_path, answers(project, **changes))
    with pytest.raises(InputError, match=message):
        run("import", "--project", project, path)
    assert replies(project) == []


def test_another_answer_of_the_same_time_is_told(project: Path, tmp_path: Path) -> None:
    content = answers(project)
    imported(project, saved(tmp_path, content))
    file, _ = imported(project, saved(tmp_path, content))
    assert (file["recorded"]["known"], file["faults"]) == (1, [])
    content["responses"][0]["note"] = "changed by hand"
    file, result = imported(project, saved(tmp_path, content))
    assert (result.exit_code, file["recorded"]["known"]) == (1, 0)
    assert file["faults"][0].endswith(
        "bench/test/0: not what the ledger has of the same time: changed after it was saved"
    )
    [response] = content["responses"]
    response["time"] = "2026-05-01T12:00:00.123+02:00"
    assert imported(project, saved(tmp_path, content))[1].exit_code == 1
    response["time"] = "2026-05-01T10:00:01.123Z"
    file, _ = imported(project, saved(tmp_path, content))
    assert file["recorded"]["new"] == {"submitted": 1}
    # what was said before that is known as well
    content["responses"] = [
        {
            **response,
            "time": "2026-05-01T10:00:00.123Z",
            "values": {**response["values"], "depth": 0},
        }
    ]
    file, result = imported(project, saved(tmp_path, content))
    assert (result.exit_code, len(file["faults"])) == (1, 1)
    assert decisions(project)["0", "depth"] == (1, "human:alice")


def test_a_time_that_is_still_to_come_is_that_of_the_first_import(
    project: Path, tmp_path: Path
) -> None:
    content = answers(project)
    content["responses"][0]["time"] = "2099-01-01T00:00:00.000Z"
    before = datetime.now(UTC).isoformat()
    file, result = imported(project, saved(tmp_path, content))
    assert (result.exit_code, file["recorded"]["new"], file["ahead"]) == (0, {"submitted": 1}, 1)
    assert "1 response of a time that is still to come: a clock was wrong" in result.stderr
    [reply] = replies(project)
    assert before <= reply["time"] <= datetime.now(UTC).isoformat()
    file, _ = imported(project, saved(tmp_path, content))
    assert (file["recorded"]["new"], file["recorded"]["known"]) == ({}, 1)
    content["responses"][0]["values"] = {**content["responses"][0]["values"], "depth": 2}
    file, result = imported(project, saved(tmp_path, content))
    assert (result.exit_code, len(file["faults"]), len(replies(project))) == (1, 1, 1)
    content["responses"][0]["time"] = datetime.now(UTC).isoformat()
    imported(project, saved(tmp_path, content))
    assert decisions(project)["0", "depth"] == (2, "human:alice")


def test_a_sheet_without_the_column_of_a_question_is_refused(
    project: Path, sheet: Rows, tmp_path: Path
) -> None:
    sheet[0] |= filled({})
    cut = [{name: cell for name, cell in row.items() if name != "depth"} for row in sheet]
    good = saved(tmp_path, answers(project))
    with pytest.raises(InputError, match="4 of 5 columns of questions"):
        run("import", "--project", project, good, write(tmp_path / "cut.csv", cut))
    assert replies(project) == []


def test_damaged_files_are_refused(project: Path, sheet: Rows, tmp_path: Path) -> None:
    whole = saved(tmp_path, answers(project)).read_bytes()
    sheet[0] |= filled({}, note="straße")
    table = write(tmp_path / "sheet.csv", sheet).read_bytes()
    latin = table.decode().encode("cp1252", "replace")
    damaged = {
        whole[: len(whole) // 2]: "damaged or cut off",
        table[: table.index(b"\r\nbench/test/1") - 20]: "damaged or cut off",
        latin: "is not UTF-8 text",
        table.decode().encode("utf-16"): "is not UTF-8 text",
        b"hello": "neither a file that a review page saved nor a review sheet",
        b"": "neither",
        table.replace(b",depth,", b",dpeth,"): "unknown column 'dpeth'",
        table.replace(b",status,", b",state,"): "unknown column 'state'|'status' is missing",
    }
    for content, message in damaged.items():
        path = tmp_path / "damaged"
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            run("import", "--project", project, path)
    with pytest.raises(InputError, match="cannot be read"):
        run("import", "--project", project, tmp_path / "absent.json")
    assert replies(project) == []


def test_answers_outlive_a_change_of_the_catalogue(project: Path, tmp_path: Path) -> None:
    path = saved(tmp_path, answers(project))
    catalogue = project / "catalogue.yaml"
    catalogue.write_text(catalogue.read_text().replace("How deep?", "How deep is it?"))
    _, result = imported(project, path)
    assert result.exit_code == 0
    [reply] = replies(project)
    assert (reply["time"], reply["via"]) == ("2026-05-01T10:00:00.123000+00:00", "page")


def test_an_answer_to_another_text_is_kept_and_told(project: Path, tmp_path: Path) -> None:
    content = answers(project)
    content["responses"][0]["content_hash"] = "0" * 32
    file, result = imported(project, saved(tmp_path, content))
    assert (result.exit_code, file["changed"]) == (0, 1)
    assert "1 response about another text" in result.stderr


def test_a_sheet_that_may_be_filled_in_is_not_overwritten(project: Path, sheet: Rows) -> None:
    written = export(project, "--csv")
    assert "Depth\nHow deep?\n0: not at all" in Path(written["guidelines"]).read_text("utf-8")
    path = Path(written["sheet"])
    write(path, [filled(sheet[0])])
    with pytest.raises(InputError, match="may have been filled in"):
        export(project, "--csv")
    assert read(path)[0]["reviewer"] == "alice"


def test_a_page_is_not_called_like_its_sheet(project: Path) -> None:
    with pytest.raises(InputError, match="wanted a name that ends in"):
        export(project, "--output", project / "review.csv", "--csv")


def items_of(written: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = read(Path(written["sheet"]))
    return [(row["item_id"][-1], json.loads(row["origin"])["mode"]) for row in rows]


def test_a_plan_says_what_whom_and_how(project: Path) -> None:
    rows = [
        (2, "seen", 2, ["low_confidence"], ["alice", "bob"]),
        (1, "seen", 1, ["disagreement"], ["bob"]),
        (4, "blind", 2, ["calibration"], ["alice"]),
        (0, "blind", 1, ["calibration"], []),
    ]
    names = ("item_id", "mode", "rank", "reasons", "reviewers")
    planned = [dict(zip(names, row, strict=True)) for row in rows]
    planned = [{**row, "item_id": f"bench/test/{row['item_id']}"} for row in planned]
    table = pa.Table.from_pylist(planned, schema=PLAN_SCHEMA)
    write_plan(project / "review", Plan(table, STRATA_SCHEMA.empty_table(), {}))

    alice = export(project, "--csv", "--reviewer", "alice")
    assert items_of(alice) == [("0", "blind"), ("4", "blind"), ("2", "seen")]
    assert Path(alice["page"]).name == "audit-review-alice.html"
    assert [row["depth"] for row in read(Path(alice["sheet"]))] == ["", "", "1"]
    bob = export(project, "--csv", "--reviewer", "bob")
    assert items_of(bob) == [("0", "blind"), ("1", "seen"), ("2", "seen")]
    with pytest.raises(InputError, match="the plan, or options in its place"):
        export(project, "--limit", "1")
    everything = export(project, "--no-plan", "--limit", "2", "--csv", "--blind")
    assert len(items_of(everything)) == 2


def by_key(seed: int, item_ids: list[str]) -> list[str]:
    """In the order of the keyed hash that draws."""

    def key(item_id: str) -> bytes:
        keyed = {"key": str(seed).encode(), "person": b"review", "digest_size": 8}
        return hashlib.blake2b(item_id.encode(), **keyed).digest()  # type: ignore[arg-type]

    return sorted(item_ids, key=key)


@pytest.mark.parametrize("seed", [0, 7])
def test_what_is_shown_blind_without_a_plan_is_drawn_at_random(
    review_project: MakeProject, seed: int
) -> None:
    project = review_project(*(f"Question {row}?" for row in range(30)))
    with (project / "benchprism.yaml").open("a", encoding="utf-8") as file:
        file.write(f"seed: {seed}\n")
    drawn = by_key(seed, [f"bench/test/{row}" for row in range(30)])
    page = project / "page.html"
    for limit in (8, 40):
        ran = export(project, "--blind", "--limit", limit, "--csv", "--output", page)
        assert [row["item_id"] for row in read(Path(ran["sheet"]))] == drawn[:limit]
        Path(ran["sheet"]).unlink()
    whole = export(project, "--blind", "--csv", "--output", page)
    assert [row["item_id"] for row in read(Path(whole["sheet"]))] == drawn
    seen = export(project, "--limit", 8, "--csv", "--output", project / "seen.html")
    assert [row["item_id"] for row in read(Path(seen["sheet"]))] == [
        f"bench/test/{row}" for row in range(8)
    ]


def test_an_export_is_the_same_every_time(project: Path) -> None:
    first, second = export(project), export(project)
    assert first == second
    assert export(project, "--attribute", "depth")["id"] != first["id"]
