"""Endpoints of every kind: how each can be asked is found out once, and kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from aiohttp import web

from benchprism.annotate.asking.annotator import Annotator, run_annotator
from benchprism.annotate.asking.capabilities import RUNGS, Rung
from benchprism.annotate.asking.recorder import Summary
from benchprism.annotate.ledger.store import Ledger
from benchprism.annotate.loopback import chat_completions_server
from benchprism.prompts.catalogue import Catalogue
from benchprism.records.errors import EndpointError

Asked = dict[str, Any]
Answer = Callable[[Asked], Any]

GOOD = {"clarity": 3, "uses_negation": False, "sensitive_topics": ["none"]}


class Kind:
    """An endpoint of some kind; it says how each request was constrained."""

    def __init__(self, answers: dict[str, Any], rejected: dict[str, str] | None = None) -> None:
        """Take what is answered.

        Args:
            answers: By constraint: a text to write, a rejection, or a function of both.
            rejected: Parameters that no request may have, with what is said about them.
        """
        self.answers = answers
        self.rejected = rejected or {}
        self.seen: list[str] = []
        self.bodies: list[Asked] = []

    async def answer(self, request: web.Request) -> web.Response:
        body: Asked = await request.json()
        constraint = "decisions" if request.path.endswith("/decisions") else constraint_of(body)
        self.seen.append(constraint)
        self.bodies.append(body)
        for name, message in self.rejected.items():
            if name in body:
                return web.json_response({"error": {"message": message, "param": name}}, status=400)
        made = self.answers.get(constraint, Reject(404, "Not Found"))
        made = made(body) if callable(made) else made
        if isinstance(made, Reject):
            return web.json_response({"error": {"message": made.message}}, status=made.status)
        return web.json_response(made if isinstance(made, dict) else completion(made))


class Reject:
    """A rejection."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message


def constraint_of(body: Asked) -> str:
    if "tools" in body:
        assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"]
        return "tool"
    return str(body.get("response_format", {}).get("type", "text"))


def completion(content: Any, **message: Any) -> Asked:
    made = {"role": "assistant", "content": content, **message}
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return {"choices": [{"finish_reason": "stop", "message": made}], "usage": usage}


def called(arguments: str) -> Asked:
    function = {"name": "annotate", "arguments": arguments}
    return completion(None, tool_calls=[{"id": "c", "type": "function", "function": function}])


def decided(body: Asked) -> Asked:
    """Be sure of the first value of each question, and that no label applies."""
    answers = []
    for question in body["questions"]:
        answer = {"type": question["type"], "name": question["name"]}
        if question["type"] == "predicate":
            answers.append({**answer, "probability": 0.1})
            continue
        key = "label" if question["type"] == "score" else "value"
        values = [part[key] for part in question.get("levels") or question["choices"]]
        chances = [{key: v, "probability": 0.7 if v == values[0] else 0.1} for v in values]
        answers.append({**answer, "probabilities": chances})
    return {"model": "m", "answers": answers, "usage": {"input_tokens": 9, "output_tokens": 0}}


REPLY = json.dumps({"note": "Plain.", "values": GOOD, "doubt": []})
BROKEN = REPLY.replace('"', "'").replace("False", "false")
PROSE = "It is clear, and nothing in it is sensitive."
NO_FORMAT = Reject(400, "This response_format type is unavailable now")
NO_TOOLS = Reject(400, "tool_choice is not supported by this model")
HALF = json.dumps({"values": {"clarity": 3}})

KINDS: dict[str, tuple[Kind, Rung, list[str]]] = {
    "decisions": (Kind({"decisions": decided}), "decisions", ["decisions"]),
    "schema": (Kind({"json_schema": REPLY}), "json_schema", ["decisions", "json_schema"]),
    "no schema": (
        Kind({"json_schema": NO_FORMAT, "json_object": REPLY}),
        "json_object",
        ["decisions", "json_schema", "json_object"],
    ),
    "fails on a schema": (
        Kind({"json_schema": Reject(500, "('body', 'response_format', 'type'), Input should be"
                                         " 'text' or 'json_object'"), "json_object": REPLY}),
        "json_object",
        ["decisions", "json_schema", "json_object"],
    ),
    "ignores a schema": (
        Kind({"json_schema": PROSE, "json_object": REPLY}),
        "json_object",
        ["decisions", "json_schema", "json_object"],
    ),
    "only tools": (
        Kind({"json_schema": PROSE, "json_object": Reject(422, "response_format: extra input"),
              "tool": called(REPLY)}),
        "tool",
        ["decisions", "json_schema", "json_object", "tool"],
    ),
    "takes no schema beside json_object": (
        Kind({"json_schema": NO_FORMAT, "json_object": lambda body: (
            Reject(400, "unknown key schema") if "schema" in body["response_format"] else REPLY)}),
        "json_object",
        ["decisions", "json_schema", "json_object", "json_object"],
    ),
    "nothing but text": (
        Kind({"json_schema": NO_FORMAT, "json_object": NO_FORMAT, "tool": NO_TOOLS,
              "text": BROKEN}),
        "text",
        ["decisions", "json_schema", "json_object", "tool", "text"],
    ),
    "answers anything anywhere": (
        Kind(dict.fromkeys(["decisions", *RUNGS], completion(REPLY))),
        "json_schema",
        ["decisions", "json_schema"],
    ),
    "holds nowhere, and gives most on json_object": (
        Kind({"json_schema": PROSE, "json_object": HALF, "tool": PROSE, "text": PROSE}),
        "json_object",
        ["decisions", "json_schema", "json_object", "tool", "text", "json_object"],
    ),
}  # fmt: skip


@pytest.fixture
def small(core: Catalogue) -> Catalogue:
    """Three attributes: a level, several labels and a truth value."""
    attributes = [core[name] for name in GOOD]
    dimension = core.dimensions[0].model_copy(update={"attributes": attributes})
    return core.model_copy(update={"dimensions": [dimension]})


@pytest.fixture
def annotate(
    annotator_at: Callable[..., Annotator],
    make_items: Callable[..., pa.Table],
    small: Catalogue,
    tmp_path: Path,
) -> Callable[..., Summary]:
    """Ask an endpoint of some kind about some items, into one ledger."""

    def work(kind: Kind, items: int | list[str], **options: Any) -> Summary:
        paths = ["/chat/completions", "/decisions"]
        with chat_completions_server(kind.answer, paths=paths) as url:
            options.setdefault("retry", ())
            retry = options.pop("retry")
            annotator = annotator_at(url, **options)
            return run_annotator(annotator, make_items(items), small, tmp_path / "l.sqlite",
                                 retry=retry)  # fmt: skip

    return work


def rows(tmp_path: Path, sql: str) -> list[tuple[Any, ...]]:
    with Ledger(tmp_path / "l.sqlite") as ledger:
        return [*ledger.query(sql)]


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_endpoint_is_asked_as_it_can_be(
    name: str, annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    kind, rung, probes = KINDS[name]
    kind.seen.clear()
    summary = annotate(kind, 8)
    assert kind.seen == probes + [rung] * 7
    assert summary.asked == 8
    assert rows(tmp_path, "SELECT DISTINCT rung FROM latest_reply") == [(rung,)]
    status = "invalid" if name.startswith("holds nowhere") else "ok"
    assert rows(tmp_path, "SELECT DISTINCT status FROM item_state") == [(status,)]


def test_every_reply_that_came_is_kept_with_its_tokens(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    kind, _, _ = KINDS["ignores a schema"]
    kind.seen.clear()
    summary = annotate(kind, 3)
    assert rows(tmp_path, "SELECT rung, status FROM reply ORDER BY time") == [
        ("json_schema", "invalid"), ("json_object", "ok"), ("json_object", "ok"),
        ("json_object", "ok"),
    ]  # fmt: skip
    assert summary.statuses == Counter(ok=3)
    assert summary.prompt_tokens == 4 * 7


def test_the_probe_is_made_once_for_an_endpoint_and_a_model(
    annotator_at: Callable[..., Annotator], make_items: Callable[..., pa.Table], small: Catalogue,
    tmp_path: Path,
) -> None:  # fmt: skip
    kind, _, probes = KINDS["no schema"]
    kind.seen.clear()
    ledger = tmp_path / "l.sqlite"
    paths = ["/chat/completions", "/decisions"]
    with chat_completions_server(kind.answer, paths=paths) as url:
        run_annotator(annotator_at(url), make_items(2), small, ledger)
        assert kind.seen == [*probes, "json_object"]
        run_annotator(annotator_at(url), make_items(5), small, ledger)
        assert kind.seen == [*probes, *["json_object"] * 4]
        run_annotator(annotator_at(url, model="other"), make_items(1), small, ledger)
    assert kind.seen == [*probes, *["json_object"] * 4, *probes]


def test_a_confidence_comes_with_decisions(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    annotate(KINDS["decisions"][0], 2)
    found = rows(tmp_path, "SELECT DISTINCT attribute, value, confidence FROM annotation")
    assert sorted(found) == [
        ("clarity", "0", 0.7), ("sensitive_topics", '["none"]', 0.9),
        ("uses_negation", "false", 0.9),
    ]  # fmt: skip


def test_what_was_repaired_says_so(annotate: Callable[..., Summary], tmp_path: Path) -> None:
    annotate(KINDS["nothing but text"][0], 2)
    assert rows(tmp_path, "SELECT DISTINCT status, reason FROM annotation") == [
        ("ok", "from repaired JSON")
    ]


def test_a_forced_rung_is_the_only_one(annotate: Callable[..., Summary], tmp_path: Path) -> None:
    kind, _, _ = KINDS["nothing but text"]
    kind.seen.clear()
    assert annotate(kind, 2, rung="text").statuses == Counter(ok=2)
    assert kind.seen == ["text", "text"]
    with pytest.raises(EndpointError, match="response_format type is unavailable"):
        annotate(kind, 2, rung="json_object", name="llm:other")
    prose = Kind({"json_schema": PROSE})
    assert annotate(prose, 4, rung="json_schema", name="llm:third").statuses == Counter(invalid=4)
    assert prose.seen == ["json_schema"] * 4


REASONING = {
    "max_tokens": "Unsupported parameter: 'max_tokens' is not supported with this model."
    " Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0.5 with this model.",
    "seed": "Unknown parameter: 'seed'.",
    "logprobs": "You are not allowed to request logprobs from this model.",
}


def test_a_parameter_that_a_model_rejects_is_learned_once_and_noted(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    kind = Kind({"json_schema": REPLY}, REASONING)
    kind.answers["decisions"] = Reject(404, "Not Found")
    summary = annotate(kind, 20, temperature=0.5, seed=7, logprobs=True, concurrency=8)
    assert summary.statuses == Counter(ok=20)
    assert len(kind.bodies) == 20 + 1 + 4
    assert len(summary.notes) == 4
    last = kind.bodies[-1]
    assert last["max_completion_tokens"] == 2000
    assert not last.keys() & REASONING.keys()
    (content,) = rows(tmp_path, "SELECT content FROM capability ORDER BY time DESC LIMIT 1")[0]
    notes = json.loads(content)["notes"]
    assert [note.split(" (")[0] for note in notes] == [
        "max_completion_tokens in place of max_tokens",
        "temperature is left out",
        "seed is left out",
        "logprobs is left out",
    ]


def strict(body: Asked) -> Asked | Reject:
    """Take the keywords that OpenAI's strict schemas have, and no other."""
    text = json.dumps(body["response_format"]["json_schema"]["schema"])
    if '"maxLength"' in text:
        return Reject(
            400,
            "Invalid schema for response_format 'annotation': In context=('properties', 'note'),"
            " 'maxLength' is not permitted.",
        )
    return completion(REPLY)


def test_bounds_that_an_endpoint_rejects_are_left_out(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    kind = Kind({"json_schema": strict})
    summary = annotate(kind, 20, concurrency=8)
    assert summary.statuses == Counter(ok=20)
    assert kind.seen == ["decisions", *["json_schema"] * 21]
    assert [note.split(" (")[0] for note in summary.notes] == ["maxLength is left out"]
    schema = kind.bodies[-1]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["note"] == {"type": "string"}
    assert schema["properties"]["doubt"]["maxItems"] == len(GOOD)


def test_what_is_learned_while_many_are_in_flight_is_learned_once(
    annotate: Callable[..., Summary],
) -> None:
    kind = Kind({"json_schema": REPLY})
    assert annotate(kind, 4, seed=7).statuses == Counter(ok=4)
    kind.rejected = {"seed": "Unknown parameter: 'seed'."}
    kind.bodies.clear()
    summary = annotate(kind, 60, seed=7, concurrency=16, name="llm:later")
    assert summary.statuses == Counter(ok=60)
    rejected = [body for body in kind.bodies if "seed" in body]
    assert 1 <= len(rejected) <= 16
    assert "seed" not in kind.bodies[-1]


def test_a_rung_that_held_and_does_not_hold_is_given_up(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    def only_first(body: Asked) -> str:
        return REPLY if "What is 0 plus 0?" in body["messages"][1]["content"] else PROSE

    kind = Kind({"json_schema": only_first, "json_object": REPLY})
    summary = annotate(kind, 30, concurrency=2)
    broken = kind.seen.count("json_schema") - 1
    assert 5 <= broken <= 7
    assert summary.statuses["ok"] == 30 - (broken - 1)
    assert kind.seen[-1] == "json_object"
    ((note,),) = rows(tmp_path, "SELECT content FROM capability ORDER BY time DESC LIMIT 1")
    assert "5 of 5 replies break the schema" in note


def test_an_odd_broken_reply_is_no_reason_to_give_a_rung_up(
    annotate: Callable[..., Summary],
) -> None:
    def nearly(body: Asked) -> str:
        odd = any(f"What is {n} plus" in body["messages"][1]["content"] for n in (20, 40, 60, 80))
        return PROSE if odd else REPLY

    kind = Kind({"json_schema": nearly})
    assert annotate(kind, 100).statuses == Counter(ok=96, invalid=4)
    assert set(kind.seen) == {"decisions", "json_schema"}


def test_values_that_a_schema_cannot_rule_out_do_not_speak_against_it(
    annotate: Callable[..., Summary],
) -> None:
    values = {**GOOD, "sensitive_topics": ["none", "crime"]}
    kind = Kind({"json_schema": json.dumps({"values": values})})
    assert annotate(kind, 6).statuses == Counter(invalid=6)
    assert set(kind.seen) == {"decisions", "json_schema"}


def test_a_refusal_of_the_first_item_proves_nothing(annotate: Callable[..., Summary]) -> None:
    def first_refused(body: Asked) -> Any:
        if "What is 0 plus 0?" in body["messages"][1]["content"]:
            return completion(None, refusal="I can't.")
        return PROSE if "response_format" in body else REPLY

    kind = Kind(dict.fromkeys(["json_schema", "json_object", "text"], first_refused))
    kind.answers["tool"] = NO_TOOLS
    assert annotate(kind, 5).statuses == Counter(refused=1, ok=4)
    assert kind.seen == [
        "decisions", "json_schema", "json_schema", "json_object", "tool", "text", "text", "text",
        "text",
    ]  # fmt: skip


def test_a_reply_without_room_is_asked_for_once_more_with_twice_the_room(
    annotate: Callable[..., Summary], tmp_path: Path
) -> None:
    def needs(tokens: int) -> Answer:
        def made(body: Asked) -> Asked:
            done = completion(REPLY if body["max_tokens"] >= tokens else REPLY[:40])
            if body["max_tokens"] < tokens:
                done["choices"][0]["finish_reason"] = "length"
            return done

        return made

    enough = Kind({"json_schema": needs(150)})
    assert annotate(enough, 3, max_output_tokens=100).statuses == Counter(ok=3)
    limits = Counter(body.get("max_tokens") for body in enough.bodies)
    assert limits == {None: 1, 100: 3, 200: 3}
    assert summary_tokens(tmp_path) == 6 * 7
    never = Kind({"json_schema": needs(500)})
    summary = annotate(never, 3, max_output_tokens=100, name="llm:other")
    assert summary.statuses == Counter(truncated=3)
    assert len(never.bodies) == 1 + 6


def summary_tokens(tmp_path: Path) -> int:
    ((tokens,),) = rows(tmp_path, "SELECT sum(prompt_tokens) FROM reply")
    return int(tokens)
