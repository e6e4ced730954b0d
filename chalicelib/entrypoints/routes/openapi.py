"""`/openapi.json`: the contract of every route, for anyone."""

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Any

from chalice.app import Blueprint, Chalice

from chalicelib.domain.caller import Caller
from chalicelib.entrypoints.answers import Reply
from chalicelib.entrypoints.contract import Gives
from chalicelib.entrypoints.http import open_route, operations

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

blueprint = Blueprint(__name__)


@open_route(blueprint, "/openapi.json", "GET", Gives(dict[str, Any], etag=True))
def openapi(services: "Container", caller: Caller | None) -> Any:  # noqa: ARG001 - the same for everyone
    """The contract of every route as an OpenAPI 3.1 document. Its version is the product's, its ETag its content's."""
    return _document(blueprint.current_app)


@functools.cache
def _document(app: Chalice) -> Reply:
    from chalicelib.entrypoints.openapi import document  # noqa: PLC0415 - a cold start pays nothing for it

    made = document(operations(app))
    version = hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()[:16]
    return Reply(made, {"ETag": f'"{version}"'})
