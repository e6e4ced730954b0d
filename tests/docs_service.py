"""A small docs service on loopback that speaks the protocol of docs/export.md: it keeps files by project and path, and fails
when it is told to."""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.embedding_server import Reply

_POLL_SECONDS = 0.02
TOKEN = "docs-token"


@dataclass
class DocsServiceStub:
    """What it holds, and what it was asked. `replies` are given first; every `fails_each`th request fails, every other of
    those after it was obeyed; `refuses` says of a path why it is not taken, `most_bytes` is what a body may have."""

    url: str = ""
    token: str = TOKEN
    projects: dict[str, dict[str, str]] = field(default_factory=dict)
    replies: deque[tuple[Reply, dict[str, str]]] = field(default_factory=deque)
    fails_each: int = 0
    refuses: Callable[[str], str | None] = lambda _: None
    most_bytes: int = 1 << 30
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def bulks(self) -> list[dict[str, Any]]:
        """The bodies of its bulk requests."""
        return [body for _, path, body in self.requests if path == "/sync/bulk"]

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> tuple[int, Any]:
        """What the protocol says."""
        if (method, path) == ("GET", "/projects"):
            return 200, {"projects": [{"name": name} for name in self.projects if name in query["name"]]}
        if (method, path) == ("POST", "/projects"):
            status = 409 if body["name"] in self.projects else 201
            self.projects.setdefault(body["name"], {})
            return status, {"name": body["name"]}
        if (method, path) == ("POST", "/sync/bulk"):
            return self._sync(body)
        return 404, {}

    def _sync(self, body: Any) -> tuple[int, Any]:
        if body["project"] not in self.projects:
            return 404, {}
        here, refused = self.projects[body["project"]], []
        for file in body["files"]:
            assert hashlib.sha256(file["content"].encode()).hexdigest() == file["sha256"]
            if reason := self.refuses(file["path"]):
                refused.append({"path": file["path"], "reason": reason})
            else:
                here[file["path"]] = file["content"]
        for path in body.get("deletions", ()):
            here.pop(path, None)
        return 200, {"refused": refused}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, told: DocsServiceStub, *arguments: Any) -> None:
        self._told = told
        super().__init__(*arguments)

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def _handle(self, method: str) -> None:
        told, address = self._told, urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(sent) if sent else None
        with told.lock:
            told.requests.append((method, address.path, body))
            told.keys.append(self.headers.get("Idempotency-Key", ""))
            number = len(told.requests)
            if told.replies:
                reply, headers = told.replies.popleft()
                return self._send(reply.status, reply.body, headers)
            if self.headers.get("Authorization") != f"Bearer {told.token}":
                return self._send(401, b"{}")
            if len(sent) > told.most_bytes:
                return self._send(413, b"")
            fails = told.fails_each and number % told.fails_each == 0
            if fails and number % 2:
                return self._send(503, b"", {"Retry-After": "1"})
            status, answer = told.answer(method, address.path, parse_qs(address.query), body)
        if fails:
            self.close_connection = True
            return None
        return self._send(status, json.dumps(answer).encode())

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def docs_service() -> Iterator[DocsServiceStub]:
    """A service for as long as the block runs."""
    told = DocsServiceStub()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, told)) as server:
        server.daemon_threads = True
        told.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,))
        thread.start()
        yield told
        server.shutdown()
        thread.join()
