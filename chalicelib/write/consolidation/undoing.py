"""A superseded row brought back: it is active again, and no longer counts as replaced."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import IndexState, Link, LinkKind, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import Clock, MemoryStore
from chalicelib.write.consolidation.decisions import changed, may_change

ATTEMPTS = 2


def replacers(store: MemoryStore, caller: Caller, memory: Memory) -> list[str]:
    """The ids of the rows that took the place of a superseded memory: it is linked to them, and they say so."""
    linked = [link.target for link in memory.links if link.kind is LinkKind.RELATES]
    mark = Link(kind=LinkKind.SUPERSEDES, target=memory.id)
    rows = store.fetch(caller.chain, linked) if linked else []
    return [row.memory.id for row in rows if mark in row.memory.links]


def brought_back(memory: Memory, by: Sequence[str]) -> dict[str, Any]:
    """What changes of a memory that is restored after the rows `by` took its place: it keeps no link to them."""
    links = tuple(link for link in memory.links if link.kind is not LinkKind.RELATES or link.target not in by)
    return {"status": Status.ACTIVE, "archived_reason": None, "archived_at": None, "links": links}


def no_longer_replaced(
    caller: Caller, store: MemoryStore, clock: Clock, id_: str, by: Sequence[str]
) -> list[StoredMemory]:
    """Turn the link `supersedes` that the rows `by` have to the memory `id_` into `contradicts`: both stand, the
    newer first.

    The rows that were changed, to be published. One that the caller could not edit keeps its link, and so does one that is
    changed at the same time again and again."""
    rows = (_relinked(caller, store, clock, id_, other) for other in by)
    return [row for row in rows if row]


def _relinked(caller: Caller, store: MemoryStore, clock: Clock, old: str, new: str) -> StoredMemory | None:
    for _ in range(ATTEMPTS):
        found = store.fetch(caller.chain, [new], with_vectors=True)
        if not found or not may_change(caller, found[0].memory):
            return None
        (row,) = found
        mark = Link(kind=LinkKind.SUPERSEDES, target=old)
        if mark not in row.memory.links:
            return None
        links = [Link(kind=LinkKind.CONTRADICTS, target=old) if link == mark else link for link in row.memory.links]
        after = changed(
            row,
            links=tuple(dict.fromkeys(links)),
            revision=row.memory.revision + 1,
            updated_at=clock(),
            index_state=IndexState.PENDING,
        )
        if store.replace(after, row.memory.revision):
            return after
    return None
