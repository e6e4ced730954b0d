"""`/engine/keys` and `/engine/audit`: for admins, of their own organization."""

from typing import Annotated, Any

from chalice.app import Blueprint
from pydantic import Field, StringConstraints

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import UtcTime, Wire
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.entrypoints.http import Call, route
from chalicelib.entrypoints.routes.memories import MOST_A_PAGE, PAGE, NoQuery
from chalicelib.errors import InvalidInput, NotFound

blueprint = Blueprint(__name__)
Name = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class PageQuery(Wire):
    """Which page of a list."""

    cursor: str | None = Field(default=None, min_length=1)
    limit: int = Field(default=PAGE, ge=1, le=MOST_A_PAGE)


class KeyBody(Wire):
    """A key to make: whom it stands for, what it may do, and until when."""

    name: Name
    user_id: Name
    roles: tuple[Role, ...] = Field(min_length=1)
    spaces: tuple[Name, ...] = Field(default=(), max_length=100)
    universes: tuple[Name, ...] = Field(default=(), max_length=100)
    act_as: bool = False
    expires_at: UtcTime | None = None


@route(blueprint, "/engine/keys", "GET")
def list_keys(call: Call) -> Any:
    """The organization's keys, without their secrets."""
    query = call.query(PageQuery)
    page = call.services.ports.keys.list(_admin(call).org_id, query.cursor, query.limit)
    return {
        "keys": [key.model_dump(mode="json", by_alias=True, exclude_none=True) for key in page.items],
        "cursor": page.cursor,
    }


@route(blueprint, "/engine/keys", "POST")
def create_key(call: Call) -> Any:
    """Make a key; the answer is the only time it is shown."""
    call.query(NoQuery)
    caller = _admin(call)
    wanted = validated(KeyBody, call.body())
    now = call.services.ports.clock()
    if wanted.expires_at and wanted.expires_at <= now:
        raise InvalidInput("expiresAt", "is in the past")
    fields = {name: getattr(wanted, name) for name in KeyBody.model_fields}
    fields["name"], _ = redact(clean(wanted.name))
    stored, shown = mint(org_id=caller.org_id, now=now, created_by=caller.user_id, **fields)
    call.services.ports.keys.add(stored)
    call.services.auditor.record(caller, "create_key", [stored.id], userId=stored.user_id, roles=list(stored.roles))
    return stored.model_dump(mode="json", by_alias=True, exclude_none=True) | {"key": shown}, 201, {}


@route(blueprint, "/engine/keys/{id}", "DELETE")
def revoke_key(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Revoke a key; it works for at most a minute more."""
    call.query(NoQuery)
    caller = _admin(call)
    if not call.services.ports.keys.revoke(caller.org_id, id, call.services.ports.clock()):
        raise NotFound("no such key in this organization")
    call.services.auditor.record(caller, "revoke_key", [id])
    return {"id": id, "revoked": True}


@route(blueprint, "/engine/audit", "GET")
def list_audit(call: Call) -> Any:
    """What was done to rows and keys of the organization, newest first."""
    query = call.query(PageQuery)
    page = call.services.ports.audit.list(_admin(call).org_id, query.cursor, query.limit)
    events = [event.model_dump(mode="json", by_alias=True, exclude_none=True) for event in page.items]
    return {"events": events, "cursor": page.cursor}


def _admin(call: Call) -> Caller:
    call.caller.require(Role.ADMIN)
    return call.caller
