"""A file's records, and the shape that they have."""

import json
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

from vitto_tools.importing import mem0, memories, messages, person, zep
from vitto_tools.importing.conversion import Circumstances, Conversion, LeftOut, Record

_SPEAKERS = frozenset({"role", "speaker", "author", "sender"})
_ZEP = frozenset({"fact", "role_type"})
_ZEP_LISTS = frozenset({"edges", "facts", "episodes", "nodes", "sessions", "threads"})
_SESSION_IDS = frozenset({"session_id", "thread_id", "sessionId", "threadId"})


class Shape(StrEnum):
    """Whose form a file has."""

    MEMORIES = "memories"
    MESSAGES = "messages"
    MEM0 = "mem0"
    ZEP = "zep"
    PERSON = "person"


Converter = Callable[[list[Record], Circumstances], Conversion]
CONVERTERS: dict[Shape, Converter] = {
    Shape.MEMORIES: memories.convert,
    Shape.MESSAGES: messages.convert,
    Shape.MEM0: mem0.convert,
    Shape.ZEP: zep.convert,
    Shape.PERSON: person.convert,
}


def records_of(text: str) -> tuple[list[Record], list[LeftOut]]:
    """The objects of a file: of one JSON document, or of JSON lines; and the lines that are none."""
    whole = _document(text)
    if isinstance(whole, list):
        return [Record(f"item {n}", value) for n, value in enumerate(whole, 1)], []
    if isinstance(whole, dict):
        return [Record("document", whole)], []
    found: list[Record] = []
    bad: list[LeftOut] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(Record(f"line {number}", json.loads(line)))
        except (ValueError, RecursionError) as error:
            bad.append(LeftOut(f"line {number}", f"not JSON ({error})", invalid=True))
    return found, bad


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def shape_of(records: list[Record]) -> Shape | None:
    """The shape of the first record that has one."""
    return next(filter(None, (_shape(record.value) for record in records)), None)


def _shape(value: Any) -> Shape | None:
    if not isinstance(value, dict):
        return None
    if person.is_line(value):
        return Shape.PERSON
    is_session = isinstance(value.get("messages"), list) and value.keys() & _SESSION_IDS and "content" not in value
    if value.keys() & (_ZEP | _ZEP_LISTS) or is_session:
        return Shape.ZEP
    if "memory" in value or any("memory" in one for one in _listed(value)):
        return Shape.MEM0
    if value.keys() & _SPEAKERS or ("text" in value and "content" not in value):
        return Shape.MESSAGES
    return Shape.MEMORIES if "content" in value else None


def _listed(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in ("results", "memories"):
        if isinstance(value.get(name), list):
            yield from (one for one in value[name] if isinstance(one, dict))
