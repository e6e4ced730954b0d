"""What Redis keeps under a person's name.

Keys are found by scanning: every key of a scope has the scope's key as a part of its own, and no list of them is kept. A
scan that is gone on with from its cursor gives each key that was there all along.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Call, RedisConnection
from chalicelib.domain.erasure import Person, Step
from chalicelib.domain.keys import key
from chalicelib.errors import InvalidInput
from chalicelib.ports import PersonalTraces

INDEX, TASKS, QUERIES, AUDIT = "index", "tasks", "queries", "recall_audit"
_SETS = (keys.WANTED, keys.CHANGED)
_QUEUE = tuple(keys.queue(part) for part in ("waiting", "taken", "dead", "texts", "attempts", "receipts"))
_TEXTS = keys.queue("texts")
_SCANNED = 1000
_START = "0"
_CURSOR_DIGITS = 20  # of an unsigned number of 64 bits


class RedisPersonalTraces(PersonalTraces):
    """`ports.PersonalTraces`. A step is one command's worth of a scan, whatever its limit."""

    erased: Sequence[str] = (INDEX, TASKS, QUERIES)
    counted: Sequence[str] = (INDEX, TASKS, AUDIT)

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection

    def erase(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        if kind == TASKS:
            ids, end = self._tasks(person, after, limit)
            if ids:
                self._connection.run([Call("queue_forget", _QUEUE, ids)])
            return Step(len(ids), after=end)
        names, end = self._scan(person, kind, after)
        removed = len(names) + (self._from_sets(person) if kind == INDEX and after is None else 0)
        if names:
            self._connection.run([("UNLINK", *names)], bulk=True)
        return Step(removed, after=end)

    def left(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        if kind == TASKS:
            ids, end = self._tasks(person, after, limit)
            return Step(len(ids), after=end)
        if kind == AUDIT:
            return self._queued(person, int(_cursor(after)), limit)
        names, end = self._scan(person, kind, after)
        listed = (
            self._connection.run([("SISMEMBER", name, person.scope_key) for name in _SETS]) if after is None else []
        )
        return Step(len(names) + sum(listed), after=end)

    def _from_sets(self, person: Person) -> int:
        return sum(self._connection.run([("SREM", name, person.scope_key) for name in _SETS]))

    def _scan(self, person: Person, kind: str, after: str | None) -> tuple[list[bytes], str | None]:
        part = person.scope_key if kind == INDEX else f"{keys.query_vector(key(person.org_id))}/"
        # a key is percent-encoded: of what has a meaning in a pattern it holds nothing
        cursor, found = self._connection.command("SCAN", _cursor(after), "MATCH", f"*{part}*", "COUNT", _SCANNED)
        wanted = part.encode()
        names = [name for name in found if _is_part(name, wanted) or (kind == QUERIES and name.startswith(wanted))]
        return names, _next(cursor)

    def _tasks(self, person: Person, after: str | None, limit: int) -> tuple[list[bytes], str | None]:
        cursor, texts = self._connection.command("HSCAN", _TEXTS, _cursor(after), "COUNT", limit)
        return [id_ for id_, text in texts.items() if _loaded(text).get("scopeKey") == person.scope_key], _next(cursor)

    def _queued(self, person: Person, start: int, limit: int) -> Step:
        items = self._connection.command("LRANGE", keys.AUDIT_QUEUE, start, start + limit - 1)
        records = (_loaded(_loaded_list(item)[0]) for item in items)
        theirs = sum(_is_theirs(record, person) for record in records)
        return Step(theirs, after=str(start + limit) if len(items) == limit else None)


def _is_part(name: bytes, scope_key: bytes) -> bool:
    """Whether that is a whole part of a key, whose parts stand between colons."""
    return scope_key in name.split(b":")


def _cursor(after: str | None) -> str:
    """Where a scan goes on. InvalidInput where a caller made it up."""
    if after is not None and not (after.isascii() and after.isdecimal() and len(after) <= _CURSOR_DIGITS):
        raise InvalidInput("cursor", "is not a cursor of this list")
    return after or _START


def _next(cursor: Any) -> str | None:
    position = (cursor.decode() if isinstance(cursor, bytes) else str(cursor)) if cursor else _START
    return None if position == _START else position


def _loaded(text: bytes | str) -> dict[str, Any]:
    """The object of a message; an empty one for what is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _loaded_list(item: bytes) -> Sequence[str]:
    value = json.loads(item)
    return value if isinstance(value, list) and value else [""]


def _is_theirs(record: dict[str, Any], person: Person) -> bool:
    named: Iterable[tuple[str, str]] = (("org_id", "user_id"), ("orgId", "userId"))
    return any(record.get(org) == person.org_id and record.get(user) == person.user_id for org, user in named)
