"""What is decided about a new row, on rows that were read before and nothing else: no store is asked here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import ArchivedReason, IndexState, Link, LinkKind, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.write.consolidation.conflicts import conflict
from chalicelib.write.consolidation.merging import likeness
from chalicelib.write.consolidation.reading import Reading
from chalicelib.write.consolidation.wording import Relation
from chalicelib.write.neighbours import Neighbour

ALIKE_FROM = 0.8
"""Calibrated similarity from which two rows may be one. What makes them one are their words (see `wording`); this keeps out
what shares words by chance."""
OVERLAP_FROM = 0.2
"""The share of common terms that two rows need where there is no vector to compare."""


class Action(StrEnum):
    """What happens with a new row."""

    ADD = "add"
    NOOP = "noop"
    UPDATE = "update"
    SUPERSEDE = "supersede"
    CONTRADICT = "contradict"


@dataclass(frozen=True)
class Decision:
    """`row` is the new row as it is to be stored, links included, where `stores`. `target` is the row that it is the same as
    (noop) or whose content it replaces (update). `supersedes` are rows to retire once it is stored. `degraded` says
    why nobody could look for neighbours: the row is then added as it came."""

    action: Action
    row: StoredMemory
    target: StoredMemory | None = None
    supersedes: tuple[StoredMemory, ...] = ()
    reason: str | None = None
    degraded: str | None = None

    @property
    def stores(self) -> bool:
        """Whether the row is to be inserted."""
        return self.action not in {Action.NOOP, Action.UPDATE}


def may_change(caller: Caller, memory: Memory) -> bool:
    """Whether the caller could edit the memory: its author or an admin; the organization's, and policy, an admin alone."""
    if caller.is_observer or not caller.chain.holds(memory.scope_ref.key):
        return False
    shared = memory.scope is Scope.ORGANIZATION or not memory.overridable
    return caller.is_admin or (memory.user_id == caller.user_id and not shared)


def merge_target(caller: Caller, row: Reading, near: Sequence[tuple[Neighbour, Reading]]) -> "Merge | None":
    """The neighbour that the row is one with. What says more or less has to be the nearest of all; what says the
    same is that wherever it stands."""
    for place, (one, old) in enumerate(near):
        found = likeness(row, old) if _is_near(one) else None
        nearest = place == 0 or one.nearness >= near[0][0].nearness
        changes = found is Relation.MORE
        if found and (found is Relation.SAME or nearest) and (not changes or may_change(caller, old.memory)):
            return Merge(one, found)
    return None


@dataclass(frozen=True)
class Merge:
    """A neighbour that a row is one with, and what the row is to it."""

    neighbour: Neighbour
    relation: Relation


def _is_near(one: Neighbour) -> bool:
    return one.overlap >= OVERLAP_FROM if one.similarity is None else one.similarity >= ALIKE_FROM


def merging(row: StoredMemory, old: StoredMemory, relation: Relation) -> Decision:
    """The decision for a row that is one with an old one."""
    if relation is Relation.MORE:
        return Decision(Action.UPDATE, row, old, reason=f"it says what {old.memory.id} said, and more")
    said = "it in other words" if relation is Relation.SAME else "it already"
    return Decision(Action.NOOP, row, old, reason=f"{old.memory.id} says {said}")


def adding(caller: Caller, new: Reading, near: Sequence[Reading]) -> Decision:
    """The decision for a row that is stored: alone, in place of rows, or linked to some that it contradicts."""
    supersedes: list[StoredMemory] = []
    contradicts: list[str] = []
    reasons: list[str] = []
    for old in near:
        found = conflict(new, old)
        if found is None:
            continue
        retires = found.sure and may_retire(caller, new.memory, old.memory)
        supersedes += [old.row] if retires else []
        contradicts += [] if retires else [old.memory.id]
        reasons.append(f"{'supersedes' if retires else 'contradicts'} {old.memory.id}: {found.reason}")
    action = Action.SUPERSEDE if supersedes else Action.CONTRADICT if contradicts else Action.ADD
    links = [Link(kind=LinkKind.SUPERSEDES, target=old.memory.id) for old in supersedes]
    links += [Link(kind=LinkKind.CONTRADICTS, target=id_) for id_ in contradicts]
    return Decision(action, linked(new.row, links), None, tuple(supersedes), "; ".join(reasons) or None)


def contradicting(made: Decision, others: Sequence[tuple[str, str]]) -> Decision:
    """The decision with links to further rows that its row contradicts, each with the reason."""
    if not others:
        return made
    links = [Link(kind=LinkKind.CONTRADICTS, target=id_) for id_, _ in others]
    said = [made.reason] if made.reason else []
    reason = "; ".join([*said, *(f"contradicts {id_}: {reason}" for id_, reason in others)])
    action = Action.CONTRADICT if made.action is Action.ADD else made.action
    return replace(made, action=action, row=linked(made.row, links), reason=reason)


def may_retire(caller: Caller, new: Memory, old: Memory) -> bool:
    """Whether the new memory may take the old one's place: policy gives way to policy alone."""
    return may_change(caller, old) and (old.overridable or not new.overridable)


def linked(row: StoredMemory, links: Sequence[Link]) -> StoredMemory:
    """The row with these links too."""
    together = tuple(dict.fromkeys((*row.memory.links, *links)))
    return row if together == row.memory.links else changed(row, links=together)


def changed(row: StoredMemory, **update: object) -> StoredMemory:
    """The row with fields of its memory changed."""
    return replace(row, memory=row.memory.model_copy(update=update))


def superseded(old: StoredMemory, by: Memory, now: datetime) -> StoredMemory:
    """The old row out of the way, with a link to what took its place, by which a restore finds it."""
    back = Link(kind=LinkKind.RELATES, target=by.id)
    return changed(
        linked(old, [back]),
        status=Status.ARCHIVED,
        archived_reason=ArchivedReason.SUPERSEDED,
        archived_at=now,
        yields=(),
        updated_at=now,
        index_state=IndexState.PENDING,
        revision=old.memory.revision + 1,
    )
