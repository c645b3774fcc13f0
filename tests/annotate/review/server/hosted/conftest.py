"""A dataset whose records are known, on a server with SQLite and on one with PostgreSQL."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

TEXTS = (
    "Alpha beta, the quick brown fox",
    "alpha GAMMA-delta (kappa) lazy dog",
    "Zêta ETA theta; naïve café",
    "STRASSE or Straße: which one?",
    "中文数学题目 in a sentence",
    "epsilon's <b>bold</b> & {{ braces }}",
    "a dog that is lazy, 3.14 or 1,000",
    "emoji 🎉 and שלום עולם",
    "snake_case a.b C:\\path 100% _x",
    "ﬁne ＦＵＬＬ width",
)
USERS = ("alice", "bob", "carol")


@dataclass(frozen=True)
class Known:
    """A record as it was pushed."""

    id: str
    fields: dict[str, Any]
    metadata: dict[str, Any]
    suggestions: dict[str, dict[str, Any]]
    """Question to value, score, agent and type."""
    responses: dict[str, dict[str, Any]]
    """User to status and values."""
    vector: list[float]

    @property
    def completed(self) -> bool:
        submitted = [r for r in self.responses.values() if r["status"] == "submitted"]
        return len(submitted) >= 2


@dataclass(frozen=True)
class Searched:
    """A dataset to search, and what is in it."""

    records: dict[str, Known]
    dataset: str
    owner: Any
    alice: Any
    internal_ids: dict[str, str] = field(default_factory=dict)

    def find(self, body: dict[str, Any], *, as_alice: bool = False, page: str = "") -> list[str]:
        """The ids that a search finds, in order; checks that it counts as many."""
        found = self.search(body, as_alice=as_alice, page=page or "?limit=1000")
        ids = [item["record"]["external_id"] for item in found["items"]]
        assert page or found["total"] == len(ids)
        return ids

    def search(self, body: dict[str, Any], *, as_alice: bool = False, page: str = "") -> Any:
        user, prefix = (self.alice, "me/") if as_alice else (self.owner, "")
        return user("POST", f"{prefix}datasets/{self.dataset}/records/search{page}", body)


def known_records() -> dict[str, Known]:
    """Forty records: ten texts four times, everything else drawn with a seed."""
    draw = random.Random(7)
    return {record.id: record for record in (_record(draw, number) for number in range(40))}


def _record(draw: random.Random, number: int) -> Known:
    fields: dict[str, Any] = {"text": f"{TEXTS[number % len(TEXTS)]} id{number}"}
    if number % 3 == 0:
        fields["note"] = "noted only here"
    if number % 5 == 0:
        fields["chat"] = [{"role": "user", "content": f"hello chat {number}"}]
    metadata: dict[str, Any] = {}
    if draw.random() < 0.8:
        metadata["benchmark"] = draw.choice(["mmlu", "arc", ["gsm8k", "arc"], "hella swag"])
    if draw.random() < 0.8:
        metadata["length"] = draw.choice([-5, 0, 7, 9, 10, 100, 2**40])
    if draw.random() < 0.8:
        metadata["disagreement"] = draw.choice([0.0, 0.25, 0.5, 1.0, 1e-7])
    vector = [draw.uniform(-1, 1) for _ in range(3)]
    return Known(f"r{number}", fields, metadata, _suggestions(draw), _responses(draw), vector)


def _suggestions(draw: random.Random) -> dict[str, dict[str, Any]]:
    drawn: dict[str, tuple[Any, Any]] = {
        "label": (draw.choice("abc"), round(draw.random(), 3)),
        "level": (draw.randrange(4), round(draw.random(), 3)),
        "topics": (draw.sample("xyz", 2), [round(draw.random(), 3) for _ in range(2)]),
    }
    return {
        question: {
            "value": value, "score": score, "agent": draw.choice(["gpt: 4", "qwen"]),
            "type": draw.choice(["model", "human"]),
        }
        for question, (value, score) in drawn.items()
        if draw.random() < 0.7
    }  # fmt: skip


def _responses(draw: random.Random) -> dict[str, dict[str, Any]]:
    responses = {}
    for user in USERS:
        if draw.random() < 0.55:
            status = draw.choice(["submitted", "submitted", "draft", "discarded"])
            values = {"label": draw.choice("abc"), "level": draw.randrange(4)}
            if draw.random() < 0.5:
                values["topics"] = draw.sample("xyz", 2)
            responses[user] = {"status": status, "values": values}
    return responses


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def searched(
    request: pytest.FixtureRequest,
    make_dataset: Callable[..., str],
    question_ids: Callable[[Any, str], dict[str, str]],
) -> Searched:
    """The known records, pushed to a server with each kind of database."""
    name = "review_server" if request.param == "sqlite" else "postgresql_server"
    server = request.getfixturevalue(name)
    dataset = make_dataset(server.owner, f"search-{uuid.uuid4().hex}", min_submitted=2)
    records = known_records()
    _push(server, dataset, question_ids(server.owner, dataset), records)
    found = Searched(records, dataset, server.owner, server.log_in("alice"))
    for item in found.search({}, page="?limit=1000")["items"]:
        found.internal_ids[item["record"]["external_id"]] = item["record"]["id"]
    return found


def _push(server: Any, dataset: str, questions: dict[str, str], records: dict[str, Known]) -> None:
    users = {user["username"]: user["id"] for user in server.owner("GET", "users")["items"]}
    items = [
        {
            "external_id": record.id,
            "fields": record.fields,
            "metadata": record.metadata,
            "vectors": {"v": record.vector},
            "suggestions": [
                {"question_id": questions[question], **suggestion}
                for question, suggestion in record.suggestions.items()
            ],
            "responses": [
                {
                    "user_id": users[user],
                    "status": response["status"],
                    "values": {q: {"value": v} for q, v in response["values"].items()},
                }
                for user, response in record.responses.items()
            ],
        }
        for record in records.values()
    ]
    server.owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})


@pytest.fixture(scope="session")
def postgresql_server(
    postgresql: str,
    start_review_server: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Any]:
    """A review server on PostgreSQL."""
    home = tmp_path_factory.mktemp("postgresql") / "home"
    users = [f"--user={name}" for name in USERS]
    started = start_review_server(home, *users, ARGILLA_DATABASE_URL=postgresql)
    yield started.server
    started.command.terminate()
    started.command.wait()
