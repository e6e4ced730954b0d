"""Where a server keeps vectors: the contract of a vector driver, the two simple ones, and which one a server gets.

Rows, postings, tombstones, generations and markers are the same whichever it is.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from chalicelib.adapters.redis import placing
from chalicelib.adapters.redis.filters import attribute_tag
from chalicelib.adapters.redis.searching import Searching, Steps
from chalicelib.domain.query import Candidate, IndexQuery
from chalicelib.domain.vector import Vector, unpack
from chalicelib.ports import IndexEntry

_LARGEST_INT8 = 127


@dataclass(frozen=True)
class StoredVectors:
    """How a row's vectors go into the script that stores them: what its registry entry says of them besides their number,
    the filter attributes of each chunk as JSON, and the chunks; the same of its prospective questions."""

    vectors: tuple[Vector, ...] = ()
    attributes: str = ""
    questions: tuple[Vector, ...] = ()
    question_attributes: str = ""
    entry: dict[str, Any] = field(default_factory=dict)


class VectorDriver(Protocol):
    """One way to store and search vectors. `name` is what `probe` says."""

    name: str

    def prepare(self, sizes: Iterable[int]) -> None:
        """Make room for vectors of these dimensions before any is stored."""

    def stored(self, change: IndexEntry) -> StoredVectors:
        """What of a row's vectors the server is to hold."""

    def steps(self, scopes: Sequence[str], query: IndexQuery) -> Steps:
        """The search for the candidates of each scope, as `ports.HotIndex.search` says."""


class TextAlone:
    """A server without vectors, a plain Valkey: text is all it holds and searches."""

    name = "none"

    def prepare(self, sizes: Iterable[int]) -> None:
        """Nothing to do."""

    def stored(self, change: IndexEntry) -> StoredVectors:  # noqa: ARG002 - whatever the row has
        return StoredVectors()

    def steps(self, scopes: Sequence[str], query: IndexQuery) -> Steps:
        return at_once(scopes, query, self.name)


class VectorSets:
    """Redis 8: one vector set a scope and model, searched within the script that searches its text."""

    name = "vector_sets"

    def prepare(self, sizes: Iterable[int]) -> None:
        """Nothing to do: the first element makes a set."""

    def stored(self, change: IndexEntry) -> StoredVectors:
        tags = [attribute_tag(tag) for tag in change.tags]
        attributes = {"k": change.type.value, "g": tags, "e": change.event_ms}
        described = json.dumps(attributes, ensure_ascii=False)
        return StoredVectors(change.vectors, described, change.questions or (), described)

    def steps(self, scopes: Sequence[str], query: IndexQuery) -> Steps:
        return at_once(scopes, query, self.name, query.vector)


def at_once(scopes: Sequence[str], query: IndexQuery, driver: str, vector: Vector | None = None) -> Steps:
    """A search in one round trip: by text, and in vector sets where a vector is given."""
    searching = Searching(scopes, query, driver)
    replies = yield searching.calls(vector, query.model if vector else "")
    found = (c for scope, reply in zip(scopes, replies[1:], strict=True) for c in _candidates(scope, reply[1:], vector))
    return searching.answer(replies, found, vectors_searched=vector is not None)


def _candidates(scope: str, rows: Sequence[Any], vector: Vector | None) -> list[Candidate]:
    values = unpack(vector).tolist() if vector else []
    found = []
    for id_, score, vsim, chunks, question, text, position in rows:
        cosine = _cosine(vsim)
        if cosine is None and chunks and vector:
            cosine = max(_quantised_cosine(values, chunk) for chunk in chunks)
        candidate = Candidate(id_.decode(), scope, cosine, float(score), question=_cosine(question))
        candidate.situation = placing.situation(text, position)
        found.append(candidate)
    return found


def _cosine(vsim: bytes) -> float | None:
    return 2 * float(vsim) - 1 if vsim else None  # VSIM scores (1 + cosine) / 2


def _quantised_cosine(query: list[float], raw: Sequence[Any]) -> float:
    """The cosine of a unit vector with a stored chunk as VEMB RAW gives it: kind, int8 values, the length that it was scaled
    down from, and the value that 127 stands for."""
    return math.sumprod(query, memoryview(raw[1]).cast("b").tolist()) * float(raw[3]) / _LARGEST_INT8
