"""Carrying decisions out: rows that merge or retire change by compare-and-set on their revision, so that whoever edited one
meanwhile keeps the edit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import ArchivedReason, IndexState, Link, LinkKind, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt, Outcome
from chalicelib.domain.succession import yielding
from chalicelib.errors import DuplicateContent, StoreUnavailable
from chalicelib.ports import Clock, MemoryStore, Telemetry
from chalicelib.write.audit import Auditor
from chalicelib.write.consolidation.conflicts import conflict
from chalicelib.write.consolidation.decisions import Action, Decision, changed, may_change, may_retire, superseded
from chalicelib.write.consolidation.merging import likeness, merged
from chalicelib.write.consolidation.reading import Readings
from chalicelib.write.consolidation.wording import Relation
from chalicelib.write.indexing import Indexer

ATTEMPTS = 2  # on a row that is changed meanwhile: as read before, and once more as it is then


@dataclass(frozen=True)
class Applied:
    """What became of one new row: what its receipt says. `id` is where its content is now. `index` is there where rows were
    indexed here; a row that was stored before and not changed here has its own receipt already."""

    outcome: Outcome
    id: str
    revision: int | None = None
    reason: str | None = None
    index: IndexReceipt | None = None


def foreseen(decision: Decision) -> Applied:
    """What would become of a row if its decision were carried out now."""
    row, target = decision.row.memory, decision.target.memory if decision.target else None
    match decision.action:
        case Action.NOOP if target:
            return Applied(Outcome.DUPLICATE, target.id, reason=decision.reason)
        case Action.UPDATE if target:
            return Applied(Outcome.UPDATED, target.id, target.revision + 1, decision.reason)
        case Action.SUPERSEDE:
            return Applied(Outcome.SUPERSEDED, row.id, row.revision, decision.reason)
    return Applied(Outcome.STORED, row.id, row.revision, decision.reason)


@dataclass
class Application:
    """One application. `changes` collects the rows whose indexing is due at its end."""

    caller: Caller
    store: MemoryStore
    indexer: Indexer
    auditor: Auditor
    telemetry: Telemetry
    clock: Clock
    changes: dict[str, StoredMemory] = field(default_factory=dict)
    readings: Readings = field(default_factory=Readings)

    def carried_out(self, decisions: Sequence[Decision], existing: Mapping[str, str]) -> list[Applied]:
        """One a decision."""
        done = [self._applied(decision, existing) for decision in decisions]
        rows = list(self.changes.values())
        index = dict(zip((row.memory.id for row in rows), self.indexer.publish(rows), strict=True))
        return [replace(one, index=index.get(one.id)) for one in done]

    def announced(self, decisions: Sequence[Decision]) -> list[Decision]:
        """The old rows marked: those that are stored in the store, those of the batch in its decisions."""
        decided = {old.memory.id: (old, one.row.memory.id) for one in decisions for old in one.supersedes}
        for row in self.store.fetch(self.caller.chain, list(decided), with_vectors=True) if decided else ():
            old, to = decided[row.memory.id]
            if row.memory.revision == old.memory.revision:  # else it is decided on once more, when it is retired
                marked = replace(row, memory=yielding(row.memory, to, self.clock()))
                self.store.replace(marked, row.memory.revision)
        return [self._with_mark(one, decided) for one in decisions]

    def _with_mark(self, decision: Decision, decided: Mapping[str, tuple[StoredMemory, str]]) -> Decision:
        memory = decision.row.memory
        if memory.id not in decided:
            return decision
        _, to = decided[memory.id]
        return replace(decision, row=replace(decision.row, memory=yielding(memory, to, self.clock())))

    def _applied(self, decision: Decision, existing: Mapping[str, str]) -> Applied:
        new = decision.row.memory
        if new.id in existing:
            return Applied(Outcome.DUPLICATE, existing[new.id], reason="the same content is in this scope already")
        match decision.action:
            case Action.NOOP:
                return self._left_out(decision, existing)
            case Action.UPDATE:
                return self._merged(decision)
            case Action.SUPERSEDE:
                return self._superseding(decision)
        return Applied(Outcome.STORED, new.id, new.revision, decision.reason)

    def _fresh(self, id_: str) -> StoredMemory | None:
        """The row as it is now, where it still is one to decide on."""
        found = self.store.fetch(self.caller.chain, [id_], with_vectors=True)
        return found[0] if found and not found[0].memory.is_expired(self.clock()) else None

    def _left_out(self, decision: Decision, existing: Mapping[str, str]) -> Applied:
        assert decision.target is not None
        id_ = existing.get(decision.target.memory.id, decision.target.memory.id)
        if self.says_it_already(decision, id_):
            return Applied(Outcome.DUPLICATE, id_, reason=decision.reason)
        return self._inserted(decision.row)

    def says_it_already(self, decision: Decision, id_: str | None = None) -> bool:
        """Whether the row that says the same still does, looked at once more: it may have been edited or forgotten."""
        assert decision.target is not None
        old = self._fresh(id_ or decision.target.memory.id)
        return self._relation(decision.row, old) in {Relation.SAME, Relation.LESS}

    def _relation(self, new: StoredMemory, old: StoredMemory | None) -> Relation | None:
        if old is None or old.memory.status is not Status.ACTIVE:
            return None
        return likeness(self.readings.of(new), self.readings.of(old))

    def _merged(self, decision: Decision) -> Applied:
        assert decision.target is not None
        new, id_ = decision.row, decision.target.memory.id
        for _ in range(ATTEMPTS):
            old = self._fresh(id_)
            if old is None or self._relation(new, old) is not Relation.MORE or not may_change(self.caller, old.memory):
                break
            if (row := self._with_more(old, new)) is not None:
                self.changes[id_] = row
                self.auditor.record(self.caller, "merge", [id_], revision=row.memory.revision)
                return Applied(Outcome.UPDATED, id_, row.memory.revision, decision.reason)
        return self._inserted(new)

    def _with_more(self, old: StoredMemory, new: StoredMemory) -> StoredMemory | None:
        """The old row with what the new one says, stored; None where it was changed at the same time."""
        memory = merged(old.memory, new.memory, self.caller.user_id, self.clock())
        if memory.indexed_text == new.memory.indexed_text:
            row = replace(new, memory=memory.model_copy(update={"embedding": new.memory.embedding}))
        else:
            (row,) = self.indexer.analysed([memory])
        try:
            return row if self.store.replace(row, old.memory.revision) else None
        except DuplicateContent:  # the very content was stored meanwhile, and an insert will name it
            return None

    def _inserted(self, row: StoredMemory) -> Applied:
        """The row stored as new, since what it was to be merged with has become another one."""
        (existing,) = self.store.insert([row])
        if existing is not None:
            return Applied(Outcome.DUPLICATE, existing, reason="the same content is in this scope already")
        self.changes[row.memory.id] = row
        return Applied(
            Outcome.STORED,
            row.memory.id,
            row.memory.revision,
            "the memory that it is like was changed at the same time",
        )

    def _superseding(self, decision: Decision) -> Applied:
        new, olds = decision.row, [old.memory.id for old in decision.supersedes]
        try:
            kept = [id_ for id_ in olds if not self._retired(new, id_)]
            self._unmark(kept)
            rivals = self._rivals(new, [id_ for id_ in olds if id_ not in kept])
            if kept or rivals:
                self._relink(new, kept, rivals)
        except StoreUnavailable as error:  # the new row is there, and its link says what it replaces
            self.telemetry.event("consolidation_incomplete", reason=error.message, id=new.memory.id)
            reason = f"{decision.reason}; what it supersedes could not be retired ({error.message})"
            return Applied(Outcome.STORED, new.memory.id, new.memory.revision, reason)
        after = self.changes.get(new.memory.id, new).memory
        if len(kept) == len(olds):
            reason = "what it would supersede was changed at the same time"
            return Applied(Outcome.STORED, after.id, after.revision, reason)
        return Applied(Outcome.SUPERSEDED, after.id, after.revision, decision.reason)

    def _retired(self, new: StoredMemory, id_: str) -> bool:
        """Whether the old row is out of the way: by this, or by another one that superseded it first."""
        for _ in range(ATTEMPTS):
            old = self._fresh(id_)
            if old is None:
                return False
            if old.memory.archived_reason is ArchivedReason.SUPERSEDED:
                return True
            if not self._still_supersedes(new, old):
                return False
            row = superseded(old, new.memory, self.clock())
            if self.store.replace(row, old.memory.revision):
                self.changes[id_] = row
                self.auditor.record(self.caller, "supersede", [id_], by=new.memory.id, revision=row.memory.revision)
                return True
        return False

    def _unmark(self, kept: Sequence[str]) -> None:
        for row in self.store.fetch(self.caller.chain, kept, with_vectors=True) if kept else ():
            self.store.replace(changed(row, yields=()), row.memory.revision)

    def _rivals(self, new: StoredMemory, retired: Sequence[str]) -> list[Link]:
        """Links to rows that took an old one's place at the same time and say another thing than the new one: they are
        retired too where that is sure. Whoever comes second sees the first."""
        others: list[str] = []
        for id_ in retired:
            old = None if id_ in self.changes else self._fresh(id_)
            back = [link.target for link in old.memory.links if link.kind is LinkKind.RELATES] if old else []
            others += [other for other in back if other != new.memory.id]
        rivals = [id_ for id_ in dict.fromkeys(others) if self._contradicted(new, id_)]
        return [
            Link(kind=LinkKind.SUPERSEDES if self._retired(new, id_) else LinkKind.CONTRADICTS, target=id_)
            for id_ in rivals
        ]

    def _still_supersedes(self, new: StoredMemory, old: StoredMemory) -> bool:
        if old.memory.status is not Status.ACTIVE or not may_retire(self.caller, new.memory, old.memory):
            return False
        found = conflict(self.readings.of(new), self.readings.of(old))
        return (found is not None and found.sure) or self._relation(new, old) is Relation.MORE

    def _relink(self, new: StoredMemory, kept: Sequence[str], rivals: Sequence[Link]) -> None:
        """Link the new row to its rivals, and no longer as what replaces the rows that stay; it contradicts those that still
        say otherwise."""
        contradicted = [id_ for id_ in kept if self._contradicted(new, id_)]
        further = (*rivals, *(Link(kind=LinkKind.CONTRADICTS, target=id_) for id_ in contradicted))
        for _ in range(ATTEMPTS):
            row = self._fresh(new.memory.id)
            if row is None:
                return
            stay = [
                link for link in row.memory.links if link.kind is not LinkKind.SUPERSEDES or link.target not in kept
            ]
            after = changed(
                row,
                links=tuple(dict.fromkeys((*stay, *further))),
                revision=row.memory.revision + 1,
                updated_at=self.clock(),
                index_state=IndexState.PENDING,
            )
            if self.store.replace(after, row.memory.revision):
                self.changes[after.memory.id] = after
                return

    def _contradicted(self, new: StoredMemory, id_: str) -> bool:
        fresh = self._fresh(id_)
        if fresh is None or fresh.memory.status is not Status.ACTIVE:
            return False
        return conflict(self.readings.of(new), self.readings.of(fresh)) is not None
