"""The write path, from items to receipts.

    validate, authorise, clean → idempotency → exact duplicates → embed → admission → consolidation → store → index

Rows are stored `pending` and marked `indexed` only once every index
has them, so a crash between the two loses nothing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chalicelib.domain.administration import ReservationState
from chalicelib.domain.admission import Decision, Ruling
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import key as key_of
from chalicelib.domain.memory import IndexState, Status, content_key
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.receipt import IndexReceipt, Outcome, Receipt
from chalicelib.domain.scope import ScopeRef
from chalicelib.errors import Forbidden, IdempotencyConflict, InProgress, VittoError
from chalicelib.ports import Clock, MemoryStore, ReceiptStore
from chalicelib.write.admission.judgement import told, why
from chalicelib.write.admission.stage import AdmissionStage, Judged, incoming
from chalicelib.write.audit import Auditor
from chalicelib.write.consolidation.applying import Applied, foreseen
from chalicelib.write.consolidation.consolidator import Consolidator
from chalicelib.write.consolidation.decisions import Decision as Settled
from chalicelib.write.consolidation.plugins import as_plugins_have_it
from chalicelib.write.deferral import Deferral
from chalicelib.write.drafts import Draft, draft, drafts
from chalicelib.write.hooks import ConsolidationHooks, RememberHooks
from chalicelib.write.indexing import Indexer
from chalicelib.write.lookup import Look, ScopeLookup

SAME_CONTENT = "the same content is in this scope already"


class RememberPipeline:
    """`remember` is all of it."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        receipts: ReceiptStore,
        indexer: Indexer,
        lookup: ScopeLookup,
        admission: AdmissionStage,
        consolidator: Consolidator,
        apart: ConsolidationHooks,
        auditor: Auditor,
        deferral: Deferral,
        clock: Clock,
        hooks: RememberHooks,
    ) -> None:
        self._store = store
        self._receipts = receipts
        self._indexer = indexer
        self._lookup = lookup
        self._admission = admission
        self._consolidator = consolidator
        self._apart = apart
        self._auditor = auditor
        self._deferral = deferral
        self._clock = clock
        self._hooks = hooks

    def remember(
        self,
        caller: Caller,
        items: list[Mapping[str, Any]],
        *,
        key: str | None,
        single: bool,
        dry_run: bool = False,
        trusted: bool = False,
    ) -> list[dict[str, Any]]:
        """The receipts of `items`, on the wire, in their order.

        A `single` item that may not be stored raises; in a batch it has a receipt of its own. With an idempotency `key`
        the first receipts come back for the same items, and IdempotencyConflict or InProgress otherwise. A dry run gives
        the receipts that there would be and leaves no trace, not even of its key. `trusted` takes an admin and admits
        what the score alone would not."""
        caller.require(Role.MEMBER)
        if trusted and not caller.is_admin:
            raise Forbidden("trusted: true admits whatever the scores, which takes an admin", field="trusted")
        now = self._clock()
        drafted = self._drafted(caller, items, now, single=single)
        if dry_run:
            return _wired(self._rehearse(caller, drafted, now, trusted=trusted))
        if key is None:
            receipts = self._store_all(caller, drafted, now, trusted=trusted)
            self._defer(caller, receipts)
            return _wired(receipts)
        name = caller.org_id, _caller_key(caller), key
        body_hash = _hash(items, trusted=trusted)
        reservation = self._receipts.reserve(*name, body_hash, now)
        if reservation.body_hash != body_hash:
            raise IdempotencyConflict("this idempotency key was used with another body")
        if reservation.state is ReservationState.IN_PROGRESS:
            raise InProgress("a request with this idempotency key is being worked on", retryAfterSeconds=1)
        if reservation.state is ReservationState.DONE:
            return reservation.response or []
        if reservation.at != now:  # the work of a request that never ended: the same times give the same rows
            drafted = self._drafted(caller, items, reservation.at, single=single)
        try:
            receipts = self._store_all(caller, drafted, reservation.at, trusted=trusted)
        except VittoError:
            self._receipts.release(*name)
            raise
        response = _wired(receipts)
        self._receipts.complete(*name, response)
        self._defer(caller, receipts)
        return response

    def _drafted(
        self, caller: Caller, items: list[Mapping[str, Any]], now: datetime, *, single: bool
    ) -> list[Draft | Receipt]:
        return [draft(caller, items[0], now)] if single else drafts(caller, items, now)

    def _store_all(
        self, caller: Caller, drafted: Sequence[Draft | Receipt], now: datetime, *, trusted: bool
    ) -> list[Receipt]:
        batch = self._judge(caller, drafted, now, trusted=trusted)
        self._store_rows(caller, batch, trusted=trusted)
        return [_receipt(item, batch) if isinstance(item, Draft) else item for item in drafted]

    def _rehearse(
        self, caller: Caller, drafted: Sequence[Draft | Receipt], now: datetime, *, trusted: bool
    ) -> list[Receipt]:
        batch = self._judge(caller, drafted, now, trusted=trusted)
        decisions = self._decisions(caller, batch)
        batch.applied = {decision.row.memory.id: foreseen(decision) for decision in decisions}
        would_be = [_receipt(item, batch) if isinstance(item, Draft) else item for item in drafted]
        ids = {item.memory.id for item in drafted if isinstance(item, Draft)}
        return [
            receipt.model_copy(update={"dry_run": True, "id": None if receipt.id in ids else receipt.id})
            for receipt in would_be
        ]

    def _defer(self, caller: Caller, receipts: Sequence[Receipt]) -> None:
        self._deferral.index_later(
            (ScopeRef(caller.org_id, one.scope, one.scope_id).key, one.id)
            for one in receipts
            if one.index and one.index.state is IndexState.PENDING and one.id and one.scope and one.scope_id
        )

    def _judge(self, caller: Caller, drafted: Sequence[Draft | Receipt], now: datetime, *, trusted: bool) -> "_Batch":
        """The verdicts on what is not in the store already, each content of the batch once."""
        fresh = [item for item in drafted if isinstance(item, Draft)]
        batch = _Batch(first_of_their_content(fresh), self._lookup.begin())
        memories = [item.memory for item in fresh if batch.first[item.memory.id] == item.memory.id]
        found = self._store.find_duplicates(memories)
        batch.existing = {memory.id: id_ for memory, id_ in zip(memories, found, strict=True) if id_ is not None}
        wanted = [memory for memory in memories if memory.id not in batch.existing]
        rows = self._indexer.analysed(wanted) if wanted else []
        candidates = incoming(fresh, rows)
        judged = self._admission.judge(caller, candidates, now, trusted=trusted, look=batch.look) if rows else []
        batch.judged = {one.row.memory.id: one for one in judged}
        return batch

    def _store_rows(self, caller: Caller, batch: "_Batch", *, trusted: bool) -> None:
        decisions = self._decisions(caller, batch)
        decisions = self._consolidator.announce(caller, decisions)
        wanted = [decision.row for decision in decisions if decision.stores]
        there = self._store.insert(wanted) if wanted else []
        refused = {row.memory.id: id_ for row, id_ in zip(wanted, there, strict=True) if id_ is not None}
        stored = [row for row in wanted if row.memory.id not in refused]
        active = [row for row in stored if row.memory.status is Status.ACTIVE]
        batch.index = dict(
            zip((row.memory.id for row in active), self._indexer.publish(active, fresh=True), strict=True)
        )
        applied = self._consolidator.apply(caller, decisions, refused) if decisions else []
        batch.applied = {decision.row.memory.id: one for decision, one in zip(decisions, applied, strict=True)}
        ids = [row.memory.id for row in stored]
        if caller.on_behalf_by and ids:
            self._auditor.record(caller, "remember", ids)
        if trusted and ids:
            self._auditor.record(caller, "trust", ids)
        self._hooks.remembered(caller, [row.memory for row in active])

    def _decisions(self, caller: Caller, batch: "_Batch") -> list[Settled]:
        """What becomes of each row that is not rejected, as plugins have it; nothing is changed."""
        rows = [one.row for one in batch.judged.values() if one.verdict.decision is not Decision.REJECT]
        if not rows:
            return []
        decisions = self._consolidator.settle(caller, rows, batch.look)
        settled, batch.told = as_plugins_have_it(self._apart, caller, rows, decisions)
        return settled


@dataclass
class _Batch:
    """What became of the drafts of one request: `first` says which draft has the content of each, `look` what is around
    them, `existing` what the store held already; in a rehearsal, where nothing is stored, `applied` is what would be
    done."""

    first: Mapping[str, str]
    look: Look
    existing: dict[str, str] = field(default_factory=dict)
    judged: dict[str, Judged] = field(default_factory=dict)
    index: dict[str, IndexReceipt] = field(default_factory=dict)
    applied: dict[str, Applied] = field(default_factory=dict)
    told: dict[str, tuple[PluginReport, ...]] = field(default_factory=dict)


def first_of_their_content(fresh: Sequence[Draft]) -> dict[str, str]:
    """By each draft's id the id of the first draft of the same content in the same scope."""
    leaders: dict[str, str] = {}
    return {item.memory.id: leaders.setdefault(content_key(item.memory), item.memory.id) for item in fresh}


def _receipt(item: Draft, batch: _Batch) -> Receipt:
    memory = item.memory
    first = batch.first[memory.id]
    where: dict[str, Any] = {"scope": memory.scope, "scope_id": memory.scope_id, "redacted": item.redacted}
    if (existing := batch.existing.get(first)) is not None:
        return Receipt(outcome=Outcome.DUPLICATE, id=existing, reason=SAME_CONTENT, **where)
    judged = batch.judged[first]
    ruling = judged.ruling or Ruling(memory)
    where |= {"admission": told(judged.verdict), "plugins": (*ruling.reports, *batch.told.get(first, ())) or None}
    where["redacted"] = tuple(dict.fromkeys((*item.redacted, *ruling.redacted)))
    if judged.verdict.decision is Decision.REJECT:
        return Receipt(outcome=Outcome.REJECTED, reason=why(judged.verdict, ruling.reason), **where)
    became = batch.applied.get(first)
    if first != memory.id:
        id_ = became.id if became else first
        return Receipt(outcome=Outcome.DUPLICATE, id=id_, reason=SAME_CONTENT, **where)
    stored = judged.row.memory
    where |= {"id": became.id if became else memory.id, "status": stored.status}
    where["revision"] = (became.revision if became else None) or stored.revision
    if judged.verdict.decision is Decision.QUARANTINE and (became is None or became.outcome is Outcome.STORED):
        return Receipt(outcome=Outcome.QUARANTINED, reason=why(judged.verdict, ruling.reason), **where)
    if became is None:
        return Receipt(outcome=Outcome.STORED, **where)
    index = became.index or batch.index.get(first)
    return Receipt(outcome=became.outcome, reason=became.reason, index=index, **where)


def _hash(items: list[Mapping[str, Any]], *, trusted: bool) -> str:
    body: Any = {"memories": items, "trusted": True} if trusted else items
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _wired(receipts: Sequence[Receipt]) -> list[dict[str, Any]]:
    return [receipt.model_dump(mode="json", by_alias=True, exclude_none=True) for receipt in receipts]


def _caller_key(caller: Caller) -> str:
    """Idempotency keys are a caller's own; an assistant's key that acts for users has its own for each of them."""
    if caller.on_behalf_by:
        return key_of("acting", caller.on_behalf_by, caller.user_id)
    return key_of("self", caller.user_id)
