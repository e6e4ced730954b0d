"""What a converter is given and what it gives: items for the API, and everything that does not become one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Any

from chalicelib.domain.memory import MAX_CONTENT_BYTES
from chalicelib.domain.text.chunks import chunks

MOST_TAGS, LONGEST_TAG, LONGEST_ID, LONGEST_SOURCE = 50, 100, 128, 200
_FIRST_CUT = MAX_CONTENT_BYTES - 1024
_MILLISECONDS_FROM = 1e11  # a time in seconds is not so large before the year 5138
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """One object of a file; `where` names it to people: `line 3`, `results.2`."""

    where: str
    value: Any


@dataclass(frozen=True)
class Item:
    """A memory as the API takes it, and the user whom the file says it is of."""

    where: str
    body: dict[str, Any]
    user: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """What becomes no memory: skipped for a `reason`, or `invalid`, which a corrected file would not have."""

    where: str
    reason: str
    text: str = ""
    invalid: bool = False


@dataclass(frozen=True)
class Circumstances:
    """What a file may leave open: the zone of times without one, the time of what has none. `now` is the import's, and tells
    only what is over."""

    now: datetime
    zone: tzinfo | None = None
    time: datetime | None = None


@dataclass
class Conversion:
    """What a file comes to. `not_kept` counts, by field, what a memory has no place for."""

    items: list[Item] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    not_kept: Counter[str] = field(default_factory=Counter)
    chunked: int = 0

    def skip(self, record: Record, reason: str, text: object = "") -> None:
        """Leave a record out."""
        self.left_out.append(LeftOut(record.where, reason, str(text)))

    def refuse(self, record: Record, reason: str) -> None:
        """Leave a record out that is wrong."""
        self.left_out.append(LeftOut(record.where, reason, invalid=True))

    def add(self, record: Record, body: dict[str, Any], user: str | None) -> None:
        """Take a memory in; a content that is too long in pieces, each with the same time and origin."""
        pieces = pieces_of(body["content"])
        self.chunked += len(pieces) > 1
        for number, piece in enumerate(pieces, 1):
            part = f" ({number} of {len(pieces)})" if len(pieces) > 1 else ""
            said = {"content": piece}
            if "source" in body:
                said["source"] = f"{body['source'][: LONGEST_SOURCE - len(part)]}{part}"
            self.items.append(Item(record.where + part, {**body, **said}, user))

    def lose(self, record: Record, kept: Iterable[str]) -> None:
        """Note the fields of a record that say something and are not among those `kept`."""
        said = {name for name, value in record.value.items() if not _is_empty(value) and value is not False}
        self.not_kept.update(said - set(kept))


def pieces_of(text: str) -> list[str]:
    """A text in pieces that the API takes, cut after a paragraph, a sentence or a word where there is one."""
    return _cut(text, _FIRST_CUT) if len(text.encode(errors="replace")) > MAX_CONTENT_BYTES else [text]


def _cut(text: str, limit: int) -> list[str]:
    found: list[str] = []
    for piece in chunks(text, limit):
        fits = len(piece.encode(errors="replace")) <= MAX_CONTENT_BYTES
        found += [piece] if fits else _cut(piece, max(1, limit // 2))
    return found


def time_of(value: object, given: Circumstances) -> datetime:
    """A time as files write it: ISO 8601, or seconds or milliseconds since 1970. ValueError says what is wrong with it."""
    if value is None or value == "":
        if given.time is None:
            raise ValueError("has no time, and may not count as of the import; --time gives one to all such")
        return given.time
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_1970(float(value))
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError("its time is not ISO 8601") from None
    if found.tzinfo is None:
        if given.zone is None:
            raise ValueError("its time has no zone; --zone names that of all such")
        found = found.replace(tzinfo=given.zone)
    return found


def _since_1970(value: float) -> datetime:
    try:
        return datetime.fromtimestamp(value / 1000 if value >= _MILLISECONDS_FROM else value, UTC)
    except (OverflowError, ValueError, OSError):
        raise ValueError("its time is out of range") from None


def first(value: Fields, *names: str) -> Any:
    """What stands under the first of `names` that says something."""
    return next((value[name] for name in names if value.get(name) not in (None, "")), None)


def text_of(value: Fields, *names: str) -> str:
    """The text under the first of `names`. ValueError where there is none."""
    found = first(value, *names)
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"has no text in {' or '.join(names)}")
    return found


def short(value: object, limit: int = LONGEST_ID) -> str | None:
    """An id or a name within the API's bytes; None where there is none, or it is too long to be kept."""
    found = "" if value is None else str(value).strip()
    return found if found and len(found.encode(errors="replace")) <= limit else None


def tags_of(lists: object, attributes: object) -> tuple[list[str], bool]:
    """Tags of a list of words and of what attributes say plainly, as `name: value`; whether anything had no place."""
    words = [str(one) for one in lists] if isinstance(lists, list) else []
    said = (
        {name: value for name, value in attributes.items() if not _is_empty(value)}
        if isinstance(attributes, dict)
        else {}
    )
    plain = [f"{name}: {value}" for name, value in said.items() if isinstance(value, str | int | float | bool)]
    wanted = list(dict.fromkeys(tag.strip() for tag in (*words, *plain) if tag.strip()))
    fitting = [tag for tag in wanted if len(tag) <= LONGEST_TAG][:MOST_TAGS]
    return fitting, len(plain) < len(said) or len(fitting) < len(wanted)


def without_none(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what there is nothing of."""
    return {name: value for name, value in body.items() if not _is_empty(value)}


def _is_empty(value: object) -> bool:
    return value is None or value in ("", [], {})
