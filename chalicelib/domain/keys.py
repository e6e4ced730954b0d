"""The one function that builds every key, in MongoDB and in Redis, and the ids that go into them."""

import secrets
import threading
import time
from urllib.parse import quote

from chalicelib.errors import InvalidInput

MAX_ID_BYTES = 128  # spec/product.md "Scopes"
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base 32: sorts by value, no look-alikes
_FIRST_PRINTABLE = 0x20
_TIME_BITS, _RANDOM_BITS = 48, 80
_STEP_BITS = 64  # between ids of one millisecond: nobody guesses the next


def key(*parts: str) -> str:
    """Join `parts` into a key in which no part can reach into another's place.

    Each part is percent-encoded down to letters, digits and `_.-~`, so the joining `/` and the braces of a Redis hash
    tag never come from an id. The first part is always the organization.
    """
    return "/".join(quote(part, safe="") for part in parts)


class _Latest:
    """The value of the last id of this process."""

    lock = threading.Lock()
    value = 0


def new_id(prefix: str) -> str:
    """A fresh id such as `mem_01k…`: 48 bits of milliseconds, then 80 random bits, so ids sort by the time made. Within a
    millisecond, those of one process sort by their order: of messages that came together it is all that tells it."""
    value = (time.time_ns() // 1_000_000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    with _Latest.lock:
        value = _Latest.value = max(value, _Latest.value + 1 + secrets.randbits(_STEP_BITS))
    shifts = range(_TIME_BITS + _RANDOM_BITS - 5 + 2, -1, -5)
    return f"{prefix}_" + "".join(_ALPHABET[value >> shift & 31] for shift in shifts)


def checked_id(value: str, field: str) -> str:
    """`value` where it can be an id: not blank, no control characters, at most 128 bytes of UTF-8.

    InvalidInput names `field` otherwise.
    """
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidInput(field, "is not valid Unicode") from None
    if not value.strip():
        raise InvalidInput(field, "must not be blank")
    if any(ord(character) < _FIRST_PRINTABLE for character in value):
        raise InvalidInput(field, "must not hold control characters")
    if size > MAX_ID_BYTES:
        raise InvalidInput(field, f"is {size} bytes; at most {MAX_ID_BYTES} are allowed", limit=MAX_ID_BYTES)
    return value
