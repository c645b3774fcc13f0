from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from benchprism.annotate.ledger.claim import claimed
from benchprism.annotate.ledger.outcome import Annotation, Reply, Usage, Verdict
from benchprism.annotate.ledger.store import Ledger, reply_id
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import InputError

REPLY = Reply(
    request_key="k1",
    item_id="bench/0",
    content_hash="c0",
    annotator="llm:a",
    model="m",
    prompt_hash="p",
    catalogue_hash="h",
    status="ok",
    reason="",
    body='{"raw": "é"}',
    usage=Usage(10, 4, 2),
    price=None,
    time="2026-11-29T10:00:00.000001+00:00",
    seconds=0.5,
    attempts=1,
)
VERDICTS = [
    Verdict("clarity", 3, "ok", "read from '3'", 0.75),
    Verdict("topics", ["a", "b"], "ok"),
    Verdict("negation", None, "invalid", "1 is neither true nor false"),
]


def later(second: int, **changes: object) -> Reply:
    time = REPLY.time.replace("10:00:00", f"10:00:{second:02}")
    return replace(REPLY, time=time, **changes)  # type: ignore[arg-type]


def rows(path: Path) -> list[tuple[object, ...]]:
    with Ledger(path) as ledger:
        tables = ("catalogue", "body", "reply", "annotation")
        return [row for name in tables for row in ledger.query(f"SELECT * FROM {name}")]


def test_what_is_added_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "ledger.sqlite"
    with Ledger(path, write=True) as ledger:
        ledger.add([(REPLY, VERDICTS)])
    with Ledger(path) as ledger:
        found = list(ledger.annotations())
        body = [
            *ledger.query(
                "SELECT body, prompt_tokens, cached_tokens FROM reply JOIN body USING (body_hash)"
            )
        ]
    first = Annotation(
        item_id="bench/0",
        content_hash="c0",
        attribute="clarity",
        value=3,
        annotator="llm:a",
        status="ok",
        reason="read from '3'",
        confidence=0.75,
        prompt_hash="p",
        catalogue_hash="h",
        reply_id=reply_id(REPLY),
        time=REPLY.time,
    )
    assert found == [
        first,
        replace(
            first, attribute="negation", value=None, status="invalid", confidence=None,
            reason="1 is neither true nor false",
        ),
        replace(first, attribute="topics", value=["a", "b"], reason="", confidence=None),
    ]  # fmt: skip
    assert body == [('{"raw": "é"}', 10, 4)]


def test_a_request_is_known_by_how_it_ended_last(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite", write=True) as ledger:
        assert ledger.status_of("k1") is None
        ledger.add([(later(5, status="truncated"), []), (later(3, status="error"), [])])
        assert ledger.status_of("k1") == "truncated"
        ledger.add([(later(9), [])])
        assert ledger.status_of("k1") == "ok"


def test_adding_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, write=True) as ledger:
        ledger.add([(REPLY, VERDICTS)])
        before = rows(path)
        ledger.add([(REPLY, VERDICTS)])
    assert rows(path) == before


def test_merging_is_idempotent_and_keeps_everything(tmp_path: Path, core: Catalogue) -> None:
    one, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    with Ledger(one, write=True) as ledger:
        ledger.add([(REPLY, VERDICTS), (later(1, item_id="bench/1"), VERDICTS)])
    with Ledger(other, write=True) as ledger:
        ledger.remember(core)
        ledger.add([(REPLY, VERDICTS), (later(2, item_id="bench/2"), VERDICTS)])
    for _ in range(2):
        with Ledger(one, write=True) as ledger:
            ledger.merge(other)
    with Ledger(one) as ledger:
        assert {a.item_id for a in ledger.annotations()} == {"bench/0", "bench/1", "bench/2"}
        assert len(list(ledger.annotations())) == 9
        assert ledger.catalogues() == {core.hash: core}


def test_a_reply_is_added_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, write=True) as ledger:
        lone = Verdict("clarity", None, "invalid", "\ud800")
        with pytest.raises(UnicodeEncodeError):
            ledger.add([(REPLY, [*VERDICTS, lone])])
        ledger.add([(later(1), VERDICTS)])
    assert len(rows(path)) == len(["body", "reply", *VERDICTS])


def test_others_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    with Ledger(path, write=True) as writer, Ledger(path) as reader:
        writer.add([(REPLY, VERDICTS)])
        assert reader.status_of("k1") == "ok"


def test_a_ledger_that_is_not_there_reads_as_empty_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    assert rows(path) == []
    assert not path.exists()


def damaged(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE notes (text)")
    database.close()


def newer(path: Path) -> None:
    Ledger(path, write=True).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize(
    ("make", "found"),
    [
        (damaged, "cannot be read as a ledger"),
        (foreign, "another program's file"),
        (newer, "newer benchprism"),
        (a_folder, "cannot be read as a ledger"),
    ],
)
def test_a_file_that_is_no_ledger_is_one_sentence(
    tmp_path: Path, make: object, found: str, write: bool
) -> None:
    path = tmp_path / "l.sqlite"
    assert callable(make)
    make(path)
    with pytest.raises(InputError, match=found):
        Ledger(path, write=write)


def test_only_one_annotation_holds_the_claim(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    second = pytest.raises(InputError, match="another annotation is writing")
    with claimed(path), second, claimed(path):
        pass
    with claimed(path):
        pass


def test_a_ledger_without_bytes_is_an_empty_one(tmp_path: Path) -> None:
    path, full = tmp_path / "l.sqlite", tmp_path / "full.sqlite"
    path.touch()
    assert rows(path) == []
    with Ledger(full, write=True) as ledger:
        ledger.add([(REPLY, VERDICTS)])
        assert ledger.merge(path) == 0
    with Ledger(path, write=True) as ledger:
        assert ledger.merge(full) == 1


def test_a_full_disk_says_make_room(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite", write=True) as ledger:
        ledger.add([(REPLY, VERDICTS)])
        pages = next(ledger.query("PRAGMA page_count"))[0]
        list(ledger.query(f"PRAGMA max_page_count = {pages}"))
        with pytest.raises(
            InputError, match=r"cannot be written \(database or disk is full\).*room"
        ):
            ledger.add([(later(1, request_key="k2", body="x" * 100_000), [])])
        assert [reply for (reply,) in ledger.query("SELECT request_key FROM reply")] == ["k1"]


def test_a_ledger_that_may_not_be_written_says_permissions(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l.sqlite", write=True) as ledger:
        list(ledger.query("PRAGMA query_only = 1"))
        with pytest.raises(InputError, match=r"readonly database.*mend the permissions"):
            ledger.add([(REPLY, VERDICTS)])
