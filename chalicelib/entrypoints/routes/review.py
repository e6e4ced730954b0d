"""Review of quarantined memories, the difference of two revisions, and the admin's view of all rows."""

from typing import Any, Literal

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.difference import TagsDifference, TextDifference, tags_difference, text_difference
from chalicelib.domain.memory import Status
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.contract import EDITED_REVISION, NOTHING, Answer, Gives, RequestHeader, in_query
from chalicelib.entrypoints.http import Call, route
from chalicelib.entrypoints.routes.memories import BrowseQuery, ChangedMemory, MemoryPage, changed, listing
from chalicelib.errors import Conflict, DuplicateContent, StaleRevision

blueprint = Blueprint(__name__)
REVIEWED_REVISION = RequestHeader(
    "If-Match",
    "The revision that was looked at; without it the present one is decided about.",
    EDITED_REVISION.schema,
    '"1"',
)
MOST_REVISIONS = 999_999_999


class AdminQuery(BrowseQuery):
    """Which memories of the organization to list; of any status unless one is given."""

    status: Status | None = None  # type: ignore[assignment]


class DiffQuery(Wire):
    """Which revisions to compare; `to` is the present one if left out."""

    from_: int = Field(alias="from", ge=1, le=MOST_REVISIONS)
    to: int | None = Field(default=None, ge=1, le=MOST_REVISIONS)


class Difference(Answer):
    """What changed from one revision to another."""

    id: str
    from_: int = Field(alias="from")
    to: int
    content: TextDifference
    summary: TextDifference
    tags: TagsDifference


class Rejected(Answer):
    """A memory that is gone for good."""

    id: str
    rejected: Literal[True] = True
    index: IndexReceipt


@route(
    blueprint,
    "/engine/memories/{id}/promote",
    "POST",
    NOTHING,
    Gives(ChangedMemory, etag=True, leads_to={"undo_promote": {"id": "/id"}}),
    raises=(StaleRevision, Conflict, DuplicateContent),
    headers=(REVIEWED_REVISION,),
)
def promote(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Let a quarantined memory in: it is active and found from now on, and retires or is linked to what it contradicts. One
    that says what an active memory says is `merged` into that. Only an admin promotes its own."""
    return changed(call, *call.services.reviewer.promote(call.caller, id, call.if_match()))


@route(
    blueprint,
    "/engine/memories/{id}/reject",
    "POST",
    NOTHING,
    Gives(Rejected),
    raises=(StaleRevision, Conflict),
    headers=(REVIEWED_REVISION,),
)
def reject(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Remove a quarantined memory for good."""
    return Rejected(id=id, index=call.services.reviewer.reject(call.caller, id, call.if_match()))


@route(
    blueprint,
    "/engine/memories/{id}/undo-promote",
    "POST",
    NOTHING,
    Gives(ChangedMemory, etag=True),
    raises=(StaleRevision, Conflict, DuplicateContent),
    headers=(REVIEWED_REVISION,),
)
def undo_promote(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Put a memory that was promoted, by a person or by the sweep, back into quarantine, and what it superseded back in its
    place."""
    return changed(call, *call.services.reviewer.undo_promote(call.caller, id, call.if_match()))


@route(blueprint, "/engine/memories/{id}/diff", "GET", in_query(DiffQuery), Gives(Difference))
def diff(call: Call[DiffQuery], id: str) -> Any:  # noqa: A002 - the path's name for it
    """What changed in content, summary and tags from one revision to another."""
    call.services.versions.require(call.caller)
    editor, query = call.services.editor, call.query
    to = query.to if query.to is not None else editor.read(call.caller, id).revision
    before, after = (editor.revision(call.caller, id, number) for number in (query.from_, to))
    return Difference(
        id=id,
        from_=before.revision,
        to=after.revision,
        content=text_difference(before.content, after.content),
        summary=text_difference(before.summary, after.summary),
        tags=tags_difference(before, after),
    )


@route(blueprint, "/engine/admin/memories", "GET", in_query(AdminQuery), Gives(MemoryPage))
def browse_organization(call: Call[AdminQuery]) -> Any:
    """List memories of every scope of the organization, whoever sees them, newest first; admins. Forgotten ones are never
    listed. That an admin looked, and by which filters, is in the audit."""
    call.caller.require(Role.ADMIN)
    query = call.query
    page = call.services.ports.store.browse_organization(call.caller.org_id, listing(query, query.status))
    looked = {"scope": query.scope, "scopeId": query.scope_id, "status": query.status, "rows": len(page.items)}
    details = {name: value for name, value in looked.items() if value is not None}
    call.services.auditor.record(call.caller, "browse_organization", [call.caller.org_id], **details)
    return MemoryPage(memories=call.services.versions.shown(call.caller, page.items), cursor=page.cursor)
