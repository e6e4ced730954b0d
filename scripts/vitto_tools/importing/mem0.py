"""Mem0's memories, as its `get_all` and its exports give them: a list, or one under `results` or `memories`."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from chalicelib.domain.input import MAX_MESSAGES
from vitto_tools.importing.conversion import (
    Circumstances,
    Conversion,
    Record,
    first,
    short,
    tags_of,
    text_of,
    time_of,
    without_none,
)

LISTS = ("results", "memories")
KEPT = ("id", "memory", "user_id", "run_id", "actor_id", "role", "metadata", "categories", "created_at", "input")
WITHOUT_MEANING = ("hash", "score", "event", "expiration_date")
"""Of the other system's own making, or looked at apart."""


def convert(records: list[Record], given: Circumstances) -> Conversion:
    """Each memory as a fact, with its categories and plain metadata as tags, and its `created_at` as the event time."""
    made = Conversion()
    for record in _memories(made, records):
        _add(made, record, given)
    return made


def _memories(made: Conversion, records: list[Record]) -> list[Record]:
    """The memories of containers, too; a container's graph is noted as not kept."""
    found = []
    for record in records:
        value = record.value
        name = next((name for name in LISTS if isinstance(value, dict) and isinstance(value.get(name), list)), None)
        if name is None or "memory" in value:
            found.append(record)
            continue
        found += [Record(f"{record.where}, {name}.{n}", one) for n, one in enumerate(value[name], 1)]
        relations = value.get("relations")
        made.not_kept.update({"relations": len(relations)} if isinstance(relations, list) and relations else {})
    return found


def _add(made: Conversion, record: Record, given: Circumstances) -> None:
    value = record.value
    if not isinstance(value, dict):
        return made.refuse(record, "not an object")
    try:
        text, when = text_of(value, "memory"), time_of(value.get("created_at"), given)
        expires = _end(value.get("expiration_date"), given)
    except ValueError as error:
        return made.skip(record, str(error), value.get("memory") or "")
    if expires and expires <= given.now:
        return made.skip(record, f"it expired on {value['expiration_date']}", text)
    tags, lost = tags_of(value.get("categories"), value.get("metadata"))
    made.not_kept.update({"metadata": 1} if lost else {})
    if value.get("updated_at") == value.get("created_at"):
        value = {name: said for name, said in value.items() if name != "updated_at"}
    made.lose(Record(record.where, value), (*KEPT, *WITHOUT_MEANING))
    body = {
        "content": text,
        "type": "fact",
        "eventTime": when.isoformat(),
        "expiresAt": expires.isoformat() if expires else None,
        "tags": tags,
        "origin": without_none(
            {"sessionId": short(value.get("run_id")), "speaker": short(first(value, "actor_id", "role"))}
        ),
        "messages": _messages(value.get("input")),
        "source": "import:mem0" + (f":{value['id']}" if short(value.get("id")) else ""),
    }
    return made.add(record, without_none(body), short(value.get("user_id")))


def _messages(said: object) -> list[dict[str, Any]]:
    """What the memory was taken from, which admission judges it by."""
    found = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return [
        without_none({"speaker": short(one.get("role")), "text": str(one["content"])[:4000]})
        for one in found[-MAX_MESSAGES:]
        if one.get("content")
    ]


def _end(value: object, given: Circumstances) -> datetime | None:
    """When an expiration date is over: a day, of which the end counts, or a time."""
    if not value:
        return None
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return time_of(value, given)
    return datetime.combine(day, time(), UTC) + timedelta(days=1)
