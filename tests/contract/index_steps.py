"""The steps that tests of an index are made of: put rows in, take them out, ask by either signal."""

from typing import Any

from chalicelib.domain.memory import Embedding
from chalicelib.domain.query import Candidate, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import Vector, dimensions, unit
from chalicelib.ports import HotIndex, IndexRemoval
from tests.building import EMBEDDER, entry, index_query

OTHER_MODEL = "other@8"


def found(index: HotIndex, reader: Chain, text: str, **fields: Any) -> dict[str, Candidate]:
    """The candidates for `text` by id."""
    return {candidate.id: candidate for candidate in index.search(reader, index_query(text, **fields)).candidates}


def by_text(index: HotIndex, reader: Chain, text: str, **fields: Any) -> dict[str, Candidate]:
    """The candidates by terms alone."""
    return found(index, reader, text, vector=None, **fields)


def by_vector(index: HotIndex, reader: Chain, text: str, **fields: Any) -> dict[str, Candidate]:
    """The candidates by vector alone."""
    return found(index, reader, text, terms=(), **fields)


def put(index: HotIndex, *rows: StoredMemory) -> None:
    """Tell the index of rows."""
    index.apply([entry(stored) for stored in rows])


def gone(stored: StoredMemory, revision: int) -> IndexRemoval:
    """The row's leaving."""
    return IndexRemoval(stored.memory.scope_ref.key, stored.memory.id, revision)


def scope_of(stored: StoredMemory) -> str:
    """Its scope's key."""
    return stored.memory.scope_ref.key


def with_vectors(stored: StoredMemory, *vectors: Vector, model: str = EMBEDDER.passage_model) -> StoredMemory:
    """The row with those vectors in place of its own."""
    embedding = Embedding(model=model, dimensions=dimensions(vectors[0]), vectors=vectors) if vectors else None
    return StoredMemory(stored.memory.model_copy(update={"embedding": embedding}), stored.counts, stored.length)


def axis(number: int, size: int = 8) -> Vector:
    """A unit vector along one axis."""
    return unit([float(i == number) for i in range(size)])
