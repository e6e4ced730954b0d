"""The base of every HTTP route: who calls and what was sent."""

import functools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Concatenate
from urllib.parse import unquote

from chalice.app import Blueprint, Chalice, Response

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.answers import answered
from chalicelib.entrypoints.auth.api_keys import ApiKeyVerifier
from chalicelib.entrypoints.auth.authenticator import Authenticator
from chalicelib.entrypoints.auth.tokens import TokenVerifier, issuers
from chalicelib.entrypoints.contract import (
    NOTHING,
    REVISION_HEADER,
    Gives,
    NoQuery,
    Operation,
    RequestHeader,
    Takes,
)
from chalicelib.errors import InvalidInput, MalformedRequest, NotFound, TooLarge, VittoError

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

MAX_BODY_BYTES = 1 << 20  # spec/api.md "Limits"
Handler = Callable[..., Any]


@dataclass(frozen=True)
class Call[Q: Wire = NoQuery, B = None]:
    """One request to a route that knows its caller. Header names are lower case; `query` is what the route declared."""

    caller: Caller
    headers: Mapping[str, str]
    query: Q
    raw_body: bytes
    takes: Takes[Q, B]
    services: "Container"

    @cached_property
    def body(self) -> B:
        """The body as the route declared it. MalformedRequest where it is no JSON object, else InvalidInput."""
        return self.takes.read(self._sent())

    def refuse_fields(self) -> None:
        """InvalidInput where a body was sent to a route that takes none: what it asks for would be ignored."""
        for name in self._sent():
            raise InvalidInput(name, "is not a known field: this request has no body")

    def _sent(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one where none was sent."""
        if len(self.raw_body) > MAX_BODY_BYTES:
            raise TooLarge(f"the body is over {MAX_BODY_BYTES} bytes", limit=MAX_BODY_BYTES)
        if not self.raw_body.strip():
            return {}
        try:
            value = json.loads(self.raw_body, parse_constant=_no_constant, object_pairs_hook=_no_repeats)
        except (ValueError, RecursionError):
            raise MalformedRequest("the body is not valid JSON") from None
        if not isinstance(value, dict):
            raise MalformedRequest("the body must be a JSON object")
        return value

    def if_match(self) -> int | None:
        """The revision that If-Match names; None without the header."""
        value = self.headers.get("if-match")
        if value is None:
            return None
        if not re.fullmatch(REVISION_HEADER, value.strip()):
            raise InvalidInput("If-Match", 'must be a revision such as "3"')
        return int(value.strip().removeprefix("W/").strip('"'))


def _decoded(parameters: dict[str, str]) -> dict[str, str]:
    try:
        return {name: unquote(value, errors="strict") for name, value in parameters.items()}
    except UnicodeDecodeError:
        raise NotFound("no such path") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise InvalidInput(_repeated([name for name, _ in pairs]), "is given more than once")
    return value


def _repeated(names: list[str]) -> str:
    return next(name for i, name in enumerate(names) if name in names[:i])


@functools.cache
def authenticator(services: "Container") -> Authenticator:
    """The authenticator of a container, made once for it."""
    settings = services.settings.auth
    keys = ApiKeyVerifier(services.ports.keys, services.ports.clock, settings.key_cache_seconds)
    return Authenticator(keys, TokenVerifier(issuers(settings.issuers)))


def route[Q: Wire, B](
    blueprint: Blueprint,
    path: str,
    method: str,
    takes: Takes[Q, B],
    gives: Gives,
    *,
    raises: tuple[type[VittoError], ...] = (),
    headers: tuple[RequestHeader, ...] = (),
    for_erased: bool = False,
) -> Callable[[Callable[Concatenate[Call[Q, B], ...], Any]], Handler]:
    """Register a handler that takes a Call of what it `takes` and the path's parameters, decoded once.

    It answers a model that it `gives`, or a Reply; it `raises` these errors besides those of every route. One that is
    `for_erased` also answers callers of whom all is being erased."""

    def register(handler: Callable[Concatenate[Call[Q, B], ...], Any]) -> Handler:
        def view(**parameters: str) -> Response:
            return answered(
                blueprint.current_request,
                lambda services, sent: handler(
                    _call(blueprint, services, sent, takes, for_erased=for_erased), **_decoded(parameters)
                ),
                gives.status,
            )

        operation = _operation(handler, path, method, takes, gives)
        return _registered(blueprint, replace(operation, raises=raises, headers=headers), handler, view)

    return register


def open_route(blueprint: Blueprint, path: str, method: str, gives: Gives) -> Callable[[Handler], Handler]:
    """Register a handler that anyone may call; it takes the container, and the caller where a credential was given.

    It has no query parameters."""

    def register(handler: Handler) -> Handler:
        def view() -> Response:
            def work(services: "Container", headers: Mapping[str, str]) -> Any:
                caller = authenticator(services).caller_if_any(headers)
                _query(blueprint, NoQuery)
                return handler(services, caller)

            return answered(blueprint.current_request, work, gives.status)

        operation = _operation(handler, path, method, NOTHING, gives)
        return _registered(blueprint, replace(operation, is_open=True), handler, view)

    return register


def operations(app: Chalice) -> list[Operation]:
    """What the routes of `app` declared, in the order of their paths."""
    entries = [entry for methods in app.routes.values() for entry in methods.values()]
    declared: list[Operation] = [vars(entry.view_function)["operation"] for entry in entries]
    return sorted(declared, key=lambda operation: (operation.path, operation.method))


def _operation(handler: Handler, path: str, method: str, takes: Takes[Any, Any], gives: Gives) -> Operation:
    feature = handler.__module__.rpartition(".")[2]
    told = " ".join((handler.__doc__ or "").split())
    return Operation(method, path, handler.__name__, feature, told, takes, gives)


def _registered(blueprint: Blueprint, operation: Operation, handler: Handler, view: Handler) -> Handler:
    view = functools.wraps(handler)(view)
    vars(view)["operation"] = operation
    # content_types=[]: a wrong type is not Chalice's 415 but our own answer to a body that is no JSON
    name = f"{view.__module__}.{view.__name__}"
    blueprint.route(operation.path, methods=[operation.method], content_types=[], name=name)(view)
    return view


def _call[Q: Wire, B](
    blueprint: Blueprint, services: "Container", headers: Mapping[str, str], takes: Takes[Q, B], *, for_erased: bool
) -> Call[Q, B]:
    caller = authenticator(services).caller(headers)
    caller.require(Role.MEMBER, Role.OBSERVER)
    if not for_erased:
        services.tombstones.refuse(caller)
    body = blueprint.current_request.raw_body
    raw = body.encode() if isinstance(body, str) else body or b""
    call = Call(caller, headers, _query(blueprint, takes.query), raw, takes, services)
    if takes.body is None:
        call.refuse_fields()
    return call


def _query[Q: Wire](blueprint: Blueprint, model: type[Q]) -> Q:
    """The query string as a `model`. InvalidInput for an unknown or repeated name."""
    sent = blueprint.current_request.query_params
    given = {name: sent.getlist(name) for name in sent} if sent else {}
    for name, values in given.items():
        if len(values) > 1:
            raise InvalidInput(name, "is given more than once")
    return validated(model, {name: values[0] for name, values in given.items()})
