"""The write path around consolidation: what is new is decided on, stored, indexed, and then the decisions applied."""

from collections.abc import Callable, Sequence
from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.receipt import Outcome
from chalicelib.write.consolidation.applying import Applied
from chalicelib.write.consolidation.consolidator import Consolidator
from chalicelib.write.consolidation.decisions import Decision
from chalicelib.write.drafts import Draft, draft


def consolidator(services: Container) -> Consolidator:
    """The consolidator over the ports of `services`."""
    p = services.ports
    return Consolidator(
        store=p.store,
        lookup=services.lookup,
        embedder=p.embedder,
        indexer=services.indexer,
        auditor=services.auditor,
        telemetry=p.telemetry,
        clock=p.clock,
    )


def nothing_between() -> None:
    """What happens between deciding and carrying out, unless a test says otherwise."""


def drafted(services: Container, who: Caller, *items: dict[str, Any]) -> list[StoredMemory]:
    """Items as rows that are about to be stored."""
    made = [draft(who, item, services.ports.clock()) for item in items]
    return services.indexer.analysed([one.memory for one in made if isinstance(one, Draft)])


def stored(
    services: Container, who: Caller, rows: Sequence[StoredMemory], between: Callable[[], None] = nothing_between
) -> list[Applied]:
    """Store rows through consolidation, per row what became of it; `between` runs after the decisions were made."""
    duplicates = services.ports.store.find_duplicates([row.memory for row in rows])
    fresh = [row for row, existing in zip(rows, duplicates, strict=True) if existing is None]
    work = consolidator(services)
    decisions = work.announce(who, work.settle(who, fresh))
    between()
    existing = inserted(services, decisions)
    done = iter(work.apply(who, decisions, existing))
    return [next(done) if id_ is None else Applied(Outcome.DUPLICATE, id_) for id_ in duplicates]


def inserted(services: Container, decisions: Sequence[Decision]) -> dict[str, str]:
    """Store and index the rows that are to be; those that the store refused, with the ids of what was there."""
    rows = [decision.row for decision in decisions if decision.stores]
    receipts = services.ports.store.insert(rows) if rows else []
    refused = {row.memory.id: id_ for row, id_ in zip(rows, receipts, strict=True) if id_ is not None}
    services.indexer.publish([row for row in rows if row.memory.id not in refused])
    return refused


def tell(services: Container, who: Caller, *texts: str, **fields: Any) -> list[Applied]:
    """Store texts in one batch, in the caller's user scope or where `fields` say."""
    return stored(services, who, drafted(services, who, *({"content": text} | fields for text in texts)))


def now(services: Container, who: Caller, id_: str) -> Memory:
    """A memory as it is, whatever its status."""
    (row,) = services.ports.store.fetch(who.chain, [id_])
    return row.memory


def active(services: Container, who: Caller) -> set[str]:
    """The contents that are active in the caller's chain."""
    keys = who.chain.keys
    rows = [row for key in keys for row in services.ports.store.rows_of_scope(key)]
    return {row.memory.content for row in rows if row.memory.status is Status.ACTIVE}
