"""Vectors of before: the field `embedding`, of 1536 dimensions, in rows that have no `embedding_256` yet.

It may be an array of numbers or a BinData vector. Its model is `embeddingModel`, without a size; a row that names none
counts as of the model in use, but only while the dual index is on: then the operator says that it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bson.binary import Binary, BinaryVectorDtype

from chalicelib.domain.matryoshka import cut_to, named
from chalicelib.domain.memory import Embedding
from chalicelib.domain.vector import Vector, pack

OLD_PATH = "embedding"
OLD_DIMENSIONS = 1536


@dataclass(frozen=True)
class OldVectors:
    """How the old field is read: `wanted` is the model and size in use, `dual` whether reads serve from the old field."""

    wanted: str
    dual: bool = False

    def of(self, document: Mapping[str, Any]) -> Embedding | None:
        """The old vector of a row, under its own size; None where there is none that can be read."""
        vector = _vector(document.get(OLD_PATH))
        model = str(document.get("embeddingModel") or (self.wanted.rpartition("@")[0] if self.dual else ""))
        if vector is None or not model:
            return None
        return Embedding(
            model=named(model.partition("@")[0], OLD_DIMENSIONS), dimensions=OLD_DIMENSIONS, vectors=(vector,)
        )

    def served(self, document: Mapping[str, Any]) -> Embedding | None:
        """The old vector as one of the model in use, while the dual index is on and it can be cut to one."""
        old = self.of(document) if self.dual else None
        return cut_to(old, self.wanted) if old else None


def _vector(stored: Any) -> Vector | None:
    try:
        if isinstance(stored, Binary):
            vector = stored.as_vector()
            values = list(vector.data) if vector.dtype is BinaryVectorDtype.FLOAT32 else []
        else:
            values = [float(value) for value in stored]
    except (TypeError, ValueError):
        return None
    return pack([float(value) for value in values]) if len(values) == OLD_DIMENSIONS else None
