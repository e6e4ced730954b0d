"""Fusion: the sum of z-scores of the two signals over the candidates.

By score, not by rank: reciprocal rank fusion loses to BM25 alone with small embedders, the sum of z-scores never did
(shared facts, measured on LoCoMo and BEAM). Every candidate is scored by both signals first.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate
from chalicelib.domain.vector import Vector, best_cosine

QUESTION_SHARE = 0.1  # docs/prospective.md: tuned on conversations 1 to 5 of LoCoMo


@dataclass(frozen=True)
class Fused:
    """A candidate with its place in the order: the higher `score`, the earlier."""

    candidate: Candidate
    score: float


def complete(candidate: Candidate, vector: Vector | None, model: str, weights: Mapping[str, float]) -> None:
    """Compute what a tier that read the row has not: its BM25, and its cosine where it has a vector of the model."""
    row = candidate.row
    if row is None:
        return
    if candidate.bm25 is None:
        candidate.bm25 = bm25.score(row.counts, row.length, weights)
    embedding = row.memory.embedding
    if candidate.cosine is None and vector is not None and embedding and embedding.model == model:
        candidate.cosine = best_cosine(vector, embedding.vectors)


def fuse(candidates: Sequence[Candidate]) -> list[Fused]:
    """The candidates in order. A signal that a row cannot have (a pending vector) counts as the mean; ties go by id."""
    cosines = _z_scores([nearness(candidate) for candidate in candidates])
    texts = _z_scores([candidate.bm25 for candidate in candidates])
    fused = [Fused(c, cosine + text) for c, cosine, text in zip(candidates, cosines, texts, strict=True)]
    return sorted(fused, key=lambda one: (-one.score, one.candidate.id))


def nearness(candidate: Candidate) -> float | None:
    """How near a memory is in meaning: its own cosine, moved towards that of its nearest question where that is nearer."""
    cosine, question = candidate.cosine, candidate.question
    if cosine is None or question is None or question <= cosine:
        return cosine
    return cosine + QUESTION_SHARE * (question - cosine)


def _z_scores(values: Sequence[float | None]) -> list[float]:
    known = [value for value in values if value is not None]
    if not known:
        return [0.0] * len(values)
    mean = math.fsum(known) / len(known)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    if deviation == 0:
        return [0.0] * len(values)
    return [0.0 if value is None else (value - mean) / deviation for value in values]
