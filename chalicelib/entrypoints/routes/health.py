"""`/health`: each store probed for real."""

import functools
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from chalice.app import Blueprint

from chalicelib.domain.caller import Caller
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import Gives
from chalicelib.entrypoints.health import AdminHealth, Health, PublicHealth, public
from chalicelib.entrypoints.http import open_route

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

blueprint = Blueprint(__name__)


@open_route(blueprint, "/health", "GET", Gives(AdminHealth | PublicHealth, otherwise=HTTPStatus.SERVICE_UNAVAILABLE))
def health(services: "Container", caller: Caller | None) -> Any:
    """Up or not, for anyone; versions, latencies and rows pending for admins. 503 where MongoDB is down."""
    report = _health(services).report()
    is_admin = caller is not None and caller.is_admin
    shown = AdminHealth.model_validate(report) if is_admin else PublicHealth.model_validate(public(report))
    return Reply(shown, status=HTTPStatus.SERVICE_UNAVAILABLE if report["status"] == "down" else HTTPStatus.OK)


@functools.cache
def _health(services: "Container") -> Health:
    return Health(services)
