"""A memory as a document, and back. The one place that knows the field names of the collection.

Names are those of `product.md`. Beside them stand: `scopeKey` and `live`, which the indexes carry; `contentKey`, the hash
that makes the same content in one scope one row; `relations`, by which rows lead to one another; `terms` with
`termCounts` and `length` for the text tier; and `embedding_256` with `embeddingModel`, the vector that Atlas indexes, and
`embeddingChunks` where a text has several.
"""

from collections.abc import Callable
from typing import Any

from bson.binary import VECTOR_SUBTYPE, Binary

from chalicelib.domain.keys import key
from chalicelib.domain.memory import Embedding, Memory, content_key
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.relations import relations_of
from chalicelib.domain.vector import Vector, mean

FLOAT32_HEADER = b"\x27\x00"  # BinData vector subtype 9: element type float32, no padding
_FIELDS = frozenset(info.alias or name for name, info in Memory.model_fields.items())
_TIMES = (
    "event_time",
    "created_at",
    "updated_at",
    "admitted_at",
    "quarantined_at",
    "expires_at",
    "archived_at",
    "edited_at",
)


ReadOld = Callable[[dict[str, Any]], Embedding | None]


def row_id(org_id: str, id_: str) -> str:
    """The `_id` of a memory: it starts with the organization, so no id reaches into another's."""
    return key(org_id, "memory", id_)


def to_document(row: StoredMemory) -> dict[str, Any]:
    """The document of a row."""
    memory = row.memory
    document = memory.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name in _TIMES:
        if (value := getattr(memory, name)) is not None:
            document[_alias(name)] = value
    document |= {
        "_id": row_id(memory.org_id, memory.id),
        "scopeKey": memory.scope_ref.key,
        "live": memory.is_live,
        "contentKey": content_key(memory),
        "terms": list(row.counts),
        "termCounts": list(row.counts.values()),
        "length": row.length,
    }
    if memory.claims_found:
        document["claimsFound"] = True
    if memory.yields:
        document["yields"] = [mark.model_dump(mode="json", by_alias=True) for mark in memory.yields]
    if relations := relations_of(memory):
        document["relations"] = list(relations)
    if memory.untold:
        document["untold"] = memory.untold.model_dump(mode="json", by_alias=True, exclude_none=True)
    if memory.embedding and memory.embedding.vectors:
        document |= _embedding_fields(memory.embedding)
    return document


def _nothing(_: dict[str, Any]) -> None:
    return None


def from_document(document: dict[str, Any], read_old: ReadOld = _nothing) -> StoredMemory:
    """The row of a document. A projection may have left the vectors and the terms out; a field that a newer version of the
    product wrote is passed over, so that old and new processes can run side by side.

    `read_old` gives the vectors of a row that has none in today's field."""
    fields = {name: value for name, value in document.items() if name in _FIELDS}
    memory = Memory.model_validate(fields | {"embedding": _embedding(document) or read_old(document)})
    counts = dict(zip(document.get("terms", ()), document.get("termCounts", ()), strict=False))
    return StoredMemory(memory, counts, document.get("length", 0))


def embedding_change(embedding: Embedding) -> dict[str, Any]:
    """The update that puts vectors into a row and leaves the rest of it."""
    change: dict[str, Any] = {"$set": _embedding_fields(embedding)}
    if len(embedding.vectors) == 1:
        change["$unset"] = {"embeddingChunks": ""}
    return change


def _alias(name: str) -> str:
    return Memory.model_fields[name].alias or name


def _embedding_fields(embedding: Embedding) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "embedding_256": vector_binary(mean(embedding.vectors)),
        "embeddingModel": embedding.model,
        "embeddingDimensions": embedding.dimensions,
    }
    if len(embedding.vectors) > 1:
        fields["embeddingChunks"] = [vector_binary(vector) for vector in embedding.vectors]
    return fields


def _embedding(document: dict[str, Any]) -> Embedding | None:
    if "embedding_256" not in document:
        return None
    stored = document.get("embeddingChunks") or [document["embedding_256"]]
    vectors = tuple(vector_of(value) for value in stored)
    return Embedding(model=document["embeddingModel"], dimensions=document["embeddingDimensions"], vectors=vectors)


def vector_binary(vector: Vector) -> Binary:
    """A vector as MongoDB keeps it."""
    return Binary(FLOAT32_HEADER + vector, VECTOR_SUBTYPE)


def vector_of(value: bytes) -> Vector:
    """The vector that `vector_binary` made it of."""
    return bytes(value)[len(FLOAT32_HEADER) :]
