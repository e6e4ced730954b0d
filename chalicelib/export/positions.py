"""Cursors over kinds of things: which kind, and the position behind the last thing of it; opaque to callers."""

import base64
import json

from chalicelib.errors import InvalidInput


def encoded(place: int, after: str | None) -> str:
    """The cursor of a position behind `after` in the kind number `place`."""
    return base64.urlsafe_b64encode(json.dumps([place, after]).encode()).decode()


def decoded(cursor: str | None, kinds: int) -> tuple[int, str | None]:
    """The position of a cursor; the first without one. InvalidInput where `cursor` is none of ours."""
    if cursor is None:
        return 0, None
    try:
        place, after = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError):
        raise InvalidInput("cursor", "is not a cursor of this list") from None
    if type(place) is not int or not 0 <= place < kinds or not isinstance(after, str | None):
        raise InvalidInput("cursor", "is not a cursor of this list")
    return place, after
