"""A client that speaks WSGI to the application in process, as a server would, and holds every answer to the contract."""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from wsgiref.validate import validator

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.entrypoints.http import authenticator
from chalicelib.entrypoints.wsgi import WsgiApplication

DOCUMENTED = {
    code: int(status)
    for code, status in re.findall(
        r"^\| `(\w+)` \| (\d{3}) \|",
        (Path(__file__).parents[2] / "docs" / "errors.md").read_text(),
        re.MULTILINE,
    )
}
"""The status of every error code, as `docs/errors.md` lists them."""


@dataclass(frozen=True)
class Reply:
    """An answer. Header names are lower case; `json` is None where there is no body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body) if self.body else None

    @property
    def error(self) -> dict[str, Any]:
        """What stands under `error`."""
        found: dict[str, Any] = self.json["error"]
        return found

    @property
    def refusal(self) -> tuple[int, str]:
        """Status and code of an error."""
        return self.status, str((self.json or {}).get("error", {}).get("code", "no error"))

    @property
    def field(self) -> str:
        """The field that a 422 names."""
        assert self.refusal == (422, "invalid_input"), self.body
        return str(self.error["details"]["field"])

    @property
    def anonymous(self) -> tuple[int, dict[str, Any]]:
        """Status and body without the request's id: what two refusals that may not differ have in common."""
        said = self.json
        said["error"]["details"].pop("requestId")
        return self.status, said


@dataclass(frozen=True)
class Api:
    """The application over one container. `org` is the organization that callers are made in."""

    services: Container
    wsgi: WsgiApplication
    org: str

    def key(
        self,
        user: str = "ana",
        *roles: Role,
        org: str | None = None,
        spaces: tuple[str, ...] = (),
        universes: tuple[str, ...] = (),
        act_as: bool = False,
        expires_at: datetime | None = None,
    ) -> str:
        """A fresh API key; a member's unless roles are given."""
        stored, shown = mint(
            org_id=org or self.org,
            name="test",
            user_id=user,
            roles=roles or (Role.MEMBER,),
            now=self.services.ports.clock(),
            created_by="root",
            spaces=spaces,
            universes=universes,
            act_as=act_as,
            expires_at=expires_at,
        )
        self.services.ports.keys.add(stored)
        return shown

    def user(self, user: str = "ana", *roles: Role, **grants: Any) -> "User":
        """A caller with a key of its own."""
        return User(self, {"Authorization": f"Bearer {self.key(user, *roles, **grants)}"})

    def index(self, user: "User") -> None:
        """Have the hot index of every scope that `user` sees complete, as the worker would within a second or two."""
        for scope in authenticator(self.services).caller({"authorization": user.headers["Authorization"]}).chain.keys:
            self.services.maintenance.rebuild(scope)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: str = "",
        headers: Mapping[str, str] | None = None,
        scheme: str = "http",
        host: str = "vitto.test",
    ) -> Reply:
        """Send a request and check of its answer what holds for all. `body` is sent as it is where it is bytes."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        environ = _environ(method, path, query, raw, scheme, host)
        environ |= {_variable(name): value.encode().decode("latin-1") for name, value in (headers or {}).items()}
        reply = _call(self.wsgi, environ)
        _check(reply, method)
        return reply


@dataclass(frozen=True)
class User:
    """A caller: the headers of its credential, and what it asks."""

    api: Api
    headers: Mapping[str, str] = field(repr=False)

    def acting_for(self, user: str) -> "User":
        """The same key, acting for `user`."""
        return User(self.api, {**self.headers, "Vitto-User": user})

    def send(
        self, method: str, path: str, body: Any = None, query: str = "", headers: Mapping[str, str] | None = None
    ) -> Reply:
        """A request with the credential."""
        return self.api.send(method, path, body, query=query, headers={**self.headers, **(headers or {})})

    def get(self, path: str, query: str = "") -> Reply:
        """GET."""
        return self.send("GET", path, query=query)

    def post(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """POST."""
        return self.send("POST", path, body, headers=headers)

    def patch(self, id_: str, changes: Any, revision: int | str | None = None) -> Reply:
        """An edit made against `revision`."""
        headers = {} if revision is None else {"If-Match": str(revision)}
        return self.send("PATCH", f"/engine/memories/{id_}", changes, headers=headers)

    def forget(self, id_: str, query: str = "") -> Reply:
        """DELETE of a memory."""
        return self.send("DELETE", f"/engine/memories/{id_}", query=query)

    def receipt(self, content: str, **item: Any) -> dict[str, Any]:
        """The receipt of a memory that the service took."""
        reply = self.post("/engine/memories", {"content": content, **item})
        assert reply.status == 200, reply.body
        (found,) = reply.json["receipts"]
        return dict(found)

    def remember(self, content: str, **item: Any) -> str:
        """The id of a memory that was stored."""
        found = self.receipt(content, **item)
        assert found["outcome"] == "stored", found
        return str(found["id"])

    def read(self, id_: str) -> dict[str, Any]:
        """A memory that is there."""
        reply = self.get(f"/engine/memories/{id_}")
        assert reply.status == 200, reply.body
        return dict(reply.json)

    def answer(self, query: str, **asked: Any) -> dict[str, Any]:
        """A recall's answer."""
        reply = self.post("/engine/memories/recall", {"query": query, **asked})
        assert reply.status == 200, reply.body
        return dict(reply.json)

    def recalled(self, query: str, **asked: Any) -> list[str]:
        """The contents that a recall brings, in order."""
        return [hit["memory"]["content"] for hit in self.answer(query, **asked)["hits"]]

    def listed(self, query: str = "") -> list[str]:
        """The contents that browsing lists on its first page."""
        reply = self.get("/engine/memories", query)
        assert reply.status == 200, reply.body
        return [memory["content"] for memory in reply.json["memories"]]


def absent(prefix: str = "mem") -> str:
    """An id of which nothing is stored."""
    return new_id(prefix)


def _variable(header: str) -> str:
    name = header.upper().replace("-", "_")
    return name if name == "CONTENT_TYPE" else f"HTTP_{name}"


def _environ(method: str, path: str, query: str, body: bytes, scheme: str, host: str) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": method,
        "RAW_URI": path + (f"?{query}" if query else ""),
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": host,
        "SERVER_NAME": "vitto.test",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scheme,
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }


def _call(wsgi: WsgiApplication, environ: dict[str, Any]) -> Reply:
    if not environ["CONTENT_TYPE"]:
        del environ["CONTENT_TYPE"]
    started: list[tuple[str, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], _: Any = None, /) -> Callable[[bytes], object]:
        started.append((status, headers))
        return lambda _: None

    answer = validator(wsgi)(environ, start)
    try:
        body = b"".join(answer)
    finally:
        answer.close()  # type: ignore[attr-defined]
    ((status, headers),) = started
    assert not (status.startswith("500") and b'"Code"' in body), f"Chalice answered, not the service: {body!r}"
    assert len({name.lower() for name, _ in headers}) == len(headers), f"a header twice: {headers}"
    return Reply(int(status.split()[0]), {name.lower(): value for name, value in headers}, body)


def _check(reply: Reply, method: str) -> None:
    """What holds for every answer, whatever was asked."""
    if method != "HEAD":
        assert int(reply.headers["content-length"]) == len(reply.body)
    if method == "OPTIONS" and reply.status == 204:
        return
    assert reply.headers["content-type"] == "application/json", reply.body
    assert reply.headers["vitto-request-id"].startswith("req_"), reply.body
    if reply.status < 400 or method == "HEAD" or "error" not in reply.json:
        assert reply.status < 400 or method == "HEAD" or reply.status == 503, reply.body
        return
    assert reply.json.keys() == {"error"}
    assert reply.error.keys() == {"code", "message", "details"}
    assert DOCUMENTED[reply.error["code"]] == reply.status, reply.body
    assert reply.error["details"]["requestId"] == reply.headers["vitto-request-id"]
    assert ("retry-after" in reply.headers) == (reply.status == 503 or reply.error["code"] == "in_progress")
    assert ("www-authenticate" in reply.headers) == (reply.status == 401)
