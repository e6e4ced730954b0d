"""`/engine/memories`: remember, browse, read, edit, forget, restore."""

from typing import Any

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.input import MAX_BATCH
from chalicelib.domain.memory import Memory, MemoryType, Status
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.terms import query_words
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import InvalidInput
from chalicelib.ports import Browse

blueprint = Blueprint(__name__)
_KEY_CHARACTERS = 255
PAGE = 50
MOST_A_PAGE = 200
MOST_DIGITS = 10


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

    purge: bool = False


class RestoreBody(Wire):
    """What to restore: a revision, or the memory itself where it was forgotten."""

    revision: int | None = Field(default=None, ge=1)


class NoQuery(Wire):
    """A route without query parameters."""


@route(blueprint, "/engine/memories", "POST")
def remember(call: Call) -> Any:
    """Remember one memory (the body) or a batch (`memories`, up to 100)."""
    call.query(NoQuery)
    body = call.body()
    single = "memories" not in body
    items = [body] if single else _batch(body)
    receipts = call.services.remember.remember(call.caller, items, key=_idempotency_key(call), single=single)
    return {"receipts": receipts}


@route(blueprint, "/engine/memories", "GET")
def browse(call: Call) -> Any:
    """List memories of the caller's chain, newest first."""
    query = call.query(BrowseQuery)
    if query.status is Status.QUARANTINED:
        call.caller.require(Role.REVIEWER)
    scopes = None if query.scope is None else (query.scope,)
    chain = call.caller.chain.narrow(scopes, None if query.scope_id is None else (query.scope_id,))
    words = query_words(query.q) if query.q else ()
    if query.q and not words:
        raise InvalidInput("q", "has no words to look for")
    tag = None if query.tag is None else clean(query.tag)
    wanted = Browse(query.status, query.type, tag, words, query.limit, query.cursor)
    page = call.services.ports.store.browse(chain, wanted)
    return {"memories": [_wire(memory) for memory in page.items], "cursor": page.cursor}


@route(blueprint, "/engine/memories/{id}", "GET")
def read(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """One memory with its history."""
    call.query(NoQuery)
    return _with_etag(call.services.editor.read(call.caller, id))


@route(blueprint, "/engine/memories/{id}/revisions/{number}", "GET")
def revision(call: Call, id: str, number: str) -> Any:  # noqa: A002 - the path's name for it
    """One revision of a memory."""
    call.query(NoQuery)
    if not (number.isascii() and number.isdigit() and len(number) < MOST_DIGITS):
        raise InvalidInput("revision", "must be a whole number of a few digits")
    found = call.services.editor.revision(call.caller, id, int(number))
    return found.model_dump(mode="json", by_alias=True, exclude_none=True)


@route(blueprint, "/engine/memories/{id}", "PATCH")
def edit(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Change a memory; If-Match names the revision that the change was made against."""
    call.query(NoQuery)
    return _changed(*call.services.editor.edit(call.caller, id, call.body(), call.if_match()))


@route(blueprint, "/engine/memories/{id}", "DELETE")
def forget(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Forget a memory: archived at once, restorable for 7 days; `purge=true` removes it for good."""
    if call.query(PurgeQuery).purge:
        index = call.services.editor.purge(call.caller, id)
        return {"id": id, "purged": True, "index": _index(index)}
    memory, index = call.services.editor.forget(call.caller, id)
    return {"id": id, "status": memory.status.value, "restorableDays": 7, "index": _index(index)}


@route(blueprint, "/engine/memories/{id}/restore", "POST")
def restore(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Undo a forget, or make an earlier `revision` the present one."""
    call.query(NoQuery)
    wanted = validated(RestoreBody, call.body()).revision
    if wanted is None:
        return _changed(*call.services.editor.restore(call.caller, id))
    return _changed(*call.services.editor.restore_revision(call.caller, id, wanted, call.if_match()))


def _batch(body: dict[str, Any]) -> list[Any]:
    if unknown := sorted(body.keys() - {"memories"}):
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


def _idempotency_key(call: Call) -> str | None:
    key = call.headers.get("idempotency-key")
    if key is not None and not (len(key.strip()) > 0 and len(key) <= _KEY_CHARACTERS):
        raise InvalidInput("Idempotency-Key", f"must have 1 to {_KEY_CHARACTERS} characters")
    return key


def _changed(memory: Memory, index: IndexReceipt) -> Any:
    body, status, headers = _with_etag(memory)
    return body | {"index": _index(index)}, status, headers


def _with_etag(memory: Memory) -> tuple[dict[str, Any], int, dict[str, str]]:
    return _wire(memory), 200, {"ETag": f'"{memory.revision}"'}


def _wire(memory: Memory) -> dict[str, Any]:
    return memory.model_dump(mode="json", by_alias=True, exclude_none=True)


def _index(receipt: IndexReceipt) -> dict[str, Any]:
    return receipt.model_dump(mode="json", by_alias=True, exclude_none=True)
