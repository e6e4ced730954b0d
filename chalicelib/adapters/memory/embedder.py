"""A deterministic embedder for tests: texts that share terms are near, and nothing leaves the process."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import Vector, unit
from chalicelib.errors import EmbeddingFailed

_BYTE_MIDDLE = 127.5


class TermEmbedder:
    """`ports.Embedder`: the sum of one pseudo-random direction a term. `fail` makes every call fail."""

    def __init__(self, model: str = "terms", size: int = 256) -> None:
        self._model = model
        self._size = size
        self.fail = False
        self.calls = 0

    @property
    def passage_model(self) -> str:
        return f"{self._model}@{self._size}"

    def probe(self) -> dict[str, Any]:
        self.embed_query("probe")
        return {"model": self.passage_model}

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        return [(self.embed_query(text),) for text in texts]

    def embed_query(self, text: str) -> Vector:
        self.calls += 1
        if self.fail:
            raise EmbeddingFailed("the embedder was told to fail")
        terms = index_terms(text).counts or {text: 1}
        directions = [self._direction(term) for term in terms]
        return unit([sum(column) for column in zip(*directions, strict=True)])

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return [self.embed_query(text) for text in texts]

    def similarity(self, cosine: float) -> float:
        return 1 / (1 + math.exp(-(cosine - 0.3) / 0.08))

    def _direction(self, term: str) -> list[float]:
        blocks = (
            hashlib.sha256(f"{self._model}:{term}:{i}".encode()).digest() for i in range(math.ceil(self._size / 32))
        )
        return [byte - _BYTE_MIDDLE for byte in b"".join(blocks)[: self._size]]
