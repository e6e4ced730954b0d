"""What the product is measured against, in plain code over the same rows: BM25 alone, and vectors alone."""

import base64
import json
import math
import urllib.request
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from chalicelib.domain.query import StoredMemory
from chalicelib.domain.text.terms import query_words
from chalicelib.domain.vector import Vector

K1, B = 0.9, 0.4
BATCH = 64
DIMENSIONS = 256


class Bm25:
    """Textbook BM25 over one user's rows, with their own mean length; the product's analysis of text."""

    def __init__(self, rows: Sequence[StoredMemory]) -> None:
        self._rows = rows
        self._mean = sum(row.length for row in self._rows) / len(self._rows)
        self._frequencies = Counter(term for row in self._rows for term in row.counts)

    def scores(self, query: str) -> NDArray[np.float64]:
        """One score a text."""
        terms = [term for word in query_words(query) for term in word if term in self._frequencies]
        total = len(self._rows)
        weights = {t: math.log(1 + (total - self._frequencies[t] + 0.5) / (self._frequencies[t] + 0.5)) for t in terms}
        found = np.zeros(total)
        for i, row in enumerate(self._rows):
            norm = K1 * (1 - B + B * row.length / self._mean)
            found[i] = sum(
                w * row.counts[t] * (K1 + 1) / (row.counts[t] + norm) for t, w in weights.items() if t in row.counts
            )
        return found


class Nearest:
    """The nearest rows of one user by cosine, each by its best piece: one vector query, no text, no fusion."""

    def __init__(self, rows: Sequence[StoredMemory]) -> None:
        pieces = [row.memory.embedding.vectors if row.memory.embedding else () for row in rows]
        self._starts = np.cumsum([0, *(len(some) for some in pieces[:-1])])
        self._vectors = np.frombuffer(b"".join(chain.from_iterable(pieces)), dtype="<f4").reshape(-1, DIMENSIONS)

    def scores(self, query: Vector) -> NDArray[np.float64]:
        """The cosine of each row."""
        found: NDArray[np.float64] = np.maximum.reduceat(
            (self._vectors @ np.frombuffer(query, dtype="<f4")).astype(np.float64), self._starts
        )
        return found


def embed(url: str, model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of `texts` by an OpenAI-compatible server, cut to the product's size."""
    vectors = [
        vector for start in range(0, len(texts), BATCH) for vector in _ask(url, model, texts[start : start + BATCH])
    ]
    found = np.array(vectors, dtype=np.float32)[:, :DIMENSIONS]
    unit: NDArray[np.float32] = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


def _ask(url: str, model: str, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    body = json.dumps({"model": model, "input": list(texts), "encoding_format": "base64"}).encode()
    request = urllib.request.Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=600) as reply:  # noqa: S310
        data = json.loads(reply.read())["data"]
    return [np.frombuffer(base64.b64decode(row["embedding"]), dtype=np.float32) for row in data]
