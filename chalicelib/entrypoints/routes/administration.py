"""`/engine/keys` and `/engine/audit`: for admins, of their own organization."""

from http import HTTPStatus
from typing import Annotated, Any, Literal

from chalice.app import Blueprint
from pydantic import Field, StringConstraints

from chalicelib.domain.administration import ApiKey, AuditEvent
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.wire import Flag, UtcTime, Wire
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.entrypoints.contract import NOTHING, Answer, Gives, Listing, NoQuery, in_body, in_query
from chalicelib.entrypoints.http import Call, route
from chalicelib.entrypoints.routes.memories import MOST_A_PAGE, PAGE
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
    act_as: Flag = False
    expires_at: UtcTime | None = None


class KeyPage(Listing):
    """A page of keys, without their secrets."""

    keys: tuple[ApiKey, ...]
    cursor: str | None


class CreatedKey(ApiKey):
    """A key that was just made, and `key` itself, which is shown this once."""

    key: str


class RevokedKey(Answer):
    """A key that no longer holds."""

    id: str
    revoked: Literal[True] = True


class AuditPage(Listing):
    """A page of audit events, newest first."""

    events: tuple[AuditEvent, ...]
    cursor: str | None


@route(blueprint, "/engine/keys", "GET", in_query(PageQuery), Gives(KeyPage))
def list_keys(call: Call[PageQuery]) -> Any:
    """The organization's keys, without their secrets."""
    page = call.services.ports.keys.list(_admin(call).org_id, call.query.cursor, call.query.limit)
    return KeyPage(keys=page.items, cursor=page.cursor)


@route(
    blueprint,
    "/engine/keys",
    "POST",
    in_body(KeyBody, member={"name": "laptop", "userId": "ana", "roles": ["member"], "spaces": ["design"]}),
    Gives(CreatedKey, HTTPStatus.CREATED, leads_to={"revoke_key": {"id": "/id"}}),
)
def create_key(call: Call[NoQuery, KeyBody]) -> Any:
    """Make a key; the answer is the only time it is shown."""
    caller = _admin(call)
    wanted = call.body
    now = call.services.ports.clock()
    if wanted.expires_at and wanted.expires_at <= now:
        raise InvalidInput("expiresAt", "is in the past")
    fields = {name: getattr(wanted, name) for name in KeyBody.model_fields}
    fields["name"], _ = redact(clean(wanted.name))
    stored, shown = mint(org_id=caller.org_id, now=now, created_by=caller.user_id, **fields)
    call.services.ports.keys.add(stored)
    call.services.auditor.record(caller, "create_key", [stored.id], userId=stored.user_id, roles=list(stored.roles))
    return CreatedKey.model_construct(**dict(stored), key=shown)


@route(blueprint, "/engine/keys/{id}", "DELETE", NOTHING, Gives(RevokedKey))
def revoke_key(call: Call, id: str) -> Any:  # noqa: A002 - the path's name for it
    """Revoke a key; it works for at most a minute more."""
    caller = _admin(call)
    if not call.services.ports.keys.revoke(caller.org_id, id, call.services.ports.clock()):
        raise NotFound("no such key in this organization")
    call.services.auditor.record(caller, "revoke_key", [id])
    return RevokedKey(id=id)


@route(blueprint, "/engine/audit", "GET", in_query(PageQuery), Gives(AuditPage))
def list_audit(call: Call[PageQuery]) -> Any:
    """What was done to rows and keys of the organization, newest first."""
    page = call.services.ports.audit.list(_admin(call).org_id, call.query.cursor, call.query.limit)
    return AuditPage(events=page.items, cursor=page.cursor)


def _admin(call: Call[Any, Any]) -> Caller:
    call.caller.require(Role.ADMIN)
    return call.caller
