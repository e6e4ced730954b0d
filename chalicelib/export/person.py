"""What is kept of a person, given out page by page: one line a thing, each with its type."""

import json
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.erasure import Person
from chalicelib.errors import NotFound
from chalicelib.export.checking import NOBODY
from chalicelib.export.positions import decoded, encoded
from chalicelib.ports import PersonalRecords

PAGE_BYTES = 3_000_000  # the gateway passes 6 MB, and JSON in JSON grows
READ_AT_ONCE = 500
LOOKED_AT = 5000  # rows that a page looks at before it answers with what it has


@dataclass(frozen=True)
class PersonalPage:
    """Lines, and from where to go on; None at the end."""

    lines: tuple[dict[str, Any], ...]
    cursor: str | None


class PersonalExport:
    """Reads all kinds, one after the other. What is being written meanwhile may be in it or not."""

    def __init__(self, records: PersonalRecords) -> None:
        self._records = records

    def first_page(self, person: Person) -> PersonalPage:
        """The first page that has a line. NotFound where nothing is kept of the person."""
        page = self.page(person, None)
        while not page.lines and page.cursor:
            page = self.page(person, page.cursor)
        if not page.lines:
            raise NotFound(NOBODY)
        return page

    def page(self, person: Person, cursor: str | None) -> PersonalPage:
        """At least one line where any is left, unless so many rows of others were looked at that a page ends without."""
        kinds = self._records.exported
        place, after = decoded(cursor, len(kinds))
        lines: list[dict[str, Any]] = []
        size = looked = 0
        while place < len(kinds) and size < PAGE_BYTES and looked < LOOKED_AT:
            found, end = self._records.lines(person, kinds[place], after, READ_AT_ONCE)
            looked += READ_AT_ONCE
            for position, line in found:
                made = {"type": kinds[place], kinds[place]: line}
                size += len(json.dumps(made))
                lines.append(made)
                after = position
                if size >= PAGE_BYTES:
                    return PersonalPage(tuple(lines), encoded(place, after))
            place, after = (place, end) if end is not None else (place + 1, None)
        return PersonalPage(tuple(lines), encoded(place, after) if place < len(kinds) else None)
