"""A Hugging Face Hub on loopback that holds what a test puts into it, for reading only."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

TOKEN = "hf_reader"


@dataclass
class Repository:
    files: dict[str, bytes]
    private: bool = False
    gated: bool = False

    @property
    def commit(self) -> str:
        return hashlib.sha1(repr(sorted(self.files.items())).encode()).hexdigest()


@dataclass
class FakeHub:
    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)

    def put(self, name: str, files: dict[str, bytes], **options: bool) -> str:
        """Make or replace a repository; its commit is returned."""
        self.repositories[name] = Repository(files, **options)
        return self.repositories[name].commit


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one class
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def answer(self, code: int, body: bytes, **headers: str) -> None:
            self.send_response(code)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def refuse(self, code: int, reason: str) -> None:
            self.answer(code, b"{}", X_Error_Code=reason, X_Error_Message=reason)

        def send(self, value: object) -> None:
            self.answer(200, json.dumps(value).encode(), Content_Type="application/json")

        def route(self) -> None:
            path = unquote(urlsplit(self.path).path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            api = re.match(r"/api/datasets/([^/]+/[^/]+)(?:/(.*))?$", path)
            resolve = re.match(r"/datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)$", path)
            match = api or resolve
            repository = hub.repositories.get(match[1]) if match else None
            known = self.headers.get("Authorization") == f"Bearer {TOKEN}"
            if repository is None or match is None or (repository.private and not known):
                self.refuse(401, "RepoNotFound")
            elif repository.gated and not known and (resolve or (api and api[2] == "auth-check")):
                self.refuse(401, "GatedRepo")
            elif api:
                self.describe(api[1], api[2] or "", repository, body)
            else:
                self.download(match[3], repository)

        def describe(self, name: str, rest: str, repository: Repository, body: bytes) -> None:
            if rest.startswith("revision/") and rest[9:] not in {"main", repository.commit}:
                self.refuse(404, "RevisionNotFound")
            elif rest.startswith("tree/"):
                folder = rest.split("/", 2)[2] if rest.count("/") > 1 else ""
                self.send(list(_entries(repository, folder)))
            elif rest.startswith("paths-info/"):
                is_json = "json" in self.headers.get("Content-Type", "")
                wanted = json.loads(body) if is_json else parse_qs(body.decode())
                self.send([e for e in _entries(repository, None) if e["path"] in wanted["paths"]])
            else:
                told = {"private": repository.private, "gated": repository.gated and "auto"}
                self.send({"id": name, "sha": repository.commit, "siblings": [], **told})

        def download(self, path: str, repository: Repository) -> None:
            content = repository.files.get(path)
            if content is None:
                self.refuse(404, "EntryNotFound")
                return
            wanted = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range") or "")
            tag = hashlib.sha1(content).hexdigest()
            headers = {"ETag": f'"{tag}"', "X_Repo_Commit": repository.commit}
            if wanted is None:
                self.answer(200, content, **headers)
                return
            first, last = int(wanted[1]), int(wanted[2] or len(content) - 1)
            headers["Content_Range"] = f"bytes {first}-{last}/{len(content)}"
            self.answer(206, content[first : last + 1], **headers)

        do_GET = do_HEAD = do_POST = route  # noqa: N815

    return Handler


def _entries(repository: Repository, folder: str | None) -> Iterator[dict[str, Any]]:
    """Yield the entries of a folder, or every file."""
    folders = set()
    for path, content in sorted(repository.files.items()):
        inside = path.removeprefix(f"{folder}/") if folder else path
        if folder and inside == path:
            continue
        if folder is not None and "/" in inside:
            folders.add(path[: len(path) - len(inside)] + inside.split("/")[0])
            continue
        tag = hashlib.sha1(content).hexdigest()
        yield {"type": "file", "oid": tag, "size": len(content), "path": path}
    for name in sorted(folders):
        yield {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    """A Hub that runs while the test does."""
    fake = FakeHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
