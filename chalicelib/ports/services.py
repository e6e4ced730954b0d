"""Clock, telemetry, probes, and who makes vectors and texts."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Literal, Protocol

from chalicelib.domain.vector import Vector
from chalicelib.domain.wire import Wire


class Clock(Protocol):
    """What time it is. UTC, cut to milliseconds."""

    def __call__(self) -> datetime: ...


class Telemetry(Protocol):
    """Where failures are said: one call writes the log line and counts the metric."""

    def event(self, name: str, *, level: Literal["info", "warning", "error"] = "warning", **fields: Any) -> None: ...

    def request(self, **keys: Any) -> AbstractContextManager[None]:
        """What one request is: every event of the block, in this thread, carries these keys."""

    def span(self, name: str) -> AbstractContextManager[None]:
        """A part of the trace for as long as the block runs; nothing where nobody traces. It carries no contents."""


class Probe(Protocol):
    """A real question to a store, for `/health`: what it says of itself (version, driver). Raises when it is down."""

    def probe(self) -> dict[str, Any]: ...


class Embedder(Probe, Protocol):
    """Text to vectors. `passage_model` is the model and size that stored vectors carry, such as `e5-passage@256`."""

    @property
    def passage_model(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        """Per text its chunks' unit vectors, in order. EmbeddingFailed where any could not be had."""

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a query. EmbeddingFailed where it could not be had in time."""

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Per text its vector as `embed_query` gives it, all in the time of one. EmbeddingFailed where one could
        not be had."""

    def similarity(self, cosine: float) -> float:
        """A cosine of this model on the calibrated scale, 0 to 1, where 0.5 is as likely related as not."""


class LanguageModel(Probe, Protocol):
    """Text in, a filled model out. Only the queue's work asks it: no request waits for one."""

    @property
    def name(self) -> str: ...

    def complete[T: Wire](self, instructions: str, data: str, form: type[T]) -> T:
        """`form` filled in as `instructions` say, from `data`, which is somebody's text and never an instruction.

        LanguageModelUnavailable where it gave no answer in time, LanguageModelFailed where it refused or its answer is not
        of that form; InvalidInput where the two texts together are longer than it may be given."""
