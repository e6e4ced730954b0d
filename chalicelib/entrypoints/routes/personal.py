"""`/engine/users/{userId}`: what is kept of a person, given out and taken away; for that person and for admins."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from chalice.app import Blueprint
from pydantic import Field

from chalicelib.domain.caller import Role
from chalicelib.domain.erasure import Erasure, ErasureState, Shared
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import Answer, Gives, Listing, in_query
from chalicelib.entrypoints.http import Call, route
from chalicelib.errors import Conflict
from chalicelib.export.erasing import visible

blueprint = Blueprint(__name__)
USER = "/engine/users/{user_id}"
CHECK_SECONDS = 8.0  # what a request searches before it answers with a cursor


class ErasureQuery(Wire):
    """What becomes of what the user wrote into shared scopes."""

    shared: Shared = Field(default="keep", description="keep it under a pseudonym, or delete it")


class CursorQuery(Wire):
    """From where to go on."""

    cursor: str | None = Field(default=None, min_length=1)


class PersonalLines(Listing):
    """Some of what is kept of a user. Each line has its `type`, and under that name what it is."""

    lines: tuple[dict[str, Any], ...]
    cursor: str | None


class ErasureAnswer(Listing):
    """The latest receipt of a user's erasures, those before it, and what is kept of the user now, searched for in every
    store: by kind, all that was gone through. Where `cursor` is null it was all."""

    receipt: Erasure
    earlier: tuple[Erasure, ...]
    left: Mapping[str, int]
    left_total: int
    cursor: str | None


class ErasureReceipt(Answer, Erasure):
    """The receipt of an erasure that was begun, or is under way."""


@route(blueprint, f"{USER}/export", "GET", in_query(CursorQuery), Gives(PersonalLines))
def export_user(call: Call[CursorQuery], user_id: str) -> Any:
    """Give out everything that is kept of a user, page by page: one's own, or for an admin that of any user of the
    organization, which the audit notes."""
    person = visible(call.caller, user_id)
    export, cursor = call.services.personal.export, call.query.cursor
    if user_id == call.caller.user_id or cursor is not None:
        page = export.page(person, cursor)
    else:
        page = export.first_page(person)
        call.services.auditor.record(call.caller, "export_user", [user_id])
    return PersonalLines(lines=page.lines, cursor=page.cursor)


@route(
    blueprint,
    USER,
    "DELETE",
    in_query(ErasureQuery),
    Gives(ErasureReceipt, otherwise=HTTPStatus.ACCEPTED),
    raises=(Conflict,),
    for_erased=True,
)
def erase_user(call: Call[ErasureQuery], user_id: str) -> Any:
    """Erase everything that is kept of a user: of oneself, or for an admin of any user of the organization. It works for
    a few seconds and leaves the rest to the worker (202); asking again goes on. After a while it looks a second time."""
    call.caller.require(Role.MEMBER)
    receipt = call.services.personal.erasing.start(call.caller, user_id, call.query.shared)
    answer = ErasureReceipt(**dict(receipt))
    return Reply(answer, status=HTTPStatus.ACCEPTED) if receipt.state is ErasureState.ERASING else answer


@route(blueprint, f"{USER}/erasure", "GET", in_query(CursorQuery), Gives(ErasureAnswer), for_erased=True)
def check_erasure(call: Call[CursorQuery], user_id: str) -> Any:
    """The receipt of a user's erasure, checked again: every store is searched for what is kept of the user now."""
    person = visible(call.caller, user_id)
    check = call.services.personal.check
    record = check.record(person)
    found = check.left(person, call.query.cursor, _within(CHECK_SECONDS))
    return ErasureAnswer(
        receipt=record.receipt, earlier=record.earlier, left=found.counts, left_total=found.total, cursor=found.cursor
    )


def _within(seconds: float) -> Callable[[], bool]:
    until = time.monotonic() + seconds
    return lambda: time.monotonic() > until
