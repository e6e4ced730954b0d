"""The prospective questions of a memory: what a later conversation may ask that it answers."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.memory import Memory
from chalicelib.domain.vector import Vector

MOST_QUESTIONS = 5  # spec/product.md "Write path" 6: 3 to 5
MOST_QUESTION_CHARACTERS = 300


class QuestionAuthor(StrEnum):
    """Who wrote them."""

    HEURISTIC = "heuristic"
    LANGUAGE_MODEL = "language_model"


@dataclass(frozen=True)
class Question:
    """One question with its unit vector of the passage model."""

    text: str
    vector: Vector


@dataclass(frozen=True)
class QuestionSet:
    """All questions of one revision of a memory, with vectors of `model`. `text_hash` says which text they were written for,
    so that a revision with the same text takes them over. `terms` are what they add to the memory's own words."""

    org_id: str
    scope_key: str
    memory_id: str
    revision: int
    text_hash: str
    author: QuestionAuthor
    model: str
    questions: tuple[Question, ...]
    terms: tuple[str, ...] = ()

    @property
    def vectors(self) -> tuple[Vector, ...]:
        """One a question, in their order."""
        return tuple(question.vector for question in self.questions)


def text_hash(memory: Memory) -> str:
    """Hash of what questions about `memory` are written from."""
    return hashlib.sha256(memory.indexed_text.encode()).hexdigest()
