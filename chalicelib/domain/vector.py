"""Vectors as float32 bytes, the form that MongoDB and Redis store, and the little arithmetic they need without numpy."""

import math
from array import array
from collections.abc import Sequence

Vector = bytes
"""Little-endian float32 values, 4 bytes each, of unit length unless a docstring says otherwise."""

BYTES_PER_VALUE = 4


def pack(values: Sequence[float]) -> Vector:
    """Float32 bytes of `values`."""
    return array("f", values).tobytes()


def unpack(vector: Vector) -> array[float]:
    """The values of a vector."""
    values = array("f")
    values.frombytes(vector)
    return values


def dimensions(vector: Vector) -> int:
    """How many values a vector has."""
    return len(vector) // BYTES_PER_VALUE


def unit(values: Sequence[float], size: int | None = None) -> Vector:
    """`values` cut to `size` and scaled to length 1. ValueError for NaN, infinity, zero length or too few values.

    Cutting keeps the rankings of Matryoshka models; the length has to be restored after it.
    """
    if size is not None:
        if len(values) < size:
            raise ValueError(f"{len(values)} dimensions, {size} wanted")
        values = values[:size]
    length = math.sqrt(math.sumprod(values, values))
    if not math.isfinite(length) or length == 0:
        raise ValueError("the vector is zero or not finite")
    return pack([value / length for value in values])


def mean(vectors: Sequence[Vector]) -> Vector:
    """The direction of the mean of unit vectors; the one itself where there is one."""
    if len(vectors) == 1:
        return vectors[0]
    columns = zip(*(unpack(vector) for vector in vectors), strict=True)
    return unit([sum(column) for column in columns])


def cosine(left: Vector, right: Vector) -> float:
    """Cosine of two unit vectors, -1 to 1."""
    return math.sumprod(unpack(left), unpack(right))


def best_cosine(query: Vector, vectors: Sequence[Vector]) -> float:
    """The highest cosine of `query` with any of `vectors`, of which there is at least one."""
    values = unpack(query)
    return max(math.sumprod(values, unpack(vector)) for vector in vectors)
