"""Argilla's searches, each with the answer worked out from the records in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Filter = dict[str, Any]
Test = Callable[[Any, str | None], bool]
"""Of a record and the user who searches: none is the owner, who sees every response."""


def record(name: str) -> Filter:
    return {"entity": "record", "property": name}


def metadata(name: str) -> Filter:
    return {"entity": "metadata", "metadata_property": name}


def suggestion(question: str, prop: str = "value") -> Filter:
    return {"entity": "suggestion", "question": question, "property": prop}


def response(question: str | None = None) -> Filter:
    scope = {"question": question} if question else {"property": "status"}
    return {"entity": "response", **scope}


def terms(scope: Filter, *values: str) -> Filter:
    return {"type": "terms", "scope": scope, "values": list(values)}


def between(scope: Filter, **bounds: float | str) -> Filter:
    return {"type": "range", "scope": scope, **bounds}


def name_of(part: Any) -> str:
    """A filter or a scope in a few words."""
    if isinstance(part, dict):
        return " ".join(name_of(value) for value in part.values() if value != "terms")
    return " ".join(map(str, part)) if isinstance(part, list) else str(part)


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def held(known: Any, prop: str) -> list[Any]:
    return listed(known.metadata.get(prop))


def first(values: list[Any]) -> Any:
    return next(iter(values), None)


def statuses(known: Any, user: str | None) -> set[str]:
    mine = [r for name, r in known.responses.items() if user in {None, name}]
    return {r["status"] for r in mine} or {"pending"}


def suggested(known: Any, question: str, prop: str = "value") -> list[Any]:
    return listed(known.suggestions.get(question, {}).get(prop))


def answered(known: Any, question: str, user: str | None) -> list[Any]:
    mine = [r for name, r in known.responses.items() if user in {None, name}]
    return [value for r in mine for value in listed(r["values"].get(question))]


FILTERS: list[tuple[Filter, Test]] = [
    (terms(record("status"), "pending"), lambda r, u: not r.completed),
    (terms(record("status"), "completed"), lambda r, u: r.completed),
    (terms(record("status"), "pending", "completed"), lambda r, u: True),
    (terms(record("external_id"), "r3", "r7", "nobody"), lambda r, u: r.id in {"r3", "r7"}),
    (between(record("external_id"), ge="r3", le="r35"), lambda r, u: "r3" <= r.id <= "r35"),
    (between(record("inserted_at"), ge="2020-01-01T00:00:00Z"), lambda r, u: True),
    (between(record("inserted_at"), le="2020-01-01"), lambda r, u: False),
    (between(record("inserted_at"), ge="no date"), lambda r, u: False),
    (terms(metadata("benchmark"), "mmlu"), lambda r, u: r.metadata.get("benchmark") == "mmlu"),
    (terms(metadata("benchmark"), "arc"), lambda r, u: "arc" in held(r, "benchmark")),
    (
        terms(metadata("benchmark"), "gsm8k", "hella swag"),
        lambda r, u: bool({"gsm8k", "hella swag"} & {*held(r, "benchmark")}),
    ),
    (terms(metadata("benchmark"), "MMLU"), lambda r, u: False),
    (terms(metadata("length"), "7", "10"), lambda r, u: r.metadata.get("length") in {7, 10}),
    (terms(metadata("length"), "7.0"), lambda r, u: r.metadata.get("length") == 7),
    (between(metadata("length"), ge=0), lambda r, u: r.metadata.get("length", -1) >= 0),
    (
        between(metadata("length"), ge=-5, le=9),
        lambda r, u: first(held(r, "length")) in {-5, 0, 7, 9},
    ),
    (between(metadata("length"), ge=2.0**40), lambda r, u: r.metadata.get("length", 0) >= 2**40),
    (between(metadata("length"), ge="much"), lambda r, u: False),
    (
        between(metadata("disagreement"), ge=0.1, le=0.5),
        lambda r, u: 0.1 <= r.metadata.get("disagreement", -1) <= 0.5,
    ),
    (terms(metadata("disagreement"), "1.0"), lambda r, u: r.metadata.get("disagreement") == 1),
    (terms(metadata("disagreement"), "1e-07"), lambda r, u: held(r, "disagreement") == [1e-7]),
    (terms(suggestion("label"), "a", "b"), lambda r, u: first(suggested(r, "label")) in {"a", "b"}),
    (terms(suggestion("level"), "3"), lambda r, u: suggested(r, "level") == [3]),
    (between(suggestion("level"), ge=2), lambda r, u: max(suggested(r, "level"), default=-1) >= 2),
    (between(suggestion("level"), le=0), lambda r, u: suggested(r, "level") == [0]),
    (between(suggestion("label"), ge=0), lambda r, u: False),
    (terms(suggestion("topics"), "x"), lambda r, u: "x" in suggested(r, "topics")),
    (
        between(suggestion("label", "score"), ge=0.5),
        lambda r, u: max(suggested(r, "label", "score"), default=0) >= 0.5,
    ),
    (
        between(suggestion("topics", "score"), le=0.2),
        lambda r, u: min(suggested(r, "topics", "score"), default=1) <= 0.2,
    ),
    (
        terms(suggestion("label", "agent"), "gpt: 4"),
        lambda r, u: suggested(r, "label", "agent") == ["gpt: 4"],
    ),
    (
        terms(suggestion("level", "type"), "human"),
        lambda r, u: suggested(r, "level", "type") == ["human"],
    ),
    *(
        (terms(response(), *wanted), lambda r, u, w=wanted: bool({*w} & statuses(r, u)))
        for wanted in (
            ["pending"], ["submitted"], ["draft"], ["discarded"],
            ["pending", "draft"], ["submitted", "discarded", "draft"],
        )
    ),
    (terms(response("label"), "a"), lambda r, u: "a" in answered(r, "label", u)),
    (terms(response("level"), "0", "3"), lambda r, u: bool({0, 3} & {*answered(r, "level", u)})),
    (between(response("level"), ge=3), lambda r, u: max(answered(r, "level", u), default=0) >= 3),
    (terms(response("topics"), "z"), lambda r, u: "z" in answered(r, "topics", u)),
]  # fmt: skip

TEXTS: list[tuple[str, set[int]]] = [
    ("alpha", {0, 1}),
    ("ALPHA", {0, 1}),
    ("alph", set()),
    ("alph*", {0, 1}),
    ("alpha beta", {0}),
    ("beta alpha", {0}),
    ('"alpha beta"', {0}),
    ('"beta alpha"', set()),
    ('"lazy dog"', {1}),
    ("lazy dog", {1, 6}),
    ("gamma-delta", {1}),
    ("delta-gamma", set()),
    ("gamma delta", {1}),
    ("alpha -beta", {1}),
    ("alpha | zêta", {0, 1, 2}),
    ("alpha zêta", set()),
    ("zêta | alpha beta", {0}),
    ("zêta | (alpha beta)", {0, 2}),
    ("alpha -(beta | gamma)", set()),
    ("alpha+beta", {0}),
    ("ZÊTA", {2}),
    ("zeta", set()),
    ("café", {2}),
    ("cafe\u0301", {2}),
    ("caf*", {2}),
    ("straße", {3}),
    ("strasse", {3}),
    ("数学", {4}),
    ("学数", set()),
    ("epsilon", {5}),
    ("epsilon's", {5}),
    ("<b>bold</b>", {5}),
    ("{{ braces }}", {5}),
    ("3.14", {6}),
    ("4.13", set()),
    ("1,000", {6}),
    ("שלום", {7}),
    ("snake_case", {8}),
    ("snake*", {8}),
    ("snake", set()),
    ("C:\\\\path", {8}),
    ("100%", {8}),
    ("full", {9}),
    ("fine", {9}),
    ("the", {0}),
    ("none of these words", set()),
    ("\\-beta", {0}),
    ("((((alpha", {0, 1}),
    ("))alpha((", {0, 1}),
]
"""What is typed, and the texts (by their place) that it finds."""


@pytest.mark.parametrize("as_alice", [False, True], ids=["owner", "alice"])
@pytest.mark.parametrize(("wanted", "fits"), FILTERS, ids=[name_of(f) for f, _ in FILTERS])
def test_a_filter_finds_what_fits(
    searched: Any, wanted: Filter, fits: Test, as_alice: bool
) -> None:
    found = searched.find({"filters": {"and": [wanted]}}, as_alice=as_alice)
    user = "alice" if as_alice else None
    assert {*found} == {r.id for r in searched.records.values() if fits(r, user)}


def test_filters_hold_together(searched: Any) -> None:
    filters = [
        terms(response(), "pending"),
        terms(record("status"), "pending"),
        terms(suggestion("label"), "a", "b"),
        between(metadata("length"), ge=7),
    ]
    expected = {
        r.id for r in searched.records.values()
        if "alice" not in r.responses and not r.completed
        and {"a", "b"} & {*suggested(r, "label")} and r.metadata.get("length", 0) >= 7
    }  # fmt: skip
    assert expected
    assert {*searched.find({"filters": {"and": filters}}, as_alice=True)} == expected


@pytest.mark.parametrize(("typed", "texts"), TEXTS, ids=[text for text, _ in TEXTS])
def test_a_text_query_finds_its_texts(searched: Any, typed: str, texts: set[int]) -> None:
    found = searched.find({"query": {"text": {"q": typed}}})
    assert found == [f"r{n}" for n in range(40) if n % 10 in texts]


def test_a_text_query_looks_into_each_field_or_into_one(searched: Any) -> None:
    def find(words: str, field: str | None = None) -> list[str]:
        return searched.find({"query": {"text": {"q": words, "field": field}}})  # type: ignore[no-any-return]

    assert find("noted") == [f"r{n}" for n in range(0, 40, 3)]
    assert find("noted", "note") == find("noted")
    assert find("noted", "text") == []
    assert find("hello 5") == ["r5"]
    assert find("hello", "chat") == [f"r{n}" for n in range(0, 40, 5)]
    assert find("user") == []  # a role is no text
    assert find("noted hello") == [f"r{n}" for n in range(0, 40, 15)]  # words in two fields
    assert find('"only here hello"') == []  # a phrase stays in one
    assert find("  ") == [*searched.records]
    assert find("?!") == []


def test_text_filter_and_pages_go_together(searched: Any) -> None:
    body = {
        "query": {"text": {"q": "alpha"}},
        "filters": {"and": [terms(record("status"), "pending")]},
        "sort": [{"scope": record("external_id"), "order": "desc"}],
    }
    expected = sorted(
        (r.id for n, r in enumerate(searched.records.values()) if n % 10 < 2 and not r.completed),
        reverse=True,
    )
    assert searched.find(body) == expected
    page = searched.search(body, page="?limit=2&offset=1")
    assert [item["record"]["external_id"] for item in page["items"]] == expected[1:3]
    assert page["total"] == len(expected)
    assert searched.search(body, page="?limit=2&offset=1000") == {
        "items": [],
        "total": len(expected),
    }


def average(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


SORTS: list[tuple[Filter, Callable[[Any, bool, str | None], Any]]] = [
    (record("external_id"), lambda r, down, u: r.id),
    (record("status"), lambda r, down, u: "completed" if r.completed else "pending"),
    (metadata("length"), lambda r, down, u: r.metadata.get("length")),
    (metadata("disagreement"), lambda r, down, u: r.metadata.get("disagreement")),
    (
        metadata("benchmark"),
        lambda r, down, u: (max if down else min)(held(r, "benchmark"), default=None),
    ),
    (suggestion("label"), lambda r, down, u: first(suggested(r, "label"))),
    (suggestion("level"), lambda r, down, u: first(suggested(r, "level"))),
    (suggestion("label", "score"), lambda r, down, u: first(suggested(r, "label", "score"))),
    (suggestion("label", "agent"), lambda r, down, u: first(suggested(r, "label", "agent"))),
    (
        suggestion("topics", "score"),
        lambda r, down, u: (max if down else min)(suggested(r, "topics", "score"), default=None),
    ),
    (response("level"), lambda r, down, u: average(answered(r, "level", u))),
]  # fmt: skip


@pytest.mark.parametrize("as_alice", [False, True], ids=["owner", "alice"])
@pytest.mark.parametrize("down", [False, True], ids=["asc", "desc"])
@pytest.mark.parametrize(("scope", "key"), SORTS, ids=[name_of(scope) for scope, _ in SORTS])
def test_a_sort_orders_by_its_value_and_puts_what_has_none_last(
    searched: Any, scope: Filter, key: Callable[..., Any], down: bool, as_alice: bool
) -> None:
    user = "alice" if as_alice else None
    records = list(searched.records.values())
    known = [r for r in records if key(r, down, user) is not None]
    missing = [r for r in records if key(r, down, user) is None]
    expected = sorted(known, key=lambda r: r.id)
    expected = sorted(expected, key=lambda r: key(r, down, user), reverse=down)
    order = "desc" if down else "asc"
    sort = [{"scope": scope, "order": order}, {"scope": record("external_id"), "order": "asc"}]
    found = searched.find(
        {"sort": sort[: 1 if scope == record("external_id") else 2]}, as_alice=as_alice
    )
    assert found == [r.id for r in expected] + sorted(r.id for r in missing)


def test_the_owner_sees_records_as_they_came_and_reviewers_each_in_an_own_order(
    searched: Any,
) -> None:
    assert searched.find({}) == [*searched.records]
    once, again = searched.find({}, as_alice=True), searched.find({}, as_alice=True)
    assert once == again
    assert once != [*searched.records]
    assert sorted(once) == sorted(searched.records)
    pages = [searched.find({}, as_alice=True, page=f"?limit=15&offset={n}") for n in (0, 15, 30)]
    assert [*itertools.chain(*pages)] == once


def cosine(left: list[float], right: list[float]) -> float:
    a, b = np.array(left), np.array(right)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.mark.parametrize("order", ["most_similar", "least_similar"])
def test_similar_records_come_by_the_cosine_of_their_vectors(searched: Any, order: str) -> None:
    target = searched.records["r3"].vector
    others = [r for r in searched.records.values() if r.id != "r3"]
    sign = 1 if order == "most_similar" else -1
    expected = sorted(others, key=lambda r: -sign * cosine(r.vector, target))[:5]
    vector = {"name": "v", "record_id": searched.internal_ids["r3"], "order": order}
    found = searched.search({"query": {"vector": vector}}, page="?limit=5")
    assert [item["record"]["external_id"] for item in found["items"]] == [r.id for r in expected]
    scores = [item["query_score"] for item in found["items"]]
    assert scores == pytest.approx([(1 + sign * cosine(r.vector, target)) / 2 for r in expected])


def test_similarity_takes_a_vector_with_filters_and_words(searched: Any) -> None:
    body = {
        "query": {"vector": {"name": "v", "value": [1, 0, 0]}, "text": {"q": "alpha"}},
        "filters": {"and": [terms(record("status"), "pending")]},
    }
    fitting = [r for n, r in enumerate(searched.records.values()) if n % 10 < 2 and not r.completed]
    expected = sorted(fitting, key=lambda r: -cosine(r.vector, [1, 0, 0]))
    assert searched.find(body) == [r.id for r in expected]


def test_metrics_count_what_the_metadata_holds(searched: Any) -> None:
    path = f"me/datasets/{searched.dataset}/metadata-properties"
    ids = {prop["name"]: prop["id"] for prop in searched.owner("GET", path)["items"]}

    def metrics(name: str) -> Any:
        return searched.owner("GET", f"metadata-properties/{ids[name]}/metrics")

    records = searched.records.values()
    values = [v for r in records for v in listed(r.metadata.get("benchmark"))]
    counts = {term: values.count(term) for term in values}
    expected = sorted(counts, key=lambda term: (-counts[term], term))
    assert metrics("benchmark") == {
        "type": "terms",
        "total": len(values),
        "values": [{"term": term, "count": counts[term]} for term in expected],
    }
    lengths = [r.metadata["length"] for r in records if "length" in r.metadata]
    assert metrics("length") == {"type": "integer", "min": min(lengths), "max": max(lengths)}
    floats = [r.metadata["disagreement"] for r in records if "disagreement" in r.metadata]
    assert metrics("disagreement") == {"type": "float", "min": min(floats), "max": max(floats)}


def test_progress_counts_records_and_each_users_responses(searched: Any) -> None:
    records = searched.records.values()
    completed = sum(r.completed for r in records)
    progress = searched.owner("GET", f"datasets/{searched.dataset}/progress")
    assert (progress["total"], progress["completed"]) == (40, completed)
    mine = [r.responses["alice"]["status"] for r in records if "alice" in r.responses]
    assert searched.alice("GET", f"me/datasets/{searched.dataset}/metrics")["responses"] == {
        "total": 40,
        "submitted": mine.count("submitted"),
        "discarded": mine.count("discarded"),
        "draft": mine.count("draft"),
        "pending": 40 - len(mine),
    }
