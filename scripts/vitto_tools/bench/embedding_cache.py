"""An OpenAI-compatible embeddings server that remembers: vectors by model and text in SQLite, misses asked upstream.

Benches put it between the product and the local model, so the product runs its one code path and a second run of a bench
embeds nothing. Run as a program: `python -m vitto_tools.bench.embedding_cache PORT UPSTREAM_URL FILE`.
"""

import base64
import hashlib
import json
import sqlite3
import sys
import threading
import urllib.request
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import batched
from pathlib import Path
from typing import Any

UPSTREAM_BATCH = 32
UPSTREAM_TIMEOUT_SECONDS = 300
LOCKED_SECONDS = 60  # several benches may write one file
ASKED_AT_ONCE = 500  # SQLite takes a thousand marks in any version


class EmbeddingCache:
    """Vectors as float32 bytes in one SQLite file, safe under threads."""

    def __init__(self, file: Path, upstream: str = "") -> None:
        """Over `file`; without `upstream` it can only say what it lacks."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self._upstream = upstream.rstrip("/")
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(file, timeout=LOCKED_SECONDS, check_same_thread=False)
        self._rows.execute("create table if not exists vectors (id text primary key, vector blob not null)")

    def embed(self, model: str, texts: list[str]) -> list[bytes]:
        """One vector a text, in order."""
        ids = [identity(model, text) for text in texts]
        known = self._read(ids)
        missing = list({id_: i for i, id_ in enumerate(ids) if id_ not in known}.values())
        for start in range(0, len(missing), UPSTREAM_BATCH):
            part = missing[start : start + UPSTREAM_BATCH]
            fresh = self._ask(model, [texts[i] for i in part])
            rows = [(ids[i], vector) for i, vector in zip(part, fresh, strict=True)]
            known.update(rows)
            with self._lock, self._rows:
                self._rows.executemany("insert or replace into vectors values (?, ?)", rows)
        return [known[id_] for id_ in ids]

    def lacking(self, asked: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those of `asked`, model and text, that it has no vector of, each once, in order."""
        by_id = {identity(model, text): (model, text) for model, text in asked}
        for ids in batched(by_id.copy(), ASKED_AT_ONCE, strict=False):
            for known in self._read(ids):
                del by_id[known]
        return list(by_id.values())

    def _read(self, ids: Sequence[str]) -> dict[str, bytes]:
        marks = ",".join("?" * len(ids))
        with self._lock:
            return dict(self._rows.execute(f"select id, vector from vectors where id in ({marks})", ids))  # noqa: S608 - only question marks

    def _ask(self, model: str, texts: list[str]) -> list[bytes]:
        body = json.dumps({"model": model, "input": texts, "encoding_format": "base64"}).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._upstream}/embeddings", body, headers)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=UPSTREAM_TIMEOUT_SECONDS) as reply:  # noqa: S310
            data = json.loads(reply.read())["data"]
        return [base64.b64decode(item["embedding"]) for item in sorted(data, key=lambda item: item["index"])]


def identity(model: str, text: str) -> str:
    """The key of a vector in the file."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()


def handler(cache: EmbeddingCache) -> type[BaseHTTPRequestHandler]:
    """A request handler class over `cache`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            vectors = cache.embed(asked["model"], texts)
            rows = [
                {"object": "embedding", "index": i, "embedding": base64.b64encode(vector).decode()}
                for i, vector in enumerate(vectors)
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            self._answer({"object": "list", "data": rows, "model": asked["model"], "usage": usage})

        def do_GET(self) -> None:
            self._answer({"object": "list", "data": []})

        def _answer(self, value: dict[str, Any]) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            """Quiet: the bench shows its own progress."""

    return Handler


def main() -> None:
    """Serve on loopback until killed."""
    port, upstream, file = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    ThreadingHTTPServer(("127.0.0.1", port), handler(EmbeddingCache(file, upstream))).serve_forever()


if __name__ == "__main__":
    main()
