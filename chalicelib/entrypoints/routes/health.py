"""`/health`: each store probed for real."""

import functools
from typing import Any

from chalice.app import Blueprint

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.entrypoints.health import Health, public
from chalicelib.entrypoints.http import open_route

blueprint = Blueprint(__name__)


@open_route(blueprint, "/health", "GET")
def health(services: Container, caller: Caller | None) -> Any:
    """Up or not, for anyone; versions, latencies and rows pending for admins. 503 where MongoDB is down."""
    report = _health(services).report()
    shown = report if caller is not None and caller.is_admin else public(report)
    return shown, 503 if report["status"] == "down" else 200, {}


@functools.cache
def _health(services: Container) -> Health:
    return Health(services)
