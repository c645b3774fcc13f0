"""``benchprism annotate --batch`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from benchprism.cli.main import app
from benchprism.records.errors import (
    ConfirmationNeeded,
    InputError,
)
from benchprism.records.items.store import write_items

from .batch_server import (
    BatchServer,
    MakeItems,
)

# aiohttp's own reader of uploads warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:unread_data:DeprecationWarning")


def test_the_command_line_goes_the_whole_way(
    server: BatchServer, make_items: MakeItems, tmp_path: Path
) -> None:
    write_items(tmp_path / "items" / "bench.parquet", make_items(6), {})
    (tmp_path / "benchprism.yaml").write_text(
        "project: p\n"
        f"annotators: {{a: {{model: m, base_url: '{server.base_url}', max_output_tokens: 100}}}}\n"
        "prices: {m: {input: 1000, output: 10000, batch: 0.5}}\n",
        encoding="utf-8",
    )

    def run(*arguments: str) -> Result:
        line = ["annotate", "--project", str(tmp_path), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    live, batch = (
        json.loads(run("--dry-run", "--json", *options).stdout)[0]["chosen"]["price"]
        for options in ([], ["--batch", "submit"])
    )
    assert batch == pytest.approx([price / 2 for price in live])
    with pytest.raises(ConfirmationNeeded):
        run("--batch", "submit")
    assert "llm:a: batch batch-0 is started, 6 calls." in run("--batch", "submit", "--yes").stderr
    assert "Nothing is missing." in run("--batch", "submit").stderr
    waiting = CliRunner().invoke(app, ["annotate", "status", "--project", str(tmp_path), "--json"])
    assert json.loads(waiting.stdout)["waiting_in_batches"] == 6
    status = json.loads(run("--batch", "status", "--json").stdout)
    assert [(one["batch_id"], one["state"]) for one in status] == [("batch-0", "in_progress")]
    server.outcome = lambda question: None if question.startswith("What is 3") else {}
    server.end("batch-0", "expired")
    collected = run("--batch", "collect")
    assert "is expired, 6 calls (5 ok)" in collected.stderr
    assert "benchprism annotate --batch submit" in collected.stderr
    assert "missing again" in collected.stdout
    assert "batch-1 is started, 1 calls" in run("--batch", "submit", "--yes").stderr
    assert "No batch is open" not in run("--batch", "status").stderr
    server.outcome = lambda _: {}
    server.end("batch-1")
    last = run("--batch", "collect", "--json")
    assert [one["statuses"] for one in json.loads(last.stdout)] == [{"ok": 1}]
    assert "Next: benchprism annotate status" in last.stderr
    assert "No batch is open" in run("--batch", "collect").stderr
    assert run("--json").exit_code == 0
    assert not server.asked


def test_a_command_tells_by_its_code_whether_all_is_there(
    server: BatchServer, make_items: MakeItems, tmp_path: Path
) -> None:
    write_items(tmp_path / "items" / "bench.parquet", make_items(4), {})

    def project(**annotators: str) -> None:
        told = ", ".join(f"{k}: {{model: m, base_url: '{v}'}}" for k, v in annotators.items())
        text = f"project: p\nannotators: {{{told}}}\n"
        (tmp_path / "benchprism.yaml").write_text(text, encoding="utf-8")

    def run(*arguments: str) -> Result:
        line = ["annotate", "--project", str(tmp_path), *arguments]
        return CliRunner().invoke(app, line, catch_exceptions=False)

    project(a=server.base_url)
    assert run("--batch", "submit").exit_code == 0
    plain = run()
    assert plain.exit_code == 1
    assert "0 items asked, 0 were in the ledger, 4 wait in a batch" in plain.stderr
    assert "benchprism annotate --batch collect" in plain.stderr
    assert run("--batch", "status").exit_code == 0
    assert run("--batch", "collect").exit_code == 1  # it still runs
    server.outcome = lambda question: None if question.startswith("What is 3") else {}
    server.end("batch-0", "expired")
    some = run("--batch", "collect")
    assert some.exit_code == 1
    assert "(3 ok), 1 requests are missing again" in some.stderr
    assert run("--batch", "collect").exit_code == 0

    run("--batch", "submit")
    project(b=server.base_url)
    lost = run("--batch", "collect")
    assert lost.exit_code == 1
    assert "is without its annotator" in lost.stderr
    assert "--batch forget --batch-id batch-1" in lost.stderr
    with pytest.raises(InputError, match="--batch-id without --batch forget"):
        run("--batch", "collect", "--batch-id", "batch-1")
    with pytest.raises(InputError, match="--batch forget and no --batch-id"):
        run("--batch", "forget")
    forgotten = run("--batch", "forget", "--batch-id", "batch-1", "--json")
    assert [one["state"] for one in json.loads(forgotten.stdout)] == ["forgotten"]
    assert "No batch is open" in run("--batch", "status").stderr

    run("--batch", "submit")
    project(gone="http://127.0.0.1:1/v1", b=server.base_url)
    server.outcome = lambda _: {}
    server.end("batch-2")
    assert "is completed, 4 calls (4 ok)" in run("--batch", "collect").stderr
