"""Cursors: the sort key of a page's last row, opaque to callers."""

import base64
import functools
import json
from collections.abc import Sequence
from datetime import datetime

from pydantic import TypeAdapter

from chalicelib.domain.administration import Page
from chalicelib.domain.wire import UtcTime
from chalicelib.errors import InvalidInput

Position = tuple[datetime, str]
"""A time and an id, by which every list is sorted, newest first."""


def encode(position: Position) -> str:
    """The cursor of a position."""
    return base64.urlsafe_b64encode(json.dumps([position[0].isoformat(), position[1]]).encode()).decode()


def decode(cursor: str) -> Position:
    """The position of a cursor. InvalidInput where `cursor` is none of ours."""
    try:
        return _positions().validate_json(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, OverflowError):  # a time that has no UTC overflows
        raise InvalidInput("cursor", "is not a cursor of this list") from None


@functools.cache
def _positions() -> TypeAdapter[Position]:
    return TypeAdapter(tuple[UtcTime, str])  # built when a first cursor comes, and not while the process starts


def page[T](items: Sequence[T], limit: int, positions: Sequence[Position]) -> Page[T]:
    """The first `limit` of `items`, of which one more than that was read where there are more."""
    if len(items) <= limit:
        return Page(tuple(items))
    return Page(tuple(items[:limit]), encode(positions[limit - 1]))
