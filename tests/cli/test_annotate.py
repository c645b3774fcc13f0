from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from typer.testing import CliRunner, Result

from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.annotate.replay import read_recordings, serving
from benchprism.cli.main import app
from benchprism.records.errors import EndpointError, InputError
from benchprism.records.items.loading import Request, load
from benchprism.records.items.store import write_items

DEMO = Path(str(files("benchprism.demo")))
RECORDINGS = str(DEMO / "recordings.jsonl.gz")
Run = Callable[..., Result]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with 20 items of ARC-Easy, 20 of ARC-Challenge and 1319 of GSM8K (60 recorded)."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OTHER_KEY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "audit"
    settings(folder, "annotators: {main: {model: some-model}}")
    for name in ("arc_easy", "arc_challenge", "gsm8k"):
        loaded = load(Request(name, file=DEMO / f"{name}.jsonl.gz"))
        write_items(folder / "items" / f"{name}.parquet", loaded.items, loaded.provenance)
    return folder


def settings(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "benchprism.yaml").write_text(f"project: audit\n{text}\n", encoding="utf-8")


@pytest.fixture
def run(project: Path) -> Run:
    def run(*arguments: str, command: Sequence[str] = ("annotate",)) -> Result:
        line = [*command, "--project", str(project), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    return run


def status(run: Run) -> dict[str, Any]:
    return dict(json.loads(run("--json", command=("annotate", "status")).stdout))


def counts(run: Run) -> list[tuple[str, str, str, int]]:
    items = status(run)["items"]
    return [(i["annotator"], i["benchmark"], i["status"], i["items"]) for i in items]


def test_a_replay_annotates_what_was_recorded_and_says_what_it_is(run: Run) -> None:
    result = run("--replay", RECORDINGS)
    assert result.exit_code == 0
    assert "no model is asked" in result.stderr
    assert "1259 items have no recording" in result.stderr
    assert "llm:replay:reader-a: 100 items asked (100 ok), 0 were in the ledger" in result.stderr
    assert "Next: benchprism annotate status" in result.stderr
    assert result.stdout == ""
    assert counts(run) == [
        (f"llm:replay:reader-{reader}", benchmark, "ok", items)
        for reader in "ab"
        for benchmark, items in (("arc_challenge", 20), ("arc_easy", 20), ("gsm8k", 60))
    ]
    assert all(annotator["replayed"] for annotator in status(run)["annotators"])
    assert "is a replay of recorded annotations" in status(run)["notes"][0]


def test_a_second_run_asks_nothing(run: Run) -> None:
    run("--replay", RECORDINGS, "--benchmark", "arc_easy")
    again = json.loads(run("--replay", RECORDINGS, "-b", "arc_easy", "--json").stdout)
    assert [(one["asked"], one["already"]) for one in again] == [(0, 20), (0, 20)]


def test_items_and_annotators_are_chosen(run: Run, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("gsm8k/test/100\n\narc_easy/test/ACTAAP_2009_5_4\n", encoding="utf-8")
    run("--replay", RECORDINGS, "--annotator", "replay:reader-b", "--only", str(ids))
    assert counts(run) == [
        ("llm:replay:reader-b", "arc_easy", "ok", 1),
        ("llm:replay:reader-b", "gsm8k", "ok", 1),
    ]
    run("--replay", RECORDINGS, "-a", "replay:reader-a", "-b", "arc_challenge", "-b", "arc_easy",
        "--limit", "3")  # fmt: skip
    assert counts(run)[:2] == [
        ("llm:replay:reader-a", "arc_challenge", "ok", 3),
        ("llm:replay:reader-a", "arc_easy", "ok", 3),
    ]


def test_a_configured_annotator_uses_its_endpoint_and_its_key(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".env").write_text("OTHER_KEY=sk-from-dotenv\n", encoding="utf-8")
    with serving(read_recordings(Path(RECORDINGS))) as server:
        settings(
            project,
            "annotators:\n  main: {model: replay:reader-a, api_key_env: OTHER_KEY}\n"
            f"  local: {{model: replay:reader-b, base_url: '{server.base_url}'}}",
        )
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert run("-b", "arc_easy").exit_code == 0
    assert counts(run) == [
        ("llm:local", "arc_easy", "ok", 20),
        ("llm:main", "arc_easy", "ok", 20),
    ]
    assert "OTHER_KEY" not in os.environ


def test_failures_are_listed_with_the_command_that_retries_them(run: Run, project: Path) -> None:
    with serving(read_recordings(Path(RECORDINGS))) as server:
        settings(
            project,
            f"annotators: {{r: {{model: replay:reader-a, base_url: '{server.base_url}'}}}}",
        )
        result = run("--limit", "10")
        assert result.exit_code == 1
        assert "30 items asked (20 ok, 10 error)" in result.stderr
        assert "annotate --retry-failed=error" in result.stderr
        again = run("--limit", "10")
        assert again.exit_code == 1
        assert "0 items asked, 30 were in the ledger (10 error);" in again.stderr
        assert "annotate --retry-failed=error" in again.stderr
        retried = run("--limit", "10", "--retry-failed", "error,truncated", "--json")
        assert retried.exit_code == 1
        assert run("--limit", "10", "-b", "arc_easy").exit_code == 0
    (summary,) = json.loads(retried.stdout)
    assert (summary["already"], summary["statuses"]) == (20, {"error": 10})
    assert (summary["complete"], summary["failed_before"]) == (False, {})


def test_the_table_shows_what_the_ledger_has(run: Run) -> None:
    run("--replay", RECORDINGS, "-b", "arc_easy", "-a", "replay:reader-a")
    result = run("--attributes", command=("annotate", "status"))
    assert "llm:replay:reader-a" in result.stdout
    assert "distractor_quality" in result.stdout
    assert "its token counts are estimates" in result.stderr


def test_what_an_earlier_catalogue_said_is_called_stale(run: Run, project: Path) -> None:
    run("--replay", RECORDINGS, "-b", "arc_easy", "-a", "replay:reader-a")
    assert status(run)["stale"] == []
    shipped = Path(str(files("benchprism.prompts"))) / "core.yaml"
    text = shipped.read_text(encoding="utf-8")
    title = next(line for line in text.splitlines() if line.startswith("version:"))
    (project / "mine.yaml").write_text(text.replace(title, "version: 99"), encoding="utf-8")
    settings(project, "catalogue: mine.yaml")
    assert status(run)["stale"] == [
        {"annotator": "llm:replay:reader-a", "values": 0, "items": 0, "asked_again": 20}
    ]
    said = run(command=("annotate", "status")).stderr
    assert "its values count as before; 20 items are asked about again" in said


def test_nothing_annotated_is_said(run: Run) -> None:
    result = run(command=("annotate", "status"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Nothing is annotated yet" in result.stderr


WRONG: list[tuple[list[str], str]] = [
    ([], "no OPENAI_API_KEY in the environment or in .env"),
    (["--annotator", "mian"], "no annotator is called 'mian'.*did you mean 'main'"),
    (["--benchmark", "arc_esay"], "'arc_esay' is not in the project.*did you mean 'arc_easy'"),
    (["--only", "nowhere.txt"], "nowhere.txt cannot be read"),
    (["--retry-failed", "invald"], "--retry-failed 'invald'.*did you mean 'invalid'"),
    (["--replay", "nowhere.gz"], "nowhere.gz, line 0: no recording can be read"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_wrong_input_is_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        run(*arguments)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the project has no annotator"),
        ("annotators: {main: {modle: x}}", "line 2, column 21: the unknown key 'modle'"),
        ("annotators: {main: {model: x, concurrency: 0}}", "concurrency is 0"),
        ("annotators: {m: {model: x, base_url: localhost}}", "base_url 'localhost' is no address"),
        ("catalogue: mine.yaml\nannotators: {m: {model: x, base_url: 'http://127.0.0.1:1'}}",
         "no catalogue 'mine.yaml'"),
    ],
)  # fmt: skip
def test_wrong_settings_are_one_sentence(run: Run, project: Path, text: str, sentence: str) -> None:
    settings(project, text)
    with pytest.raises(InputError, match=sentence):
        run()


def test_an_endpoint_that_is_down_is_one_sentence(run: Run, project: Path) -> None:
    settings(project, "annotators: {m: {model: x, base_url: 'http://127.0.0.1:1/v1'}}")
    with pytest.raises(EndpointError, match="is it running"):
        run("-b", "arc_easy")
    with Ledger(project / "ledger.sqlite") as ledger:
        assert [*ledger.query("SELECT count(*) FROM reply")] == [(0,)]


def test_an_unknown_item_names_its_line(run: Run, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("gsm8k/test/100\nnowhere/1\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: the unknown item 'nowhere/1'"):
        run("--only", str(ids))


def test_an_endpoint_that_never_helps_is_a_failure_with_its_reason(
    run: Run, project: Path, tmp_path: Path
) -> None:
    lines = gzip.decompress(Path(RECORDINGS).read_bytes()).splitlines(keepends=True)
    of_mmlu = tmp_path / "mmlu.jsonl.gz"
    of_mmlu.write_bytes(gzip.compress(b"".join(line for line in lines if b'"mmlu/' in line)))
    with serving(read_recordings(of_mmlu)) as server:
        settings(
            project,
            f"annotators: {{r: {{model: replay:reader-a, base_url: '{server.base_url}'}}}}",
        )
        with pytest.raises(EndpointError) as error:
            run("--limit", "5", "-b", "arc_easy")
    assert error.value.exit_code == 2
    assert "none of 5 requests of llm:r gave an annotation (error: HTTP 422" in str(error.value)


def test_a_gguf_file_that_is_not_there_is_one_sentence(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.gguf cannot be served"):
        run("--gguf", str(tmp_path / "none.gguf"))


def test_patience_of_the_project_file_ends_the_run_and_leaves_no_error(
    project: Path, run: Run
) -> None:
    async def down(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "starting"}}, status=503)

    with chat_completions_server(down) as url:
        settings(project, f"annotators: {{main: {{model: m, base_url: '{url}', patience: 0}}}}")
        with pytest.raises(EndpointError, match="has not answered for") as error:
            run("--benchmark", "arc_easy")
    assert error.value.exit_code == 2
    assert "'patience'" in error.value.mend
    assert counts(run) == []
