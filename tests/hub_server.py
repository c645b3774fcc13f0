"""A Hugging Face Hub on loopback: datasets with commits, accounts, pull requests, and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

WRITER, READER = "hf_writer", "hf_reader"
_APART = (".parquet", ".csv")
"""Endings of files that the Hub stores apart from Git."""


def account(role: str, **scopes: Any) -> dict[str, Any]:
    """What the Hub tells a token of itself."""
    token = {"role": role, "displayName": "t", **({"fineGrained": scopes} if scopes else {})}
    orgs = [{"name": "acme", "roleInOrg": "write"}, {"name": "readers", "roleInOrg": "read"}]
    return {"type": "user", "name": "alice", "orgs": orgs,
            "auth": {"type": "access_token", "accessToken": token}}  # fmt: skip


@dataclass
class Dataset:
    """A dataset repository."""

    private: bool = False
    gated: bool = False
    """Its files are refused: no account was granted access."""
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)
    """Each with its id and its files, the newest last."""
    messages: list[str] = field(default_factory=list)
    pull_requests: list[dict[str, bytes]] = field(default_factory=list)

    @property
    def head(self) -> str:
        return self.commits[-1][0]

    @property
    def files(self) -> dict[str, bytes]:
        return self.commits[-1][1]

    def commit(self, files: Mapping[str, bytes], message: str = "") -> str:
        name = hashlib.sha1(f"{len(self.commits)} {sorted(files.items())}".encode()).hexdigest()
        self.commits.append((name, dict(files)))
        self.messages.append(message)
        return name

    def at(self, revision: str) -> dict[str, bytes] | None:
        if revision == "main":
            return self.files
        if revision.startswith("refs/pr/"):
            return self.pull_requests[int(revision.rpartition("/")[2]) - 1]
        return next((files for name, files in self.commits if name == revision), None)


@dataclass
class Fault:
    """What happens, in place of an answer, to the next requests for a path."""

    path: str
    """A regular expression."""
    status: int | None = None
    """With which the request is refused; with none the connection is cut."""
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    served: bool = False
    """Whether the request is carried out before the connection is cut."""


class LocalHub:
    """The state that tests look at and change."""

    def __init__(self) -> None:
        self.url = ""
        self.datasets: dict[str, Dataset] = {}
        self.stored: dict[str, bytes] = {}
        self.accounts = {WRITER: account("write"), READER: account("read")}
        self.makes_all_public = False
        self.faults: list[Fault] = []
        self.before: list[tuple[str, Callable[[], object]]] = []
        """What to do once, before a request for a path is answered."""
        self.requests: list[tuple[str, str]] = []

    def put(self, name: str, files: Mapping[str, bytes], **options: Any) -> str:
        """Make a dataset, or add a commit to it."""
        dataset = self.datasets.setdefault(name, Dataset(**options))
        return dataset.commit({**(dataset.files if dataset.commits else {}), **files})

    def fault(self, path: str, status: int | None = None, **more: Any) -> None:
        """Add a fault."""
        self.faults.append(Fault(path, status, **more))

    def take_fault(self, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.times > 0 and re.search(fault.path, path):
                fault.times -= 1
                return fault
        return None

    def run_before(self, path: str) -> None:
        for entry in [one for one in self.before if re.search(one[0], path)]:
            self.before.remove(entry)
            entry[1]()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: LocalHub

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, code: int, content: bytes = b"", **headers: str) -> None:
        if self.cut_off:
            self.cut()
            return
        self.send_response(code)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def send(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode(), Content_Type="application/json")

    def refuse(self, code: int, message: str, reason: str = "", **headers: str) -> None:
        named = {"X_Error_Code": reason} if reason else {}
        content = json.dumps({"error": message}).encode()
        self.answer(code, content, X_Error_Message=message, **named, **headers)

    def cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().strip() or b"0", 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def route(self) -> None:
        split = urlsplit(self.path)
        path, content = unquote(split.path), self.body()
        self.hub.run_before(path)
        self.hub.requests.append((self.command, path))
        fault = self.hub.take_fault(path)
        self.cut_off = fault is not None and fault.status is None and fault.served
        if fault is not None and fault.status is not None:
            self.refuse(fault.status, f"injected {fault.status}", **fault.headers)
        elif fault is not None and not fault.served:
            self.cut()
        else:
            self.serve(path, parse_qs(split.query), content)

    do_GET = do_HEAD = do_POST = do_PUT = route  # noqa: N815

    @property
    def account(self) -> dict[str, Any] | None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return self.hub.accounts.get(token)

    @property
    def writes(self) -> bool:
        """Whether the token may write anywhere."""
        account = self.account
        role = account["auth"]["accessToken"]["role"] if account is not None else ""
        return role in {"write", "fineGrained"}

    def serve(self, path: str, query: Mapping[str, list[str]], content: bytes) -> None:
        if self.headers.get("Authorization") and self.account is None:
            self.refuse(401, "Invalid username or password.")
        elif path == "/api/whoami-v2":
            self.send(self.account)
        elif path == "/api/validate-yaml":
            self.validate(json.loads(content)["content"])
        elif path == "/api/repos/create":
            self.create(json.loads(content))
        elif found := re.match(r"/lfs/([0-9a-f]{64})$", path):
            assert hashlib.sha256(content).hexdigest() == found[1]
            self.hub.stored[found[1]] = content
            self.answer(200)
        else:
            self.serve_dataset(path, query, content)

    def validate(self, card: str) -> None:
        errors = [{"message": '"license" must be known'}] if "license: nonsense" in card else []
        answer = json.dumps({"errors": errors, "warnings": []}).encode()
        self.answer(400 if errors else 200, answer, Content_Type="application/json")

    def create(self, told: Mapping[str, Any]) -> None:
        name = f"{told.get('organization') or 'alice'}/{told['name']}"
        if not self.writes:
            self.refuse(403, "You don't have the rights to create a dataset here")
        elif name in self.hub.datasets:
            self.refuse(409, "You already created this dataset repo")
        else:
            asked = bool(told.get("private")) or told.get("visibility") == "private"
            private = asked and not self.hub.makes_all_public
            self.hub.put(name, {".gitattributes": b"*.parquet filter=lfs\n"}, private=private)
            self.send({"url": f"{self.hub.url}/datasets/{name}", "id": name, "name": name})

    def serve_dataset(self, path: str, query: Mapping[str, list[str]], content: bytes) -> None:
        found = re.match(r"/(?:api/)?datasets/([^/]+/[^/]+?)(?:\.git)?(?:/(.*))?$", path)
        dataset = self.hub.datasets.get(found[1]) if found else None
        if found is None or dataset is None or (dataset.private and self.account is None):
            code = 404 if self.account is not None else 401
            self.refuse(code, "Repository not found", "RepoNotFound")
            return
        action, _, rest = (found[2] or "").partition("/")
        if action == "resolve" and dataset.gated:
            self.refuse(403, "Access to this dataset is restricted", "GatedRepo")
        elif action == "resolve":
            revision, _, file = self.revision_and_rest(rest)
            self.download(dataset, revision, file)
        elif action == "preupload":
            self.modes(json.loads(content)["files"], pull_request="create_pr" in query)
        elif action == "info":
            self.send({"transfer": "basic", "objects": [*self.uploads(json.loads(content))]})
        elif action == "commit":
            self.commit(found[1], dataset, content, pull_request="create_pr" in query)
        else:
            self.describe(found[1], dataset, action, rest, query, content)

    @staticmethod
    def revision_and_rest(rest: str) -> tuple[str, str, str]:
        number = re.match(r"(refs/pr/\d+)(/?)(.*)$", rest)
        return (number[1], number[2], number[3]) if number else rest.partition("/")

    def describe(
        self,
        name: str,
        dataset: Dataset,
        action: str,
        rest: str,
        query: Mapping[str, list[str]],
        content: bytes,
    ) -> None:
        revision, _, folder = self.revision_and_rest(rest)
        files = dataset.at(revision or "main")
        if files is None:
            self.refuse(404, "Invalid rev id", "RevisionNotFound")
        elif action == "tree":
            self.send([*_tree(files, folder, recursive=query.get("recursive") == ["true"])])
        elif action == "paths-info":
            is_json = "json" in self.headers.get("Content-Type", "")
            wanted = json.loads(content) if is_json else parse_qs(content.decode())
            self.send([e for e in _tree(files, "", recursive=True) if e["path"] in wanted["paths"]])
        else:
            sha = revision if re.fullmatch(r"[0-9a-f]{40}", revision) else dataset.head
            siblings = [_sibling(path, data) for path, data in sorted(files.items())]
            told = {"private": dataset.private, "gated": "auto" if dataset.gated else False}
            self.send({"_id": "x", "id": name, "sha": sha, "siblings": siblings, **told})

    def download(self, dataset: Dataset, revision: str, path: str) -> None:
        files = dataset.at(revision)
        if files is None or path not in files:
            reason = "RevisionNotFound" if files is None else "EntryNotFound"
            self.refuse(404, "Entry not found", reason)
            return
        content = files[path]
        tag = hashlib.sha256 if path.endswith(_APART) else hashlib.sha1
        headers = {"ETag": f'"{tag(content).hexdigest()}"', "X_Repo_Commit": dataset.head}
        wanted = re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range") or "")
        if wanted is None:
            self.answer(200, content, **headers)
            return
        first, last = int(wanted[1]), int(wanted[2] or len(content) - 1)
        headers["Content_Range"] = f"bytes {first}-{last}/{len(content)}"
        self.answer(206, content[first : last + 1], **headers)

    def modes(self, files: list[dict[str, Any]], *, pull_request: bool) -> None:
        if self.account is None or not (self.writes or pull_request):
            self.refuse(403, "Forbidden: you must use a write token")
            return
        modes = [
            {"path": file["path"], "shouldIgnore": False,
             "uploadMode": "lfs" if file["path"].endswith(_APART) else "regular"}
            for file in files
        ]  # fmt: skip
        self.send({"files": modes})

    def uploads(self, wanted: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for one in wanted["objects"]:
            there = one["oid"] in self.hub.stored
            upload = {"upload": {"href": f"{self.hub.url}/lfs/{one['oid']}", "header": {}}}
            yield {**one, **({} if there else {"actions": upload})}

    def commit(self, name: str, dataset: Dataset, content: bytes, *, pull_request: bool) -> None:
        lines = [json.loads(line) for line in content.splitlines() if line.strip()]
        header = next(line["value"] for line in lines if line["key"] == "header")
        if not self.writes:
            self.refuse(403, "Forbidden")
            return
        if not pull_request and header.get("parentCommit", dataset.head) != dataset.head:
            self.refuse(412, "A commit has happened since. Please refresh and try again.")
            return
        files = dict(dataset.files)
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.stored[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        page = f"{self.hub.url}/datasets/{name}"
        if pull_request:
            dataset.pull_requests.append(files)
            url = f"{page}/discussions/{len(dataset.pull_requests)}"
            done = {"commitOid": "a" * 40, "pullRequestUrl": url}
        else:
            done = {"commitOid": dataset.commit(files, header["summary"])}
        self.send({"success": True, "commitUrl": f"{page}/commit/{done['commitOid']}", **done})


def _git(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _sibling(path: str, content: bytes) -> dict[str, Any]:
    told = {"rfilename": path, "size": len(content), "blobId": _git(content)}
    if not path.endswith(_APART):
        return told
    lfs = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
    return {**told, "blobId": "0" * 40, "lfs": lfs}


def _tree(files: Mapping[str, bytes], folder: str, *, recursive: bool) -> Iterator[dict[str, Any]]:
    folders = set()
    for path, content in sorted(files.items()):
        inside = path.removeprefix(f"{folder}/") if folder else path
        if folder and inside == path:
            continue
        if "/" in inside:
            parents = inside.split("/")[:-1] if recursive else inside.split("/")[:1]
            start = path[: len(path) - len(inside)]
            folders |= {start + "/".join(parents[: n + 1]) for n in range(len(parents))}
            if not recursive:
                continue
        yield {"type": "file", "oid": _git(content), "size": len(content), "path": path}
    for name in sorted(folders):
        yield {"type": "directory", "oid": "0" * 40, "size": 0, "path": name}


@contextmanager
def running() -> Iterator[LocalHub]:
    """A Hub that runs until the block ends."""
    hub = LocalHub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
