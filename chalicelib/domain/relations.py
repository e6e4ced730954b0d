"""What leads from one memory to another: its links, and the names that both have."""

from collections.abc import Iterable
from enum import StrEnum

from chalicelib.domain.claims.values import folded
from chalicelib.domain.memory import Memory
from chalicelib.domain.wire import Wire

_LINK, _NAME = "link:", "name:"


class Relation(StrEnum):
    """The kinds of links, and a name that two memories share."""

    SUPERSEDES = "supersedes"
    EVIDENCE = "evidence"
    RELATES = "relates"
    CONTRADICTS = "contradicts"
    ENTITY = "entity"


class Via(Wire):
    """How a hit was reached from another one: over a link of that kind, of either of the two, or over a name of both."""

    id: str
    over: Relation
    name: str | None = None


def names_of(memory: Memory) -> frozenset[str]:
    """The names by which it is connected: its key entities and what its claims are about, folded."""
    names = {folded(name) for name in memory.key_entities} | {folded(claim.subject) for claim in memory.claims}
    return frozenset(name for name in names if name)


def relations_of(memory: Memory) -> tuple[str, ...]:
    """What stands with a row so that it is found from elsewhere: the targets of its links, and its names."""
    return to_links(link.target for link in memory.links) + to_names(names_of(memory))


def to_links(ids: Iterable[str]) -> tuple[str, ...]:
    """What rows that link to one of these ids have."""
    return tuple(sorted({_LINK + id_ for id_ in ids}))


def to_names(names: Iterable[str]) -> tuple[str, ...]:
    """What rows with one of these folded names have."""
    return tuple(sorted({_NAME + name for name in names}))
