"""Records as TOON, through the official library: a list of like records names its fields once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chalicelib.domain.memory import Memory

MEMORY_FIELDS = ("scope", "type", "speaker", "date", "importance", "overridable", "content")
"""What a model is told of a memory, the short fields first; `overridable: false` is policy that beats every other."""


def toon(value: Mapping[str, Any] | Sequence[Any]) -> str:
    """`value`, of JSON's types, as TOON."""
    from toon_format import dumps  # noqa: PLC0415 - imported where it is used: a cold start need not wait for it

    return dumps(value)


def memory_rows(memories: Iterable[Memory]) -> list[dict[str, Any]]:
    """Memories as the records that a prompt shows, every one with the same fields."""
    return [memory_row(memory) for memory in memories]


def memory_row(memory: Memory) -> dict[str, Any]:
    """One memory as a record: short values and its whole content."""
    speaker = memory.origin.speaker if memory.origin and memory.origin.speaker else memory.user_id
    return {
        "scope": memory.scope.value,
        "type": memory.type.value,
        "speaker": speaker,
        "date": f"{memory.event_time:%Y-%m-%d}",
        "importance": round(memory.importance, 2),
        "overridable": memory.overridable,
        "content": memory.content,
    }
