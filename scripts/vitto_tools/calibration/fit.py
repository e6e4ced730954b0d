"""Fits a model's calibration: the logistic curve over cosines that tells answers from unrelated texts best."""

import math
from collections.abc import Sequence

from chalicelib.domain.calibration import Calibration
from chalicelib.domain.vector import Vector, cosine
from chalicelib.ports import Embedder
from vitto_tools.calibration.pairs import PAIRS

HARD = 10
STEPS = 4000
RATE = 0.5


def fit(embedder: Embedder, chunk_characters: int) -> tuple[Calibration, str]:
    """The calibration of `embedder`'s model and a line that says how well it separates.

    The unrelated texts of a question are the ten that are nearest to it, since those are what a store would offer. Answers
    and unrelated texts weigh the same in all, so 0.5 is where a pair is as likely one as the other."""
    questions = [embedder.embed_query(question) for question, _ in PAIRS]
    texts = [chunks[0] for chunks in embedder.embed_passages([text for _, text in PAIRS])]
    related = [cosine(question, text) for question, text in zip(questions, texts, strict=True)]
    unrelated = [value for i, q in enumerate(questions) for value in _nearest(q, texts[:i] + texts[i + 1 :])]
    middle, width = _logistic(related, unrelated)
    right = sum(value > middle for value in related) / len(related)
    wrong = sum(value > middle for value in unrelated) / len(unrelated)
    report = (
        f"{len(related)} answers at {_mean(related):.3f}, {len(unrelated)} unrelated at {_mean(unrelated):.3f}; "
        f"over the middle are {right:.0%} of the answers and {wrong:.1%} of the unrelated"
    )
    return Calibration(middle=round(middle, 4), width=round(width, 4), chunk_characters=chunk_characters), report


def _nearest(question: Vector, texts: Sequence[Vector]) -> list[float]:
    return sorted((cosine(question, text) for text in texts), reverse=True)[:HARD]


def _logistic(related: list[float], unrelated: list[float]) -> tuple[float, float]:
    """Middle and width by gradient descent on standardised cosines, with a small penalty that keeps the curve from becoming
    a step where the two groups do not overlap."""
    values = related + unrelated
    mean = _mean(values)
    deviation = math.sqrt(_mean([(value - mean) ** 2 for value in values]))
    samples = [((v - mean) / deviation, 1.0, 0.5 / len(related)) for v in related]
    samples += [((v - mean) / deviation, 0.0, 0.5 / len(unrelated)) for v in unrelated]
    slope, offset = 1.0, 0.0
    for _ in range(STEPS):
        errors = [(weight * (1 / (1 + math.exp(-(slope * x + offset))) - y), x) for x, y, weight in samples]
        slope -= RATE * (sum(error * x for error, x in errors) + 0.001 * slope)
        offset -= RATE * sum(error for error, _ in errors)
    return mean - offset / slope * deviation, deviation / slope


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
