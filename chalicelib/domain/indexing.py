"""What the hot index is told of a row: what it is to hold of it, or that the row leaves."""

from dataclasses import dataclass

from chalicelib.domain.memory import MemoryType
from chalicelib.domain.place import NOWHERE, Place
from chalicelib.domain.vector import Vector


@dataclass(frozen=True)
class IndexEntry:
    """A row for the index. `vectors` is empty while it has none of the current model; a row that is not active is taken
    out by `IndexRemoval`. `place` is where in a conversation it was said.

    `questions` are the vectors of its prospective questions, of the same model, and `question_terms` the terms that they add
    to its own. None for `questions` says nothing of them: those that the index holds of this revision and model stay."""

    scope_key: str
    id: str
    revision: int
    model: str
    vectors: tuple[Vector, ...]
    counts: dict[str, int]
    length: int
    type: MemoryType
    tags: tuple[str, ...]
    event_ms: int
    place: Place = NOWHERE
    questions: tuple[Vector, ...] | None = None
    question_terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class IndexRemoval:
    """A row that leaves the index. An entry of an older revision that arrives later is ignored."""

    scope_key: str
    id: str
    revision: int
