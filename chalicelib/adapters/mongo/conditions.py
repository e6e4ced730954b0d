"""A filter of a recall as conditions of a query to MongoDB."""

from datetime import UTC, datetime

from chalicelib.adapters.mongo.connection import Document
from chalicelib.domain.query import Filter


def filtered(wanted: Filter) -> Document:
    """The conditions of `wanted`."""
    time = {"$gte": _time(wanted.since), "$lt": _time(wanted.before)}
    event_time = {name: value for name, value in time.items() if value is not None}
    found: Document = {}
    if wanted.types:
        found["type"] = {"$in": [kind.value for kind in wanted.types]}
    if wanted.tags:
        found["tags"] = {"$all": list(wanted.tags)}
    if event_time:
        found["eventTime"] = event_time
    return found


def conditions(wanted: Filter, now: datetime) -> Document:
    """Those of `wanted`, and that the row's time has not run out at `now`."""
    return filtered(wanted) | {"expiresAt": {"$not": {"$lte": now}}}  # also where it has none


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
