from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.keyless.local_server import LocalServer, local_server
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.reading.completion import read_completion
from benchprism.annotate.traffic.endpoint import EndpointSettings
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import InputError
from benchprism.records.items.record import item_from_row


def test_a_missing_extra_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)

    with pytest.raises(InputError, match=r"run pip install 'benchprism\[local\]'"):
        local_server(model).__enter__()


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file"), (b"PK\3\4zip", r"it starts with b'PK")]
)
def test_a_file_that_is_no_model_is_refused(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    model = tmp_path / "model.gguf"
    if content is not None:
        model.write_bytes(content)

    with pytest.raises(InputError, match=reason):
        local_server(model).__enter__()


@pytest.mark.usefixtures("smollm2")
def test_a_damaged_model_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF" + bytes(5000))

    with pytest.raises(InputError, match="cannot load it"):
        local_server(model).__enter__()


def test_a_local_model_annotates_like_any_other(
    items: pa.Table, small: Catalogue, smollm2: LocalServer, tmp_path: Path
) -> None:
    settings = EndpointSettings(smollm2.model, smollm2.base_url, max_output_tokens=200)
    annotator = Annotator("llm:local", settings, concurrency=1)
    path = tmp_path / "ledger.sqlite"

    first = run_annotator(annotator, items.slice(0, 1), small, path)
    rest = run_annotator(annotator, items, small, path)

    assert (first.asked, rest.already, rest.asked) == (1, 1, 3)
    assert rest.prompt_tokens > rest.cached_tokens > rest.prompt_tokens / 2
    with Ledger(path) as ledger:
        tokens = list(ledger.query("SELECT prompt_tokens, completion_tokens FROM reply"))
        said = list(ledger.annotations())
    assert len(tokens) >= 4
    assert all(isinstance(n, int) and n > 0 for pair in tokens for n in pair)
    assert len({(annotation.item_id, annotation.attribute) for annotation in said}) == 4 * 3
    assert {annotation.status for annotation in said} <= {"ok", "truncated"}
    valid = [annotation for annotation in said if annotation.status == "ok"]
    assert valid
    assert all(annotation.value in small[annotation.attribute].values for annotation in valid)


def test_what_a_small_model_writes_freely_is_read_strictly(
    items: pa.Table, small: Catalogue, smollm2: LocalServer
) -> None:
    for row in items.slice(0, 2).to_pylist():
        prompt = make_prompt(small, row["kind"])
        body = _free_reply(smollm2, prompt.messages(item_from_row(row)))
        reading = read_completion(body, prompt.attributes)

        assert reading.usage.completion_tokens
        assert len(reading.verdicts) == 3
        for verdict in reading.verdicts:
            assert (verdict.value is None) == (verdict.status != "ok")
            assert verdict.value is None or verdict.value in small[verdict.attribute].values


def _free_reply(server: LocalServer, messages: list[dict[str, str]]) -> str:
    body = {"model": server.model, "messages": messages, "temperature": 0, "max_tokens": 80}
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        text: str = answer.read().decode()
    return text
