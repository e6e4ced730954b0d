"""A memory read for comparing: its claims and its words, each worked out once however many rows it is compared with."""

from dataclasses import dataclass
from functools import cached_property

from chalicelib.domain.claims.extraction import Statement
from chalicelib.domain.claims.of_memory import statements_of
from chalicelib.domain.claims.stated import Stated, stated_values
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.write.consolidation.wording import Word, weighty_words


@dataclass(frozen=True)
class Reading:
    """One memory and what it says."""

    row: StoredMemory

    @property
    def memory(self) -> Memory:
        """The memory itself."""
        return self.row.memory

    @cached_property
    def statements(self) -> list[Statement]:
        """The claims that it makes."""
        return statements_of(self.memory)

    @cached_property
    def stated(self) -> tuple[Stated, ...]:
        """The values that it states in passing."""
        return stated_values(self.memory.content)

    @cached_property
    def words(self) -> list[Word]:
        """Its words that can change a meaning."""
        return weighty_words(self.memory.content)

    @cached_property
    def words_beside(self) -> list[Word]:
        """Those of them that stand outside of the sentences that make its claims."""
        text = self.memory.content
        for begin, end in sorted({(one.begin, one.end) for one in self.statements}, reverse=True):
            text = f"{text[:begin]} {text[end:]}"
        return weighty_words(text)


class Readings:
    """The readings of one piece of work."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], Reading] = {}

    def of(self, row: StoredMemory) -> Reading:
        """The reading of a row at its revision."""
        return self._made.setdefault((row.memory.id, row.memory.revision), Reading(row))
