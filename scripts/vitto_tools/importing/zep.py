"""Zep's shapes: facts, which are the edges of its graph, episodes, and sessions (threads) with their messages.

A fact that Zep has invalidated is skipped, with the time at which it ended: it is what Zep holds for no longer true, and
the fact in its place is in the file too.
"""

from collections.abc import Iterator
from typing import Any

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
from vitto_tools.importing.messages import SESSIONS, add_message

FACTS, EPISODES, HOLDERS = ("edges", "facts"), ("episodes",), ("sessions", "threads")
KEPT_OF_FACTS = (
    *("fact", "name", "uuid", "uuid_", "created_at", "valid_at", "invalid_at", "expired_at", "episodes", "attributes"),
    *("episode_uuids", "rating", "source_node_name", "target_node_name", "user_id", "source_node_uuid"),
    *("target_node_uuid",),  # the names behind them are kept, where the file has them
)
MOST_LINKS = 50
_NODE = "a node: its summary is the other system's wording of its facts"
_Names = dict[str, str]


def convert(records: list[Record], given: Circumstances) -> Conversion:
    """Facts as facts with `valid_at`, else `created_at`, as the event time; messages and episodes as conversation."""
    made, names = Conversion(), _node_names(records)
    for record in records:
        _take(made, record, given, names, {})
    return made


def _take(made: Conversion, record: Record, given: Circumstances, names: _Names, of: dict[str, Any]) -> None:
    """A record of any of the kinds, or a container of such; `of` is the session and the user that it stands under."""
    value = record.value
    if not isinstance(value, dict):
        made.refuse(record, "not an object")
    elif "fact" in value:
        _add_fact(made, record, given, names, of)
    elif any(isinstance(value.get(name), list) for name in (*FACTS, *EPISODES, *HOLDERS, "nodes", "messages")):
        _take_all(made, record, given, names, of)
    elif "content" in value:
        _add_said(made, record, given, of)
    elif "summary" in value or "labels" in value:
        made.skip(record, _NODE, value.get("summary") or "")
    else:
        made.refuse(record, "neither a fact, nor a message, nor an episode")


def _take_all(made: Conversion, record: Record, given: Circumstances, names: _Names, of: dict[str, Any]) -> None:
    value = record.value
    under = {
        "session": first(value, *SESSIONS) or (first(value, "uuid", "uuid_") if "messages" in value else None),
        "user": first(value, "user_id", "userId"),
    }
    for name, one in _parts(value):
        part = Record(f"{record.where}, {name}", one)
        if name.startswith("nodes.") and isinstance(one, dict):
            made.skip(part, _NODE, one.get("summary") or "")
            continue
        _take(made, part, given, names, {**of, **{key: said for key, said in under.items() if said}})


def _parts(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in (*HOLDERS, "messages", *EPISODES, *FACTS, "nodes"):
        listed = value.get(name)
        if isinstance(listed, list):
            yield from ((f"{name}.{n}", _as_record(name, one)) for n, one in enumerate(listed, 1))


def _as_record(name: str, one: Any) -> Any:
    """A fact that stands as a text alone, as sessions of before had them."""
    return {"fact": one} if name in FACTS and isinstance(one, str) else one


def _add_fact(made: Conversion, record: Record, given: Circumstances, names: _Names, of: dict[str, Any]) -> None:
    value = record.value
    try:
        text, when = text_of(value, "fact"), time_of(first(value, "valid_at", "created_at"), given)
        ends = [time_of(value[name], given) for name in ("invalid_at", "expired_at") if value.get(name)]
    except ValueError as error:
        return made.skip(record, str(error), value.get("fact") or "")
    if ends and min(ends) <= given.now:
        return made.skip(record, f"no longer true since {min(ends).isoformat()}", text)
    tags, lost = tags_of([value["name"]] if value.get("name") else [], value.get("attributes"))
    made.not_kept.update({"attributes": 1} if lost else {})
    made.lose(record, KEPT_OF_FACTS)
    id_ = short(first(value, "uuid", "uuid_"))
    body = {
        "content": text,
        "type": "fact",
        "eventTime": when.isoformat(),
        "expiresAt": min(ends).isoformat() if ends else None,
        "tags": tags,
        "keyEntities": _entities(value, names),
        "importance": _rating(value.get("rating")),
        "links": _evidence(first(value, "episodes", "episode_uuids")),
        "source": "import:zep" + (f":{id_}" if id_ else ""),
    }
    return made.add(record, without_none(body), short(value.get("user_id") or of.get("user")))


def _add_said(made: Conversion, record: Record, given: Circumstances, of: dict[str, Any]) -> None:
    """A message or an episode. JSON that was given to the graph is data, and nothing that anybody said."""
    if record.value.get("source") == "json":
        return made.skip(record, "an episode of JSON data", record.value.get("content") or "")
    return add_message(made, record, given, source="import:zep", session=of.get("session"), user=of.get("user"))


def _entities(value: dict[str, Any], names: _Names) -> list[str]:
    found = [
        value.get(f"{end}_node_name") or names.get(str(value.get(f"{end}_node_uuid"))) for end in ("source", "target")
    ]
    return list(dict.fromkeys(name for one in found if (name := short(one, 100))))


def _evidence(ids: object) -> list[dict[str, str]]:
    found = [id_ for one in ids if (id_ := short(one))] if isinstance(ids, list) else []
    return [{"kind": "evidence", "target": id_} for id_ in found[:MOST_LINKS]]


def _rating(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1 else None


def _node_names(records: list[Record]) -> _Names:
    """The names of the nodes that the file has, by their ids."""
    values = [record.value for record in records if isinstance(record.value, dict)]
    nodes = [*values, *(one for value in values for one in value.get("nodes") or () if isinstance(one, dict))]
    return {
        str(id_): str(node["name"])
        for node in nodes
        if "fact" not in node and node.get("name") and (id_ := first(node, "uuid", "uuid_"))
    }
