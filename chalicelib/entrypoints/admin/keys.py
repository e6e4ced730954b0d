"""Commands over API keys, with the stores' own credentials; so the first admin of an organization gets in."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.wire import Flag, Wire
from chalicelib.entrypoints.admin.commands import Command, Object, Progress, Turn
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.errors import NotFound

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

PAGE = 200
MADE_BY = "vitto admin keys-create"


class NewKey(Wire):
    """A key to make: whom it stands for, what it may do, and for how long."""

    organization: str = Field(min_length=1, description="Whose key.")
    user: str = Field(min_length=1, description="Whom the key stands for.")
    role: tuple[Role, ...] = Field(min_length=1, description="May be repeated.")
    name: str = Field(default=MADE_BY, min_length=1, max_length=128, description="What it is for.")
    space: tuple[str, ...] = Field(default=(), max_length=100, description="May be repeated.")
    universe: tuple[str, ...] = Field(default=(), max_length=100, description="May be repeated.")
    act_as: Flag = Field(default=False, description="May act for users of the organization by Vitto-User.")
    days: int | None = Field(default=None, ge=1, le=36500, description="Days until it expires; without, it does not.")


class KeysOf(Wire):
    """Whose keys."""

    organization: str = Field(min_length=1, description="Whose keys.")


class OneKey(KeysOf):
    """Which key."""

    id: str = Field(min_length=1, description="Its id.")


def _create(services: "Container", wanted: NewKey, _turn: Turn) -> Progress:
    now = services.ports.clock()
    name, _ = redact(clean(wanted.name))
    stored, shown = mint(
        org_id=wanted.organization,
        name=name,
        user_id=wanted.user,
        roles=wanted.role,
        spaces=wanted.space,
        universes=wanted.universe,
        act_as=wanted.act_as,
        expires_at=now + timedelta(days=wanted.days) if wanted.days else None,
        now=now,
        created_by=MADE_BY,
    )
    services.ports.keys.add(stored)
    _record(services, wanted.organization, "create_key", stored.id, userId=wanted.user, roles=[*wanted.role])
    return Progress({"id": stored.id}, ({"id": stored.id, "key": shown},))


def _list(services: "Container", wanted: KeysOf, turn: Turn) -> Progress:
    cursor = turn.cursor.get("page")
    page = services.ports.keys.list(wanted.organization, str(cursor) if cursor else None, PAGE)
    listed = tuple(key.model_dump(mode="json", by_alias=True, exclude_none=True) for key in page.items)
    told: Object = {"listed": turn.count("listed") + len(listed)}
    return Progress(told, listed, cursor=told | {"page": page.cursor} if page.cursor else None)


def _revoke(services: "Container", wanted: OneKey, _turn: Turn) -> Progress:
    if not services.ports.keys.revoke(wanted.organization, wanted.id, services.ports.clock()):
        raise NotFound("no such key in this organization")
    _record(services, wanted.organization, "revoke_key", wanted.id)
    return Progress({"id": wanted.id, "revoked": True})


def _record(services: "Container", org_id: str, action: str, target: str, **details: Any) -> None:
    services.auditor.keep([services.auditor.system_event(org_id, action, target, by="vitto admin", **details)])


COMMANDS: tuple[Command[Any], ...] = (
    Command("keys-create", "Make an API key and show it, once.", NewKey, _create),
    Command("keys-list", "List an organization's API keys, without their secrets.", KeysOf, _list),
    Command("keys-revoke", "Revoke an API key; it is trusted for at most a minute more.", OneKey, _revoke),
)
