"""`/engine/memories`: remember, browse, read, edit, forget, restore."""

from typing import Annotated, Any, Literal

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.input import MAX_BATCH, BatchFlags, MemoryBatch, MemoryPatch, MemoryRequest, RequestFlags
from chalicelib.domain.memory import RESTORABLE_DAYS, Memory, MemoryType, Revision, Status
from chalicelib.domain.receipt import IndexReceipt, Receipt
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.terms import query_words
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import JSON_NUMBER, Flag, Wire
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import (
    EDITED_REVISION,
    IDEMPOTENCY_KEY,
    IDEMPOTENCY_KEY_CHARACTERS,
    NOTHING,
    RESTORED_OVER,
    Answer,
    Gives,
    Listing,
    NoQuery,
    as_sent,
    in_body,
    in_query,
)
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import (
    Conflict,
    DuplicateContent,
    IdempotencyConflict,
    InProgress,
    InvalidInput,
    NotFound,
    RevisionRequired,
    StaleRevision,
)
from chalicelib.ports import Browse

blueprint = Blueprint(__name__)
PAGE = 50
MOST_A_PAGE = 200
MOST_DIGITS = 10
_PRESENT = {"revision": {"id": "/id", "number": "/revision"}}


class BrowseQuery(Wire):
    """Which memories to list."""

    scope: Scope | None = None
    scope_id: str | None = None
    status: Status = Status.ACTIVE
    type: MemoryType | None = None
    tag: str | None = Field(default=None, min_length=1)
    q: str | None = Field(default=None, min_length=1, max_length=1000)
    cursor: str | None = Field(default=None, min_length=1)
    limit: int = Field(default=PAGE, ge=1, le=MOST_A_PAGE)


class PurgeQuery(Wire):
    """How to forget."""

    purge: Flag = False


class RestoreBody(Wire):
    """What to restore: a revision, or the memory itself where it was forgotten."""

    revision: Annotated[int, Field(ge=1), JSON_NUMBER] | None = None


class Receipts(Answer):
    """One receipt an item, in the order of the items."""

    receipts: tuple[Receipt, ...]


class MemoryPage(Listing):
    """A page of memories, newest first."""

    memories: tuple[Memory, ...]
    cursor: str | None


class ChangedMemory(Memory):
    """A memory after a change, and whether the indexes have the change already."""

    index: IndexReceipt


class Forgotten(Answer):
    """A memory that nobody sees any more and that can be restored for some days."""

    id: str
    status: Status
    restorable_days: int
    index: IndexReceipt


class Purged(Answer):
    """A memory that is gone for good."""

    id: str
    purged: Literal[True] = True
    index: IndexReceipt


@route(
    blueprint,
    "/engine/memories",
    "POST",
    as_sent(
        MemoryRequest | MemoryBatch,
        one={"content": "Ana moved to Porto in May", "type": "fact", "tags": ["home"]},
        batch={"memories": [{"content": "We deploy on Fridays", "type": "decision"}, {"content": "Ana likes tea"}]},
        rehearsed={"content": "Ana moved to Porto in May", "dryRun": True},
    ),
    Gives(Receipts, leads_to={name: {"id": "/receipts/0/id"} for name in ("read", "edit", "forget", "restore")}),
    raises=(NotFound, IdempotencyConflict, InProgress),
    headers=(IDEMPOTENCY_KEY,),
)
def remember(call: Call[NoQuery, dict[str, Any]]) -> Any:
    """Remember one memory (the body) or a batch (`memories`, up to 100). An item of a batch that may not be stored fails
    no other: its receipt is `invalid`, with the error. `dryRun` answers the verdicts and stores nothing; a batch that an
    admin marks `trusted` is admitted whatever its scores."""
    body = call.body
    single = "memories" not in body
    sent = body.keys() & {"dryRun", "trusted"} if not single else body.keys() & {"dryRun"}
    flags = validated(RequestFlags if single else BatchFlags, {name: body[name] for name in sent})
    items = [{name: value for name, value in body.items() if name not in sent}] if single else _batch(body)
    trusted = isinstance(flags, BatchFlags) and flags.trusted
    receipts = call.services.remember.remember(
        call.caller, items, key=_idempotency_key(call), single=single, dry_run=flags.dry_run, trusted=trusted
    )
    return {"receipts": receipts}  # on the wire already: a repeat gets the first receipts as they were kept


@route(blueprint, "/engine/memories", "GET", in_query(BrowseQuery), Gives(MemoryPage), raises=(NotFound,))
def browse(call: Call[BrowseQuery]) -> Any:
    """List memories of the caller's chain, newest first."""
    query = call.query
    if query.status is Status.QUARANTINED:
        call.caller.require(Role.REVIEWER)
    scopes = None if query.scope is None else (query.scope,)
    chain = call.caller.chain.narrow(scopes, None if query.scope_id is None else (query.scope_id,))
    page = call.services.ports.store.browse(chain, listing(query, query.status))
    return MemoryPage(memories=call.services.versions.shown(call.caller, page.items), cursor=page.cursor)


@route(
    blueprint,
    "/engine/memories/{id}",
    "GET",
    NOTHING,
    Gives(Memory, etag=True, leads_to={"revision": {"id": "/id", "number": "/revision"}}),
)
def read(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """One memory with its history."""
    return _with_etag(*call.services.versions.shown(call.caller, [call.services.editor.read(call.caller, id)]))


@route(blueprint, "/engine/memories/{id}/revisions/{number}", "GET", NOTHING, Gives(Revision))
def revision(call: Call, id: str, number: str) -> Any:  # noqa: A002 - the path's name for it
    """One revision of a memory."""
    if not (number.isascii() and number.isdigit() and len(number) < MOST_DIGITS):
        raise InvalidInput("revision", "must be a whole number of a few digits")
    call.services.versions.require(call.caller)
    return call.services.editor.revision(call.caller, id, int(number))


@route(
    blueprint,
    "/engine/memories/{id}",
    "PATCH",
    as_sent(MemoryPatch, change={"content": "Ana moved to Lisbon in June", "importance": 0.8}),
    Gives(ChangedMemory, etag=True, leads_to=_PRESENT),
    raises=(StaleRevision, RevisionRequired, DuplicateContent),
    headers=(EDITED_REVISION,),
)
def edit(call: Call[NoQuery, dict[str, Any]], id: str) -> Any:  # noqa: A002 - the path's name for it
    """Change a memory; If-Match names the revision that the change was made against."""
    return changed(call, *call.services.editor.edit(call.caller, id, call.body, call.if_match()))


@route(
    blueprint,
    "/engine/memories/{id}",
    "DELETE",
    in_query(PurgeQuery),
    Gives(Forgotten | Purged, leads_to={"restore": {"id": "/id"}}),
    raises=(StaleRevision,),
)
def forget(call: Call[PurgeQuery], id: str) -> Any:  # noqa: A002 - the path's name for it
    """Forget a memory: archived at once, restorable for 7 days; `purge=true` removes it for good."""
    if call.query.purge:
        return Purged(id=id, index=call.services.editor.purge(call.caller, id))
    memory, index = call.services.editor.forget(call.caller, id)
    return Forgotten(id=id, status=memory.status, restorable_days=RESTORABLE_DAYS, index=index)


@route(
    blueprint,
    "/engine/memories/{id}/restore",
    "POST",
    in_body(RestoreBody, forgotten={}, revision={"revision": 1}),
    Gives(ChangedMemory, etag=True),
    raises=(StaleRevision, DuplicateContent, Conflict),
    headers=(RESTORED_OVER,),
)
def restore(call: Call[NoQuery, RestoreBody], id: str) -> Any:  # noqa: A002 - the path's name for it
    """Undo a forget, or make an earlier `revision` the present one."""
    wanted = call.body.revision
    if wanted is None:
        return changed(call, *call.services.editor.restore(call.caller, id))
    call.services.versions.require(call.caller)
    return changed(call, *call.services.editor.restore_revision(call.caller, id, wanted, call.if_match()))


def listing(query: BrowseQuery, status: Status | None) -> Browse:
    """What to list, of that status or of any. InvalidInput for a `q` without words."""
    words = query_words(query.q) if query.q else ()
    if query.q and not words:
        raise InvalidInput("q", "has no words to look for")
    tag = None if query.tag is None else clean(query.tag)
    return Browse(status, query.type, tag, words, query.limit, query.cursor, query.scope, query.scope_id)


def _batch(body: dict[str, Any]) -> list[Any]:
    if unknown := sorted(body.keys() - {"memories", "dryRun", "trusted"}):
        raise InvalidInput(unknown[0], "is not a known field beside memories")
    items = body["memories"]
    if not isinstance(items, list) or not items:
        raise InvalidInput("memories", "must be a list of at least one memory")
    if len(items) > MAX_BATCH:
        raise InvalidInput("memories", f"has {len(items)} items; at most {MAX_BATCH} are allowed", limit=MAX_BATCH)
    for i, item in enumerate(items):
        if not isinstance(item, dict):
            raise InvalidInput(f"memories.{i}", "must be an object")
    return items


def _idempotency_key(call: Call[Any, Any]) -> str | None:
    key = call.headers.get("idempotency-key")
    if key is not None and not (len(key.strip()) > 0 and len(key) <= IDEMPOTENCY_KEY_CHARACTERS):
        raise InvalidInput("Idempotency-Key", f"must have 1 to {IDEMPOTENCY_KEY_CHARACTERS} characters")
    return key


def changed(call: Call[Any, Any], memory: Memory, index: IndexReceipt) -> Reply:
    """The answer of a change: the memory, with its revision as ETag."""
    (memory,) = call.services.versions.shown(call.caller, [memory])
    return _with_etag(ChangedMemory.model_construct(**dict(memory), index=index))


def _with_etag(memory: Memory) -> Reply:
    return Reply(memory, {"ETag": f'"{memory.revision}"'})
