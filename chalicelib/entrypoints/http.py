"""The base of every HTTP route: who calls and what was sent."""

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from chalice.app import Blueprint, Response
from pydantic import BaseModel

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.validation import validated
from chalicelib.entrypoints.answers import answered
from chalicelib.entrypoints.auth.api_keys import ApiKeyVerifier
from chalicelib.entrypoints.auth.authenticator import Authenticator
from chalicelib.entrypoints.auth.tokens import TokenVerifier, issuers
from chalicelib.errors import InvalidInput, MalformedRequest, NotFound, TooLarge

MAX_BODY_BYTES = 1 << 20  # spec/api.md "Limits"
Handler = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """One request to a route that knows its caller. Header names are lower case."""

    caller: Caller
    headers: Mapping[str, str]
    raw_query: Mapping[str, list[str]]
    raw_body: bytes
    services: Container

    def body(self) -> dict[str, Any]:
        """The body as a JSON object; an empty one where none was sent. MalformedRequest where it is something else."""
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

    def query[T: BaseModel](self, model: type[T]) -> T:
        """The query string as a `model`. InvalidInput for an unknown or repeated name."""
        for name, values in self.raw_query.items():
            if len(values) > 1:
                raise InvalidInput(name, "is given more than once")
        return validated(model, {name: values[0] for name, values in self.raw_query.items()})

    def if_match(self) -> int | None:
        """The revision that If-Match names; None without the header."""
        value = self.headers.get("if-match")
        if value is None:
            return None
        number = value.strip().removeprefix("W/").strip('"')
        if not (number.isascii() and number.isdigit() and len(number) < 10):  # noqa: PLR2004 - no revision is longer
            raise InvalidInput("If-Match", 'must be a revision such as "3"')
        return int(number)


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
def authenticator(services: Container) -> Authenticator:
    """The authenticator of a container, made once for it."""
    settings = services.settings.auth
    keys = ApiKeyVerifier(services.ports.keys, services.ports.clock, settings.key_cache_seconds)
    return Authenticator(keys, TokenVerifier(issuers(settings.issuers)))


def route(blueprint: Blueprint, path: str, method: str) -> Callable[[Handler], Handler]:
    """Register a handler that takes a Call and the path's parameters, decoded once."""

    def register(handler: Handler) -> Handler:
        def view(**parameters: str) -> Response:
            return answered(
                blueprint.current_request,
                lambda services, headers: handler(_call(blueprint, services, headers), **_decoded(parameters)),
            )

        return _registered(blueprint, path, method, handler, view)

    return register


def open_route(blueprint: Blueprint, path: str, method: str) -> Callable[[Handler], Handler]:
    """Register a handler that anyone may call; it takes the container, and the caller where a credential was given.

    It has no query parameters."""

    def register(handler: Handler) -> Handler:
        def view() -> Response:
            def work(services: Container, headers: Mapping[str, str]) -> Any:
                caller = authenticator(services).caller_if_any(headers)
                for name in blueprint.current_request.query_params or {}:
                    raise InvalidInput(name, "is not a known field")
                return handler(services, caller)

            return answered(blueprint.current_request, work)

        return _registered(blueprint, path, method, handler, view)

    return register


def _registered(blueprint: Blueprint, path: str, method: str, handler: Handler, view: Handler) -> Handler:
    view = functools.wraps(handler)(view)
    # content_types=[]: a wrong type is not Chalice's 415 but our own answer to a body that is no JSON
    blueprint.route(path, methods=[method], content_types=[], name=f"{view.__module__}.{view.__name__}")(view)
    return view


def _call(blueprint: Blueprint, services: Container, headers: Mapping[str, str]) -> Call:
    caller = authenticator(services).caller(headers)
    caller.require(Role.MEMBER, Role.OBSERVER)
    request = blueprint.current_request
    sent = request.query_params
    query = {name: sent.getlist(name) for name in sent} if sent else {}
    body = request.raw_body
    return Call(caller, headers, query, body.encode() if isinstance(body, str) else body or b"", services)
