"""Every port the core needs, with its contract: the table of contents of the architecture.

Each has an in-memory twin (`adapters/memory`) and a real adapter, and one suite in `tests/contract` holds both to what
stands here. A store that does not answer in time raises StoreUnavailable; nothing else leaves an adapter on a bad day.
"""

from chalicelib.domain.indexing import IndexEntry, IndexRemoval
from chalicelib.ports.administration import AuditLog, KeyStore, PluginSwitches, RecallStore, ReceiptStore
from chalicelib.ports.identity import SoulStore, UserGenomeStore
from chalicelib.ports.related import RelatedReads
from chalicelib.ports.search import CacheEntry, CacheOpening, HotIndex, RecallCache, StoredVectors, vector_under
from chalicelib.ports.services import Clock, Embedder, LanguageModel, Probe, Telemetry
from chalicelib.ports.sessions import SessionChange, SessionGenomeStore, SessionStore
from chalicelib.ports.truth import BackfillStore, Browse, MemoryStore, QuestionStore, RowId, Standing
from chalicelib.ports.upkeep import VECTOR_FIELDS, OldRows, StoreIndexes
from chalicelib.ports.work import DeadLetter, Delivery, TaskQueue

__all__ = [
    "VECTOR_FIELDS",
    "AuditLog",
    "BackfillStore",
    "Browse",
    "CacheEntry",
    "CacheOpening",
    "Clock",
    "DeadLetter",
    "Delivery",
    "Embedder",
    "HotIndex",
    "IndexEntry",
    "IndexRemoval",
    "KeyStore",
    "LanguageModel",
    "MemoryStore",
    "OldRows",
    "PluginSwitches",
    "Probe",
    "QuestionStore",
    "RecallCache",
    "RecallStore",
    "ReceiptStore",
    "RelatedReads",
    "RowId",
    "SessionChange",
    "SessionGenomeStore",
    "SessionStore",
    "SoulStore",
    "Standing",
    "StoreIndexes",
    "StoredVectors",
    "TaskQueue",
    "Telemetry",
    "UserGenomeStore",
    "vector_under",
]
