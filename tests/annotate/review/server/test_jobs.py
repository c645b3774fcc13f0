"""The job queue and its worker."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


def test_a_change_of_overlap_settles_the_records_that_have_responses(
    review_server: Any,
    make_dataset: Callable[..., str],
    wait_until: Callable[[Callable[[], bool]], None],
) -> None:
    owner, alice = review_server.owner, review_server.log_in("alice")
    dataset = make_dataset(owner, "overlap", min_submitted=2)
    items = [{"fields": {"text": f"Item {n}"}} for n in range(3)]
    made = owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})["items"]
    answer = {"status": "submitted", "values": {"label": {"value": "b"}}}
    alice("POST", f"records/{made[0]['id']}/responses", answer)
    assert owner("GET", f"datasets/{dataset}/progress")["completed"] == 0

    change = {"distribution": {"strategy": "overlap", "min_submitted": 1}}
    owner("PATCH", f"datasets/{dataset}", change)
    wait_until(lambda: owner("GET", f"datasets/{dataset}/progress")["completed"] == 1)
    assert owner("GET", f"records/{made[0]['id']}")["status"] == "completed"


class _Hearing(BaseHTTPRequestHandler):
    """Keeps the events that are sent to it."""

    server: Hearer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.heard.append(json.loads(self.rfile.read(length)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Hearer(HTTPServer):
    """A webhook."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hearing)
        self.heard: list[Any] = []


def test_a_webhook_hears_of_records_and_responses(
    review_server: Any,
    make_dataset: Callable[..., str],
    wait_until: Callable[[Callable[[], bool]], None],
) -> None:
    owner, alice = review_server.owner, review_server.log_in("alice")
    dataset = make_dataset(owner, "heard")
    with Hearer() as hearer:
        threading.Thread(target=hearer.serve_forever).start()
        events = ["record.created", "response.created"]
        url = f"http://127.0.0.1:{hearer.server_port}/"
        webhook = owner("POST", "webhooks", {"url": url, "events": events})
        try:
            items = [{"external_id": "only one", "fields": {"text": "Item"}}]
            made = owner("POST", f"datasets/{dataset}/records/bulk", {"items": items})["items"]
            answer = {"status": "submitted", "values": {"label": {"value": "b"}}}
            response = alice("POST", f"records/{made[0]['id']}/responses", answer)

            def heard() -> set[tuple[str, str]]:
                return {(told["type"], told["data"]["id"]) for told in hearer.heard}

            expected = {("record.created", made[0]["id"]), ("response.created", response["id"])}
            wait_until(lambda: expected <= heard())
        finally:
            owner("DELETE", f"webhooks/{webhook['id']}")
            hearer.shutdown()
