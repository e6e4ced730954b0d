"""Promotes out of quarantine: a memory that is let in meets what its scope holds, as one that is remembered does.

What a row supersedes leaves after it came in, and comes back before it goes again, so that whatever is cut off between the
two hides nothing.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import ArchivedReason, IndexState, Link, LinkKind, Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.errors import DuplicateContent
from chalicelib.ports import Clock, MemoryStore
from chalicelib.write.audit import Auditor
from chalicelib.write.consolidation.consolidator import Consolidator
from chalicelib.write.consolidation.decisions import Action, Decision, changed, linked
from chalicelib.write.consolidation.plugins import as_plugins_have_it
from chalicelib.write.consolidation.undoing import brought_back, replacers
from chalicelib.write.decisions import Decisions
from chalicelib.write.deferral import Deferral
from chalicelib.write.hooks import ConsolidationHooks
from chalicelib.write.indexing import Indexer

Changed = tuple[Memory, IndexReceipt]


class Promoter:
    """Carries promotes and their undoing out. Who may have a row promoted is the caller's to know; of other rows only those
    change that the caller could edit."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        decisions: Decisions,
        consolidator: Consolidator,
        apart: ConsolidationHooks,
        indexer: Indexer,
        auditor: Auditor,
        deferral: Deferral,
        clock: Clock,
    ) -> None:
        self._store = store
        self._decisions = decisions
        self._consolidator = consolidator
        self._apart = apart
        self._indexer = indexer
        self._auditor = auditor
        self._deferral = deferral
        self._clock = clock

    def promote(self, caller: Caller, row: StoredMemory, by: str, event: AuditEvent) -> Changed | None:
        """Let a quarantined row in; None where another change of it came first.

        It is active afterwards, and retires or is linked to what it contradicts; one that says what an active row says
        already is archived as `merged` into that, and its event names it (`duplicateOf`). The receipt's reason says which.
        DuplicateContent where the same content is live in the scope by other means."""
        decision = self._decided(caller, row, by)
        if decision.action is Action.NOOP and decision.target:
            if self._consolidator.confirms(caller, decision):
                return self._left_out(row, by, decision, decision.target.memory.id, event)
            decision = Decision(Action.ADD, decision.row)
        return self._let_in(caller, row, by, decision, event)

    def undo(self, caller: Caller, row: StoredMemory, event: AuditEvent) -> Changed | None:
        """Put a promoted row back into quarantine, and what it had superseded back in its place; None where another change
        of the row came first."""
        memory = row.memory
        back = self._brought_back(caller, memory)
        gone = {Link(kind=LinkKind.SUPERSEDES, target=id_) for id_ in back}
        if memory.archived_reason is ArchivedReason.MERGED:
            gone |= {link for link in memory.links if link.kind is LinkKind.RELATES}
        update = {
            "status": Status.QUARANTINED,
            "archived_reason": None,
            "archived_at": None,
            "quarantined_at": self._clock(),
            "admitted_at": None,
            "promoted_by": None,
            "links": tuple(link for link in memory.links if link not in gone),
        }
        return self._followed(self._decisions.change(row, update, event))

    def _decided(self, caller: Caller, row: StoredMemory, by: str) -> Decision:
        if not self._indexer.has_current_vectors(row.memory):
            (row,) = self._indexer.analysed([row.memory])
        candidate = changed(row, **promotion(by, self._clock()))
        settled, _ = as_plugins_have_it(
            self._apart, caller, [candidate], self._consolidator.settle(caller, [candidate])
        )
        return _in_its_place(settled[0])

    def _left_out(self, row: StoredMemory, by: str, decision: Decision, of: str, event: AuditEvent) -> Changed | None:
        now = self._clock()
        update = promotion(by, now) | {
            "status": Status.ARCHIVED,
            "archived_reason": ArchivedReason.MERGED,
            "archived_at": now,
            "admitted_at": None,
            "links": linked(row, [Link(kind=LinkKind.RELATES, target=of)]).memory.links,
        }
        event = event.model_copy(update={"details": event.details | {"duplicateOf": of}})
        return _saying(self._followed(self._decisions.change(row, update, event)), decision.reason)

    def _let_in(
        self, caller: Caller, row: StoredMemory, by: str, decision: Decision, event: AuditEvent
    ) -> Changed | None:
        update = promotion(by, self._clock()) | {"links": decision.row.memory.links}
        self._consolidator.announce(caller, [decision])
        embedded = changed(row, embedding=decision.row.memory.embedding)
        done = self._decisions.change(embedded, update, event)
        if done is None:
            return None
        memory, receipt = done
        (applied,) = self._consolidator.apply(caller, [replace(decision, row=changed(decision.row, **dict(memory)))])
        if applied.index:  # its links were changed once more, and with them its revision
            (fresh,) = self._store.fetch(caller.chain, [memory.id], with_vectors=True)
            memory, receipt = fresh.memory, applied.index
        return _saying(self._followed((memory, receipt)), applied.reason)

    def _brought_back(self, caller: Caller, memory: Memory) -> list[str]:
        """The ids of the rows that are active again, which the memory alone had taken the place of. Who undoes a decision
        undoes all of it, whoever wrote what it retired."""
        ids = [link.target for link in memory.links if link.kind is LinkKind.SUPERSEDES]
        rows = self._store.fetch(caller.chain, ids, with_vectors=True) if ids else []
        restored = [
            back
            for row in rows
            if row.memory.archived_reason is ArchivedReason.SUPERSEDED
            and row.memory.scope_ref == memory.scope_ref
            and (back := self._active_again(row, replacers(self._store, caller, row.memory), memory.id))
        ]
        for row, receipt in zip(restored, self._indexer.publish(restored), strict=True):
            self._auditor.record(caller, "restore", [row.memory.id], revision=row.memory.revision, undone=memory.id)
            self._followed((row.memory, receipt))
        return [row.memory.id for row in restored]

    def _active_again(self, row: StoredMemory, replaced_by: Sequence[str], undone: str) -> StoredMemory | None:
        if list(replaced_by) != [undone]:
            return None
        after = changed(
            row,
            **brought_back(row.memory, replaced_by),
            revision=row.memory.revision + 1,
            updated_at=self._clock(),
            index_state=IndexState.PENDING,
        )
        try:
            return after if self._store.replace(after, row.memory.revision) else None
        except DuplicateContent:  # it was said again since, and stands already
            return None

    def _followed(self, done: Changed | None) -> Changed | None:
        """What was done, once the queue has what follows it: the index where it was not reached, prospective questions."""
        if done is None:
            return None
        memory, receipt = done
        if receipt.state is IndexState.PENDING:
            self._deferral.index_later([(memory.scope_ref.key, memory.id)])
        self._deferral.write_questions_later([memory])
        return done


def promotion(by: str, now: datetime) -> dict[str, Any]:
    """What promoting changes. The reason of the quarantine stays, for an undo; its time goes, so that no later one is
    taken for as old."""
    return {
        "status": Status.ACTIVE,
        "admitted_at": now,
        "quarantined_at": None,
        "promoted_by": by,
    }


def _in_its_place(decision: Decision) -> Decision:
    """A row that is stored already is not written into another one that it says more than: it takes that one's place."""
    if decision.action is not Action.UPDATE or decision.target is None:
        return decision
    link = Link(kind=LinkKind.SUPERSEDES, target=decision.target.memory.id)
    return Decision(
        Action.SUPERSEDE, linked(decision.row, [link]), None, (decision.target,), decision.reason, decision.degraded
    )


def _saying(done: Changed | None, reason: str | None) -> Changed | None:
    """The answer with what became of the memory beside others, unless it has to say why the index waits."""
    if done is None or reason is None or done[1].reason:
        return done
    return done[0], done[1].model_copy(update={"reason": reason})
