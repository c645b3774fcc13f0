from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import openai
import pyarrow as pa
import pytest

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.replay import read_recordings, serving
from benchprism.prompts.catalogue import Catalogue
from benchprism.prompts.messages import make_prompt
from benchprism.records.errors import EndpointError, InputError
from benchprism.records.items.record import item_from_row

MakeAnnotator = Callable[..., Annotator]


def test_both_readers_annotate_every_recorded_item(
    recordings_file: Path, recorded_items: pa.Table, core: Catalogue, annotator_at: MakeAnnotator,
    tmp_path: Path,
) -> None:  # fmt: skip
    recordings = read_recordings(recordings_file)
    with serving(recordings) as server:
        assert server.models == ["replay:reader-a", "replay:reader-b"]
        for model in server.models:
            annotator = annotator_at(server.base_url, name=f"llm:{model}", model=model)
            summary = run_annotator(annotator, recorded_items, core, tmp_path / "l.sqlite")
            assert summary.statuses == Counter(ok=360)
        assert server.requests == 720
    with Ledger(tmp_path / "l.sqlite") as ledger:
        found = {
            (a.content_hash, a.annotator[-1], a.attribute): a.value for a in ledger.annotations()
        }
    given = {
        (name, reader, attribute): value
        for name, passes in recordings.items()
        for reader, recorded in passes.items()
        for attribute, value in recorded["values"].items()
        if value is not None
    }
    several = {key for key, value in given.items() if isinstance(value, list)}
    assert found.keys() == given.keys()
    assert all(sorted(found[key]) == sorted(given[key]) for key in several)  # type: ignore[arg-type]
    assert all(found[key] == given[key] for key in found.keys() - several)


def test_it_speaks_the_protocol_of_the_openai_client(
    recordings_file: Path, recorded_items: pa.Table, core: Catalogue
) -> None:
    item = item_from_row(recorded_items.slice(0, 1).to_pylist()[0])
    messages = make_prompt(core, item.kind).messages(item)
    recordings = read_recordings(recordings_file)
    with serving(recordings) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="none", max_retries=0)
        with client:
            answers = [
                client.chat.completions.create(model="replay:reader-b", messages=messages)  # type: ignore[arg-type]
                for _ in range(2)
            ]
    reply = json.loads(answers[0].choices[0].message.content or "")
    assert reply["note"] == recordings[item.content_hash]["b"]["note"]
    assert answers[0].model == "replay:reader-b"
    usage = [answer.usage for answer in answers]
    assert usage[0] is not None
    assert usage[1] is not None
    assert usage[0].total_tokens == usage[0].prompt_tokens + usage[0].completion_tokens
    assert usage[1].prompt_tokens_details is not None
    assert 0 < (usage[1].prompt_tokens_details.cached_tokens or 0) < usage[1].prompt_tokens


def test_an_item_without_a_recording_is_a_typed_failure(
    recordings_file: Path, core: Catalogue, annotator_at: MakeAnnotator, tmp_path: Path,
    make_items: Callable[..., pa.Table],
) -> None:  # fmt: skip
    with serving(read_recordings(recordings_file)) as server:
        annotator = annotator_at(server.base_url, model="replay:reader-a")
        summary = run_annotator(annotator, make_items(3), core, tmp_path / "l.sqlite")
    assert summary.statuses == Counter(error=3)
    with Ledger(tmp_path / "l.sqlite") as ledger:
        reasons = {row[0] for row in ledger.query("SELECT reason FROM reply")}
    assert reasons == {"HTTP 422: no recorded answer for this item"}


def test_an_unknown_reader_ends_the_run(
    recordings_file: Path, core: Catalogue, annotator_at: MakeAnnotator, tmp_path: Path,
    make_items: Callable[..., pa.Table],
) -> None:  # fmt: skip
    with serving(read_recordings(recordings_file)) as server:
        annotator = annotator_at(server.base_url, model="replay:reader-z")
        with pytest.raises(EndpointError, match="no model 'replay:reader-z'"):
            run_annotator(annotator, make_items(3), core, tmp_path / "l.sqlite")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"plain text", "line 0"),
        (gzip.compress(b'{"content_hash": "x"}\n', mtime=0), "line 1"),
        (gzip.compress(b'{"content_hash": "x", "passes": {}}\n{"con', mtime=0), "line 2"),
        (gzip.compress(b'{"content_hash": "x", "passes": {}}\n' * 99, mtime=0)[:40], "line 0"),
    ],
)
def test_a_damaged_recording_is_one_sentence(tmp_path: Path, content: bytes, place: str) -> None:
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_recordings(path)
    assert place in str(error.value)


def test_a_missing_recording_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no recording can be read"):
        read_recordings(tmp_path / "none.jsonl.gz")
