"""Texts that try to be something else come back as they were sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TEXTS = [
    "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'>",
    "{{ 7 * 7 }} ${7*7} <%= 7*7 %> {% raw %}",
    "**bold** [link](javascript:alert(1)) `code` <b>bold</b> &lt;i&gt; &amp;",
    "long " * 20_000,
    "🎉👩‍👩‍👧 e\u0301 \u202eright to left\u202c שלום עולم \u200b\ufeff",
    "line\nbreak\r\nand\ttab \\u0041 \"quoted\" 'quoted' \u2028",
    "'; DROP TABLE records; -- %s %(a)s ? :name",
    "\x01\x1b[31m control",
]


def test_texts_come_back_byte_for_byte(
    review_server: Any, make_dataset: Callable[..., str]
) -> None:
    owner = review_server.owner
    dataset = make_dataset(owner, "hostile-texts")
    items = [
        {"external_id": str(n), "fields": {"text": text}, "metadata": {"benchmark": text[:100]}}
        for n, text in enumerate(TEXTS)
    ]
    owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})
    listed = owner("GET", f"datasets/{dataset}/records?limit=1000")["items"]
    assert [record["fields"]["text"] for record in listed] == TEXTS
    assert [record["metadata"]["benchmark"] for record in listed] == [t[:100] for t in TEXTS]

    def find(words: str) -> list[str]:
        body = {"query": {"text": {"q": words}}}
        found = owner("POST", f"datasets/{dataset}/records/search", body)["items"]
        return [item["record"]["external_id"] for item in found]

    assert find("script stolen") == ["0"]
    assert find("DROP TABLE") == ["6"]
    assert find("'; DROP TABLE records; --") == ["6"]
    assert find('" OR 1=1') == []
    assert find("w" * 60_000) == []
    assert find("%") == []


def test_a_response_with_such_a_text_comes_back_too(
    review_server: Any, make_dataset: Callable[..., str]
) -> None:
    owner, alice = review_server.owner, review_server.log_in("alice")
    dataset = make_dataset(owner, "hostile-responses")
    items = [{"fields": {"text": "Item"}} for _ in TEXTS]
    made = owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})["items"]
    for record, text in zip(made, TEXTS, strict=True):
        values = {"label": {"value": "a"}, "comment": {"value": text}}
        answer = {"status": "submitted", "values": values}
        alice("POST", f"records/{record['id']}/responses", answer)
    listed = owner("GET", f"datasets/{dataset}/records?include=responses&limit=1000")["items"]
    comments = [record["responses"][0]["values"]["comment"]["value"] for record in listed]
    assert comments == TEXTS
