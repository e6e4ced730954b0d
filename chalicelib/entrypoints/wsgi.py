"""The one WSGI callable: the same application on any runtime that is not Lambda (`gunicorn "app:wsgi()"`).

Requests go through Chalice's local gateway, whose ways differ from HTTP's in a dozen places (shared facts); what it would
get wrong is settled before it is asked.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlsplit

from chalice.app import Chalice
from chalice.config import Config
from chalice.local import LocalGateway

from chalicelib.bootstrap import container
from chalicelib.domain.keys import new_id
from chalicelib.entrypoints.answers import error_body
from chalicelib.entrypoints.http import MAX_BODY_BYTES, authenticator

Environ = dict[str, Any]
StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Answer = tuple[int, dict[str, str], bytes]
CHUNK = 65536


class WsgiApplication:
    """WSGI over the Chalice application."""

    def __init__(self, app: Chalice) -> None:
        self._gateway = LocalGateway(app, Config.create(lambda_timeout=29))
        self._routes = [(pattern.split("/"), set(methods)) for pattern, methods in app.routes.items()]
        hosts = container().settings.http.allowed_hosts
        origins = container().settings.http.allowed_origins
        authenticator(container())  # a wrong setting stops the start, not the first request
        self._hosts = {host.strip() for host in hosts.split(",") if host.strip()}
        self._origins = {origin.strip() for origin in origins.split(",") if origin.strip()}

    def __call__(self, environ: Environ, start: StartResponse) -> Iterable[bytes]:
        origin = environ.get("HTTP_ORIGIN")
        status, headers, body = self._respond(environ, origin)
        if origin in self._origins:
            headers |= {
                "Access-Control-Allow-Origin": origin,
                "Vary": "Origin",
                "Access-Control-Expose-Headers": "ETag, Vitto-Request-Id",
            }
        headers["Content-Length"] = str(len(body))
        start(f"{status} {HTTPStatus(status).phrase}", list(headers.items()))
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _respond(self, environ: Environ, origin: str | None) -> Answer:
        path, method = _raw_path(environ), environ["REQUEST_METHOD"]
        methods = self._methods(path)
        if refusal := self._refusal(environ, origin) or _unroutable(method, methods):
            return refusal
        if method == "OPTIONS":
            return 204, _preflight(methods), b""
        body = _body(environ)
        if body is None:
            return _error(413, "too_large", f"the body is over {MAX_BODY_BYTES} bytes")
        return self._dispatch("GET" if method == "HEAD" else method, path, environ, body)

    def _refusal(self, environ: Environ, origin: str | None) -> Answer | None:
        if self._hosts and _host(environ) not in self._hosts:
            return _error(403, "forbidden", "this server does not answer to that Host")
        if origin is not None and origin not in self._origins | _own_origins(environ):
            return _error(403, "forbidden", "this Origin may not call")
        return None

    def _dispatch(self, method: str, path: str, environ: Environ, body: bytes) -> Answer:
        headers = dict(_headers(environ)) | {"content-type": environ.get("CONTENT_TYPE") or "application/json"}
        target = path + (f"?{environ['QUERY_STRING']}" if environ.get("QUERY_STRING") else "")
        response = self._gateway.handle_request(method, target, headers, body)
        text = response["body"]
        out = {name: str(value) for name, value in response["headers"].items()}
        return response["statusCode"], out, text.encode() if isinstance(text, str) else text

    def _methods(self, path: str) -> set[str]:
        """The methods of the route that the gateway will choose: literal parts win over parameters."""
        parts = path.split("/")
        fitting = [(pattern, methods) for pattern, methods in self._routes if _fits(pattern, parts)]
        return min(fitting, key=lambda item: item[0])[1] if fitting else set()


def _unroutable(method: str, methods: set[str]) -> Answer | None:
    if not methods:
        return _error(404, "not_found", "no such path")
    if method not in methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set()):
        status, headers, body = _error(405, "method_not_allowed", f"{method} is not a method of this path")
        return status, headers | {"Allow": ", ".join(sorted(methods))}, body
    return None


def _fits(pattern: list[str], parts: list[str]) -> bool:
    return len(pattern) == len(parts) and all(
        bool(part) if name.startswith("{") else name == part for name, part in zip(pattern, parts, strict=True)
    )


def _raw_path(environ: Environ) -> str:
    """The path as sent, one decoding taken from ids: `%2F` in an id stays in it. gunicorn gives it as RAW_URI."""
    raw = environ.get("RAW_URI") or quote(environ.get("PATH_INFO", "/").encode("latin-1"))
    path = urlsplit(raw).path if "://" in raw.partition("?")[0] else raw.partition("?")[0]  # a proxy may send it whole
    path = path.replace(";", "%3B")  # the gateway would take what follows for parameters, and drop it
    return path if path.startswith("/") else f"/{path}"


def _headers(environ: Environ) -> Iterator[tuple[str, str]]:
    for name, value in environ.items():
        if name.startswith("HTTP_"):
            yield name[5:].replace("_", "-").lower(), _text(value)


def _text(value: str) -> str:
    """A header's value as UTF-8, which is what clients send ids in; WSGI gives bytes as Latin-1."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _host(environ: Environ) -> str:
    host: str = environ.get("HTTP_HOST", "")
    return host.rsplit(":", 1)[0] if not host.endswith("]") else host


def _own_origins(environ: Environ) -> set[str]:
    return {f"{environ.get('wsgi.url_scheme', 'http')}://{environ.get('HTTP_HOST', '')}"}


def _body(environ: Environ) -> bytes | None:
    """The body, or None where it is over the limit, however it was announced."""
    chunks, size = [], 0
    stream = environ["wsgi.input"]
    while data := stream.read(CHUNK):
        size += len(data)
        if size > MAX_BODY_BYTES:
            return None
        chunks.append(data)
    return b"".join(chunks)


def _preflight(methods: set[str]) -> dict[str, str]:
    return {
        "Allow": ", ".join(sorted(methods)),
        "Access-Control-Allow-Methods": ", ".join(sorted(methods)),
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, If-Match, Vitto-User",
        "Access-Control-Max-Age": "600",
    }


def _error(status: int, code: str, message: str) -> Answer:
    request_id = new_id("req")
    body = json.dumps(error_body(code, message, {}, request_id)).encode()
    return status, {"Content-Type": "application/json", "Vitto-Request-Id": request_id}, body
