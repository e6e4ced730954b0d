"""Vectors of Matryoshka models: their first values are a vector of the same text themselves, once of unit length again."""

from chalicelib.domain.memory import Embedding
from chalicelib.domain.vector import unit, unpack

MODELS = ("text-embedding-3-small", "text-embedding-3-large")
"""Trained so that they can be cut (OpenAI, "New embedding models and API updates", 2024)."""


def named(model: str, dimensions: int) -> str:
    """A model with the size of its vectors, as stored vectors carry it: `text-embedding-3-small@256`."""
    return f"{model}@{dimensions}"


def cut_to(embedding: Embedding, wanted: str) -> Embedding | None:
    """The same vectors for the model and size `wanted`; None where they are of another model, of one that cannot be cut, or
    too short, and where one of them is no vector."""
    model, _, size = wanted.rpartition("@")
    if model not in MODELS or embedding.model.rpartition("@")[0] != model or not size.isdigit():
        return None
    try:
        vectors = tuple(unit(unpack(vector), int(size)) for vector in embedding.vectors)
    except ValueError:
        return None
    return Embedding(model=wanted, dimensions=int(size), vectors=vectors)
