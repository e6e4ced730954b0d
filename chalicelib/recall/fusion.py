"""Fusion: the sum of z-scores of the two signals over the candidates.

By score, not by rank: reciprocal rank fusion loses to BM25 alone with small embedders, the sum of z-scores never did
(shared facts, measured on LoCoMo and BEAM). Every candidate is scored by both signals first.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain import bm25
from chalicelib.domain.place import Situation, place_of
from chalicelib.domain.query import Candidate
from chalicelib.domain.vector import Vector, best_cosine
from chalicelib.domain.wire import epoch_ms
from chalicelib.recall.ingredients import Ingredient

WORTH_SAYING = 0.25  # what an ingredient adds that a person may want to know of
QUESTION_SHARE = 0.1  # docs/prospective.md: tuned on conversations 1 to 5 of LoCoMo


@dataclass(frozen=True)
class Fused:
    """A candidate with its place in the order: the higher `score`, the earlier. `moved` is the part of it that ingredients
    added to the sum of the signals, and `reasons` are what raised it so."""

    candidate: Candidate
    score: float
    reasons: tuple[str, ...] = ()
    moved: float = 0.0


def complete(candidate: Candidate, vector: Vector | None, model: str, weights: Mapping[str, float]) -> None:
    """Compute what a tier that read the row has not: its BM25, its cosine where it has a vector of the model, and who
    said it."""
    row = candidate.row
    if row is None:
        return
    if candidate.bm25 is None:
        candidate.bm25 = bm25.score(row.counts, row.length, weights)
    if candidate.situation is None:
        candidate.situation = Situation(place_of(row.memory), None, row.length, epoch_ms(row.memory.event_time))
    embedding = row.memory.embedding
    if candidate.cosine is None and vector is not None and embedding and embedding.model == model:
        candidate.cosine = best_cosine(vector, embedding.vectors)


def fuse(candidates: Sequence[Candidate], moved_by: Iterable[tuple[str, Ingredient]] = ()) -> list[Fused]:
    """The candidates in order. A signal that a row cannot have (a pending vector) counts as the mean; ties go by id.

    Each of `moved_by` is given the sums of the signals, and what it adds does not depend on the others."""
    cosines = _z_scores([nearness(candidate) for candidate in candidates])
    texts = _z_scores([candidate.bm25 for candidate in candidates])
    base = [cosine + text for cosine, text in zip(cosines, texts, strict=True)]
    added = [(reason, ingredient(candidates, base)) for reason, ingredient in moved_by]
    fused = [
        _fused(candidate, base[i], [(r, values[i]) for r, values in added]) for i, candidate in enumerate(candidates)
    ]
    return sorted(fused, key=lambda one: (-one.score, one.candidate.id))


def _fused(candidate: Candidate, base: float, added: Sequence[tuple[str, float]]) -> Fused:
    reasons = tuple(reason for reason, value in added if reason and value >= WORTH_SAYING)
    moved = math.fsum(value for _, value in added)
    return Fused(candidate, base + moved, reasons, moved)


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
