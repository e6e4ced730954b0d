"""From what a handler gives, or the error it raises, to an HTTP response. Here is the one map from errors to statuses."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from chalice.app import Request, Response
from pydantic import BaseModel

from chalicelib import errors
from chalicelib.bootstrap import container
from chalicelib.domain.budget import budget
from chalicelib.domain.keys import new_id
from chalicelib.entrypoints.contract import on_wire
from chalicelib.entrypoints.tracing import trace

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

RETRY_AFTER_SECONDS = 1

STATUS: dict[type[errors.VittoError], HTTPStatus] = {
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.MalformedRequest: HTTPStatus.BAD_REQUEST,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.DuplicateContent: HTTPStatus.CONFLICT,
    errors.IdempotencyConflict: HTTPStatus.CONFLICT,
    errors.InProgress: HTTPStatus.CONFLICT,
    errors.BeingErased: HTTPStatus.CONFLICT,
    errors.StaleRevision: HTTPStatus.PRECONDITION_FAILED,
    errors.RevisionRequired: HTTPStatus.PRECONDITION_REQUIRED,
    errors.TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.NotSupported: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EmbeddingFailed: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EmbeddingMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.LanguageModelFailed: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.LanguageModelUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.Misconfigured: HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""Whatever is not here is a 500 that says nothing but its request id, and so is what is a 500 here."""

_INTERNAL = ("internal", "something went wrong here; the request id finds it in the log")


@dataclass(frozen=True)
class Reply:
    """An answer with headers of its own, or with another status than its route's."""

    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    status: HTTPStatus | None = None


def answered(
    request: Request, work: "Callable[[Container, Mapping[str, str]], Any]", status: HTTPStatus = HTTPStatus.OK
) -> Response:
    """The response of `work(container, lower-case headers)`, which answers a model, a JSON object, or a Reply of one."""
    request_id = new_id("req")
    try:
        headers = {str(name).lower(): str(value) for name, value in request.headers.items()}
        services = container()
        with budget(services.settings.http.seconds):
            value = work(services, headers)
        reply = value if isinstance(value, Reply) else Reply(value)
        body = on_wire(reply.body) if isinstance(reply.body, BaseModel) else reply.body
    except Exception as error:  # noqa: BLE001 - the last line: nothing of it may reach the caller
        return _failed(error, request_id, request.path)
    return _response(body, int(reply.status or status), request_id, reply.headers)


def error_body(code: str, message: str, details: Mapping[str, Any], request_id: str) -> dict[str, Any]:
    """The one shape of every error."""
    return {"error": {"code": code, "message": message, "details": {**details, "requestId": request_id}}}


def _failed(error: Exception, request_id: str, path: str) -> Response:
    known = [STATUS[kind] for kind in type(error).__mro__ if kind in STATUS]
    status = known[0] if known else HTTPStatus.INTERNAL_SERVER_ERROR
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        _say(error, request_id, path)
    (code, message), details = _INTERNAL, {}
    if isinstance(error, errors.VittoError) and status != HTTPStatus.INTERNAL_SERVER_ERROR:
        code, message, details = error.code, error.message, error.details
    headers = {}
    if status == HTTPStatus.SERVICE_UNAVAILABLE or isinstance(error, errors.InProgress):
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return _response(error_body(code, message, details, request_id), int(status), request_id, headers)


def _response(body: Any, status: int, request_id: str, extra: Mapping[str, str]) -> Response:
    headers: dict[str, Any] = {"Content-Type": "application/json", "Vitto-Request-Id": request_id, **extra}
    # an error may repeat a field's name as it came, be it no valid Unicode: those go out escaped
    text = json.dumps(body, ensure_ascii=status >= HTTPStatus.BAD_REQUEST)
    return Response(text, status_code=status, headers=headers)


def _say(error: Exception, request_id: str, path: str) -> None:
    reason = error.message if isinstance(error, errors.VittoError) else trace(error)
    try:
        telemetry = container().ports.telemetry
    except errors.VittoError as problem:  # misconfigured: there is no telemetry to say it with
        print(json.dumps({"level": "ERROR", "message": problem.message, "requestId": request_id}))
        return
    telemetry.event("request_failed", level="error", request_id=request_id, path=path, reason=reason)
