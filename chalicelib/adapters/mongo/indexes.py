"""The indexes, declared once and created by `vitto indexes`. Some of them carry promises: `one_live_row_per_content`,
`one_message_a_position`, and the unique `_id` of receipts, of sets of questions, of sessions and of their messages."""

from dataclasses import dataclass, field
from typing import Any

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.database import Database
from pymongo.errors import OperationFailure

from chalicelib.domain.administration import RECALL_DAYS, RECEIPT_DAYS

MEMORIES = "memories"
SCOPES = "scopes"
QUESTIONS = "questions"
KEYS = "api_keys"
RECEIPTS = "receipts"
AUDIT = "audit"
RECALLS = "recalls"
CHECKPOINTS = "checkpoints"
PLUGIN_SWITCHES = "plugin_switches"
BACKFILLS = "backfills"
SESSIONS = "sessions"
MESSAGES = "messages"
SESSION_GENOMES = "session_genomes"
SOULS = "souls"
USER_GENOMES = "user_genomes"
DOCS_EXPORTS = "docs_exports"
ERASURES = "erasures"

_DECLARED_OTHERWISE = frozenset({85, 86})  # IndexOptionsConflict, IndexKeySpecsConflict
DAY = 86400


@dataclass(frozen=True)
class Index:
    """One index of one collection."""

    collection: str
    name: str
    fields: tuple[tuple[str, int], ...]
    options: dict[str, Any] = field(default_factory=dict)


INDEXES = (
    Index(
        MEMORIES,
        "one_live_row_per_content",
        (("contentKey", ASCENDING),),
        {"unique": True, "partialFilterExpression": {"live": True}},
    ),
    Index(
        MEMORIES,
        "browse",
        (("scopeKey", ASCENDING), ("status", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING)),
    ),
    Index(MEMORIES, "text", (("scopeKey", ASCENDING), ("status", ASCENDING), ("terms", ASCENDING))),
    Index(MEMORIES, "related", (("scopeKey", ASCENDING), ("status", ASCENDING), ("relations", ASCENDING))),
    Index(
        MEMORIES,
        "past",
        (("scopeKey", ASCENDING), ("status", ASCENDING), ("updatedAt", ASCENDING)),
        {"partialFilterExpression": {"revision": {"$gt": 1}}},
    ),
    Index(MEMORIES, "recent", (("scopeKey", ASCENDING), ("status", ASCENDING), ("updatedAt", DESCENDING))),
    Index(
        MEMORIES,
        "pending",
        (("indexState", ASCENDING), ("_id", ASCENDING)),
        {"partialFilterExpression": {"indexState": "pending"}},
    ),
    Index(MEMORIES, "rebuild", (("scopeKey", ASCENDING), ("status", ASCENDING), ("_id", ASCENDING))),
    Index(
        MEMORIES,
        "quarantine",
        (("status", ASCENDING), ("_id", ASCENDING)),
        {"partialFilterExpression": {"status": "quarantined"}},
    ),
    Index(MEMORIES, "admitted", (("scopeKey", ASCENDING), ("status", ASCENDING), ("admittedAt", ASCENDING))),
    Index(
        MEMORIES,
        "forgotten",
        (("archivedReason", ASCENDING), ("_id", ASCENDING)),
        {"partialFilterExpression": {"archivedReason": "forgotten"}},
    ),
    Index(MEMORIES, "untold", (("untold.id", ASCENDING),), {"partialFilterExpression": {"untold": {"$exists": True}}}),
    Index(MEMORIES, "yields", (("yields.to", ASCENDING),), {"partialFilterExpression": {"yields": {"$exists": True}}}),
    Index(
        MEMORIES,
        "organization",
        (("orgId", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING)),
    ),
    Index(MEMORIES, "changed", (("updatedAt", ASCENDING),)),
    Index(
        MEMORIES, "expiry", (("expiresAt", ASCENDING),), {"partialFilterExpression": {"expiresAt": {"$exists": True}}}
    ),
    Index(
        MEMORIES,
        "backfill",
        (("orgId", ASCENDING), ("live", ASCENDING), ("_id", ASCENDING), ("embeddingModel", ASCENDING)),
    ),
    Index(SCOPES, "repair", (("repair", ASCENDING),), {"partialFilterExpression": {"repair": {"$exists": True}}}),
    Index(QUESTIONS, "by_scope", (("scopeKey", ASCENDING), ("_id", ASCENDING))),
    Index(KEYS, "by_organization", (("orgId", ASCENDING), ("createdAt", DESCENDING), ("_id", DESCENDING))),
    Index(RECEIPTS, "retention", (("at", ASCENDING),), {"expireAfterSeconds": RECEIPT_DAYS * DAY}),
    Index(AUDIT, "by_organization", (("orgId", ASCENDING), ("at", DESCENDING), ("_id", DESCENDING))),
    Index(SESSIONS, "by_key", (("sessionKey", ASCENDING),), {"unique": True}),
    Index(MESSAGES, "one_message_a_position", (("sessionKey", ASCENDING), ("position", ASCENDING)), {"unique": True}),
    Index(MESSAGES, "text", (("sessionKey", ASCENDING), ("terms", ASCENDING))),
    Index(
        MESSAGES,
        "pending",
        (("pendingSince", ASCENDING),),
        {"partialFilterExpression": {"pendingSince": {"$exists": True}}},
    ),
    Index(RECALLS, "retention", (("at", ASCENDING),), {"expireAfterSeconds": RECALL_DAYS * DAY}),
    Index(ERASURES, "changed", (("changedAt", ASCENDING),)),
    Index(ERASURES, "by_organization", (("orgId", ASCENDING), ("salt", ASCENDING))),
    Index(
        ERASURES,
        "unfinished",
        (("finished", ASCENDING), ("changedAt", ASCENDING)),
        {"partialFilterExpression": {"finished": False}},
    ),
)


def create_indexes(database: Database[dict[str, Any]]) -> list[str]:
    """Create what is missing, and replace what an earlier version declared otherwise; the names of all, `collection.index`,
    and which were replaced. Repeating it changes nothing.

    While an index is replaced it holds nothing: an upgrade that changes one runs this before its processes start."""
    return [_created(database, index) for index in INDEXES]


def _created(database: Database[dict[str, Any]], index: Index) -> str:
    rows = database.get_collection(index.collection)
    model = IndexModel(list(index.fields), name=index.name, **index.options)
    said = f"{index.collection}.{index.name}"
    try:
        rows.create_indexes([model])
    except OperationFailure as error:
        if error.code not in _DECLARED_OTHERWISE:
            raise
        rows.drop_index(index.name)
        rows.create_indexes([model])
        said += ": replaced, its definition has changed"
    return said
