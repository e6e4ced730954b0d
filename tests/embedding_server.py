"""A small server that speaks OpenAI's `POST /v1/embeddings`, with vectors that depend on the text alone.

It can be told to answer as other servers do: with vectors of its own size, as floats, in another order, late, with
errors, or with something that is no answer.
"""

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.vector import pack, unpack

LENGTH = 3.0  # of the vectors it gives: a server need not give unit vectors
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Reply:
    """An answer other than the usual one; `closes` ends the connection without any."""

    status: int = 200
    body: bytes = b'{"error": {"message": "told to fail"}}'
    content_type: str = "application/json"
    seconds: float = 0.0
    closes: bool = False


@dataclass
class EmbeddingServer:
    """What the server is told, and the requests that it got. `replies` are given first, then `always` where it is set."""

    url: str = ""
    replies: deque[Reply] = field(default_factory=deque)
    always: Reply | None = None
    size: int | None = None
    floats: bool = False
    backwards: bool = False
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    @property
    def inputs(self) -> list[list[str]]:
        """The texts of each request."""
        return [request["input"] for request in self.requests]

    def vector(self, text: str, size: int) -> list[float]:
        """What it gives for a text."""
        return [value * LENGTH for value in unpack(TermEmbedder(size=size).embed_query(text))]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The usual answer."""
        size = self.size or request["dimensions"]
        vectors = [self.vector(text, size) for text in request["input"]]
        data = [{"object": "embedding", "index": i, "embedding": self._form(v)} for i, v in enumerate(vectors)]
        usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
        return {
            "object": "list",
            "data": data[::-1] if self.backwards else data,
            "model": request["model"],
            "usage": usage,
        }

    def _form(self, values: list[float]) -> list[float] | str:
        return values if self.floats else base64.b64encode(pack(values)).decode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, told: EmbeddingServer, *arguments: Any) -> None:
        self._told = told
        super().__init__(*arguments)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._told.requests.append(request)
        self._told.keys.append(self.headers["Authorization"])
        reply = self._told.replies.popleft() if self._told.replies else self._told.always
        if self.path != "/v1/embeddings":
            reply = Reply(404)
        self._send(reply or Reply(body=json.dumps(self._told.answer(request)).encode()))

    def _send(self, reply: Reply) -> None:
        time.sleep(reply.seconds)
        if reply.closes:
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Retry-After-Ms", "1")
        self.end_headers()
        self.wfile.write(reply.body)

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the client gave up waiting
            self.close_connection = True

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server for as long as the block runs."""
    told = EmbeddingServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, told)) as server:
        server.daemon_threads = True
        told.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,))
        thread.start()
        yield told
        server.shutdown()
        thread.join()
