"""The write path, from items to receipts.

    validate, authorise, clean → idempotency → exact duplicates → [admission] → [consolidation] → embed → store → index

Admission and consolidation have their places where the brackets stand. Rows are stored `pending` and marked `indexed` only
once every index has them, so a crash between the two loses nothing.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.domain.administration import ReservationState
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import key as key_of
from chalicelib.domain.memory import IndexState, Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import IndexReceipt, Outcome, Receipt
from chalicelib.domain.scope import ScopeRef
from chalicelib.errors import IdempotencyConflict, InProgress, VittoError
from chalicelib.ports import Clock, MemoryStore, ReceiptStore
from chalicelib.write.audit import Auditor
from chalicelib.write.deferral import Deferral
from chalicelib.write.drafts import Draft, draft, drafts
from chalicelib.write.hooks import RememberHooks
from chalicelib.write.indexing import Indexer


class RememberPipeline:
    """`remember` is all of it."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        receipts: ReceiptStore,
        indexer: Indexer,
        auditor: Auditor,
        deferral: Deferral,
        clock: Clock,
        hooks: RememberHooks,
    ) -> None:
        self._store = store
        self._receipts = receipts
        self._indexer = indexer
        self._auditor = auditor
        self._deferral = deferral
        self._clock = clock
        self._hooks = hooks

    def remember(
        self, caller: Caller, items: list[Mapping[str, Any]], *, key: str | None, single: bool
    ) -> list[dict[str, Any]]:
        """The receipts of `items`, on the wire, in their order.

        A `single` item that may not be stored raises; in a batch it has a receipt of its own. With an idempotency `key`
        the first receipts come back for the same items, and IdempotencyConflict or InProgress otherwise."""
        caller.require(Role.MEMBER)
        now = self._clock()
        drafted = self._drafted(caller, items, now, single=single)
        if key is None:
            receipts = self._store_all(caller, drafted)
            self._defer(caller, receipts)
            return _wired(receipts)
        body_hash = hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()
        name = caller.org_id, _caller_key(caller), key
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
            receipts = self._store_all(caller, drafted)
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

    def _store_all(self, caller: Caller, drafted: Sequence[Draft | Receipt]) -> list[Receipt]:
        fresh = [item for item in drafted if isinstance(item, Draft)]
        stored = iter(self._store_fresh(caller, fresh))
        return [next(stored) if isinstance(item, Draft) else item for item in drafted]

    def _defer(self, caller: Caller, receipts: Sequence[Receipt]) -> None:
        self._deferral.index_later(
            (ScopeRef(caller.org_id, one.scope, one.scope_id).key, one.id)
            for one in receipts
            if one.index and one.index.state is IndexState.PENDING and one.id and one.scope and one.scope_id
        )

    def _store_fresh(self, caller: Caller, fresh: Sequence[Draft]) -> list[Receipt]:
        memories = [item.memory for item in fresh]
        existing = dict(zip((m.id for m in memories), self._store.find_duplicates(memories), strict=True))
        rows = self._indexer.analysed([m for m in memories if existing[m.id] is None]) if memories else []
        existing |= dict(zip((row.memory.id for row in rows), self._insert(rows), strict=True))
        stored = [row for row in rows if existing[row.memory.id] is None]
        index = dict(zip((row.memory.id for row in stored), self._indexer.publish(stored), strict=True))
        if caller.on_behalf_by and stored:
            self._auditor.record(caller, "remember", [row.memory.id for row in stored])
        self._hooks.remembered(caller, [row.memory for row in stored])
        return [_receipt(item, existing[item.memory.id], index.get(item.memory.id)) for item in fresh]

    def _insert(self, rows: Sequence[StoredMemory]) -> list[str | None]:
        return self._store.insert(rows) if rows else []


def _receipt(item: Draft, existing: str | None, index: IndexReceipt | None) -> Receipt:
    memory: Memory = item.memory
    where = {"scope": memory.scope, "scope_id": memory.scope_id, "redacted": item.redacted}
    if existing is not None:
        reason = "the same content is in this scope already"
        return Receipt(outcome=Outcome.DUPLICATE, id=existing, reason=reason, **where)
    return Receipt(
        outcome=Outcome.STORED, id=memory.id, status=memory.status, revision=memory.revision, index=index, **where
    )


def _wired(receipts: Sequence[Receipt]) -> list[dict[str, Any]]:
    return [receipt.model_dump(mode="json", by_alias=True, exclude_none=True) for receipt in receipts]


def _caller_key(caller: Caller) -> str:
    """Idempotency keys are a caller's own; an assistant's key that acts for users has its own for each of them."""
    if caller.on_behalf_by:
        return key_of("acting", caller.on_behalf_by, caller.user_id)
    return key_of("self", caller.user_id)
