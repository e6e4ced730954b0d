"""A small server that speaks OpenAI's `POST /v1/chat/completions`: it answers with what it is told, or as servers on a bad
day do."""

import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.embedding_server import Reply

_POLL_SECONDS = 0.02


@dataclass
class CompletionServer:
    """What the server is told, and the requests that it got. `replies` are given first, then `always` where it is set."""

    url: str = ""
    content: str | None = "{}"
    refusal: str | None = None
    finish_reason: str = "stop"
    replies: deque[Reply] = field(default_factory=deque)
    always: Reply | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def answer(self) -> dict[str, Any]:
        """The usual answer."""
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason, "logprobs": None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "small"}
        return head | {"choices": [choice], "usage": usage}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, told: CompletionServer, *arguments: Any) -> None:
        self._told = told
        super().__init__(*arguments)

    def do_POST(self) -> None:
        self._told.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self._told.keys.append(self.headers["Authorization"])
        usual = Reply(body=json.dumps(self._told.answer()).encode())
        self._send(self._other() or (usual if self.path == "/v1/chat/completions" else Reply(404)))

    def do_GET(self) -> None:
        models = {"object": "list", "data": [{"id": "small", "object": "model", "created": 1, "owned_by": "us"}]}
        usual = Reply(body=json.dumps(models).encode())
        self._send(self._other() or (usual if self.path == "/v1/models" else Reply(404)))

    def _other(self) -> Reply | None:
        return self._told.replies.popleft() if self._told.replies else self._told.always

    def _send(self, reply: Reply) -> None:
        threading.Event().wait(reply.seconds)
        if reply.closes:
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
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
def completion_server() -> Iterator[CompletionServer]:
    """A server for as long as the block runs."""
    told = CompletionServer()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, told)) as server:
        server.daemon_threads = True
        told.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_SECONDS,))
        thread.start()
        yield told
        server.shutdown()
        thread.join()
