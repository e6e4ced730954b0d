"""The rows of one scope that came earlier in a batch: no store holds them yet, and a later row may say the same."""

from collections import Counter
from collections.abc import Iterable

from chalicelib.domain.query import StoredMemory


class Mates:
    """Finds them by the terms that they share with a row."""

    def __init__(self) -> None:
        self._rows: list[StoredMemory] = []
        self._holders: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, row: StoredMemory) -> None:
        """Take one more in."""
        for term in row.counts:
            self._holders.setdefault(term, []).append(len(self._rows))
        self._rows.append(row)

    def holding(self, term: str) -> int:
        """How many have the term."""
        return len(self._holders.get(term, ()))

    def sharing(self, terms: Iterable[str]) -> list[tuple[StoredMemory, int]]:
        """Those that have some of `terms`, with how many, in the order that they came in."""
        shared = Counter(place for term in terms for place in self._holders.get(term, ()))
        return [(self._rows[place], count) for place, count in sorted(shared.items())]
