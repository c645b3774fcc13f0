"""The web UI as a reviewer sees it."""

from __future__ import annotations

import html
import uuid
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

HOSTILE = {
    "script": "<script>window.stolen = 1</script><img src=x onerror='window.stolen = 1'><b>b</b>",
    "template": "{{ 7 * 7 }} ${7*7} {{constructor.constructor('window.stolen=1')()}}",
    "markdown": "**not bold** [no link](javascript:alert(1)) `code` &lt;i&gt; &amp; a < b",
    "unicode": "🎉 \u202eright to left\u202c שלום עולם",
    "lines": "first line\n  second line",
    "long": ("word " * 20_000).strip(),
}


@pytest.fixture
def hostile_dataset(review_server: Any) -> str:
    """A dataset of hostile items, escaped as Argilla's text fields need it: they render HTML."""
    owner = review_server.owner
    workspace = owner("GET", "me/workspaces")["items"][0]["id"]
    made = owner("POST", "datasets", {"name": f"hostile {uuid.uuid4()}", "workspace_id": workspace})
    base = f"datasets/{made['id']}"
    text = {"type": "text", "use_markdown": False}
    owner("POST", f"{base}/fields", {"name": "text", "title": "Item", "settings": text})
    options = [{"value": value, "text": value} for value in ("yes", "no")]
    settings = {"type": "label_selection", "options": options}
    question = {"name": "clear", "title": "Clear?", "required": True, "settings": settings}
    asked = owner("POST", f"{base}/questions", question)
    owner("PUT", f"{base}/publish")
    suggestion = {"question_id": asked["id"], "value": "no", "score": 0.9, "agent": "llm:test"}
    items = [
        {
            "external_id": name,
            "fields": {"text": html.escape(content, quote=False)},
            "suggestions": [suggestion],
        }
        for name, content in HOSTILE.items()
    ]
    owner("POST", f"{base}/records/bulk", {"items": items})
    return str(made["id"])


def log_in(page: Page, server: Any, name: str) -> None:
    page.goto(f"{server.url}/sign-in")
    page.fill('input[type="text"]', name)
    page.fill('input[type="password"]', server.passwords[name])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{server.url}/")


def test_hostile_items_show_as_text_and_do_nothing(
    page: Page, review_server: Any, hostile_dataset: str
) -> None:
    log_in(page, review_server, "alice")
    seen = set()
    for number in range(1, len(HOSTILE) + 1):
        query = f"page={number}&status=pending"
        page.goto(f"{review_server.url}/dataset/{hostile_dataset}/annotation-mode?{query}")
        shown = page.locator(".text_field_component").first
        shown.wait_for()
        seen.add(shown.inner_text())
    assert page.evaluate("window.stolen") is None
    for name, content in HOSTILE.items():
        assert any(content in text for text in seen), name


def test_a_suggestion_is_changed_and_submitted(
    page: Page, review_server: Any, hostile_dataset: str
) -> None:
    log_in(page, review_server, "bob")
    page.goto(f"{review_server.url}/dataset/{hostile_dataset}/annotation-mode")
    page.get_by_text("llm:test").first.wait_for()
    page.get_by_text("yes", exact=True).click()
    with page.expect_response(lambda answer: answer.url.endswith("/responses")) as sent:
        page.get_by_role("button", name="Submit").click()
    assert sent.value.ok
    listed = review_server.owner("GET", f"datasets/{hostile_dataset}/records?include=responses")
    [response] = [r for record in listed["items"] for r in record["responses"]]
    assert response["status"] == "submitted"
    assert response["values"] == {"clear": {"value": "yes"}}
