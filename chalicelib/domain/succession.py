"""One memory in place of another: the old one is marked before the new one is stored, so that a process that dies between
the two leaves it known which of them stands."""

from datetime import datetime

from chalicelib.domain.memory import ArchivedReason, Link, LinkKind, Memory, Status, Yield


def yielding(old: Memory, to: str, now: datetime) -> Memory:
    """The old memory with the mark that the one of the id `to` takes its place once that is there, unless it is changed
    first."""
    others = tuple(mark for mark in old.yields if mark.to != to)
    return old.model_copy(update={"yields": (*others, Yield(to=to, at=now, revision=old.revision))})


def yields_to(memory: Memory) -> list[str]:
    """The ids of the memories that take its place if they are there. A change of the memory since came first, and counts."""
    if memory.status is not Status.ACTIVE:
        return []
    return [mark.to for mark in memory.yields if mark.revision == memory.revision]


def has_replaced(new: Memory, old: Memory) -> bool:
    """Whether the new memory, to which the old one yields, took its place: it is there and says so, or was replaced in
    turn."""
    mark = Link(kind=LinkKind.SUPERSEDES, target=old.id)
    stands = new.status is Status.ACTIVE or new.archived_reason is ArchivedReason.SUPERSEDED
    return stands and new.scope_ref == old.scope_ref and new.id in yields_to(old) and mark in new.links
