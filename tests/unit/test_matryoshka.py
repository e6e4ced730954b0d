"""Long vectors of Matryoshka models become short ones of the same text; those of others are left alone."""

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.matryoshka import cut_to
from chalicelib.domain.memory import Embedding
from chalicelib.domain.vector import cosine, pack

MODEL = "text-embedding-3-small"
TEXT = "Ana lives in Porto"


def embedding(model: str, size: int, *texts: str) -> Embedding:
    """Vectors of that model and size."""
    made = TermEmbedder(model, size)
    return Embedding(model=f"{model}@{size}", dimensions=size, vectors=tuple(made.embed_query(text) for text in texts))


def test_a_cut_vector_is_that_of_the_same_text_at_that_size() -> None:
    short = cut_to(embedding(MODEL, 1536, TEXT, "Bob"), f"{MODEL}@256")
    assert short is not None
    assert (short.model, short.dimensions) == (f"{MODEL}@256", 256)
    wanted = TermEmbedder(MODEL, 256)
    for vector, text in zip(short.vectors, (TEXT, "Bob"), strict=True):
        assert cosine(vector, wanted.embed_query(text)) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("model", "size", "wanted"),
    [
        ("text-embedding-ada-002", 1536, "text-embedding-ada-002@256"),
        ("text-embedding-ada-002", 1536, f"{MODEL}@256"),
        ("text-embedding-3-large", 1536, f"{MODEL}@256"),
        (MODEL, 128, f"{MODEL}@256"),
        (MODEL, 1536, MODEL),
    ],
)
def test_what_cannot_be_cut_is_left_alone(model: str, size: int, wanted: str) -> None:
    assert cut_to(embedding(model, size, TEXT), wanted) is None


@pytest.mark.parametrize("values", [[0.0] * 1536, [float("nan")] * 1536])
def test_what_is_no_vector_is_left_alone(values: list[float]) -> None:
    broken = Embedding(model=f"{MODEL}@1536", dimensions=1536, vectors=(pack(values),))
    assert cut_to(broken, f"{MODEL}@256") is None
