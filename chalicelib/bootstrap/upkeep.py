"""What keeps the stores in order and brings memories out of them, made from the services that it works with."""

from typing import TYPE_CHECKING

from chalicelib.export.docs.exporter import DocsExporter
from chalicelib.write.backfill import Backfill
from chalicelib.write.maintenance import Maintenance
from chalicelib.write.purge import Purge
from chalicelib.write.sweep import Sweep

if TYPE_CHECKING:
    from chalicelib.bootstrap.building import Ports
    from chalicelib.bootstrap.services import Container


def sweep(made: "Container") -> Sweep:
    """Quarantined memories that nobody reviewed."""
    p = made.ports
    return Sweep(
        store=p.store,
        embedder=p.embedder,
        indexer=made.indexer,
        decisions=made.decisions,
        promoter=made.promoter,
        auditor=made.auditor,
        telemetry=p.telemetry,
        clock=p.clock,
    )


def purge(made: "Container") -> Purge:
    """Forgotten memories whose time is over."""
    p = made.ports
    return Purge(store=p.store, decisions=made.decisions, auditor=made.auditor, telemetry=p.telemetry, clock=p.clock)


def maintenance(made: "Container") -> Maintenance:
    """What the worker does."""
    p = made.ports
    return Maintenance(
        store=p.store,
        hot=p.hot,
        indexer=made.indexer,
        telemetry=p.telemetry,
        clock=p.clock,
        sessions=made.conversation.upkeep,
    )


def backfill(made: "Container") -> Backfill:
    """Embeddings that rows lack."""
    p = made.ports
    return Backfill(
        store=p.backfills,
        indexer=made.indexer,
        queue=p.queue,
        deferral=made.deferral,
        telemetry=p.telemetry,
        clock=p.clock,
    )


def docs_exporter(p: "Ports") -> DocsExporter:
    """Memories as documents."""
    return DocsExporter(
        source=p.docs_source,
        store=p.store,
        ledger=p.docs_ledger,
        target=p.docs_target,
        queue=p.queue,
        telemetry=p.telemetry,
        clock=p.clock,
    )
