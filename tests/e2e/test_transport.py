"""What HTTP itself promises: bodies, methods, paths, hosts and origins, each refused in the one shape of errors."""

import json
from itertools import product
from typing import Any

import pytest

from app import app
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.http import MAX_BODY_BYTES
from chalicelib.settings import HttpSettings, Settings
from tests.e2e.client import Api, absent
from tests.e2e.conftest import Serve
from tests.e2e.surface import OPEN, ROUTES, Ask, path_of

CONSOLE = "https://console.test"
WITH_BODY = [route for route, asks in ROUTES.items() if any(ask.body is not None for ask in asks)]
ALL_ROLES = (Role.MEMBER, Role.REVIEWER, Role.ADMIN)
NO_OBJECTS = (
    *(b"{", b"not json", b"'x'", b"\x00", b'{"content": "x"} {}', b"[" * 100_000, b'{"a":' * 50_000),
    *(b"[]", b'[{"content": "x"}]', b'"x"', b"3", b"null"),
    *(b'{"content": NaN}', b'{"x": -Infinity}', b'{"importance": 1' + b"0" * 5000 + b"}"),
    *(b'{"content": "\xff"}', b"\xc3\x28"),
)
UNKNOWN = (
    *("/", "//", "/engine", "/engine/", "/engine/nothing", "/engine/recalls", "/engine/memories/x/revisions"),
    *(
        "/engine/memories/",
        "/engine/memories/x/",
        "/health/",
        "/engine/memories/recall/",
        "/engine/memories/x/restore/",
    ),
    *("/engine/memories/x/y/z", "//engine/memories", "/engine//memories", "/Engine/Memories", "/engine/../health"),
    *("/engine/memories;x", "/engine;x/memories", "/health;x", "/engine/recalls;"),
    *("/engine/memories%2Fx", "/engine/%6demories", "/%", "/%00", "/名前", "/.env", "/console/../app.py", "/x" * 2000),
)
FOREIGN = (
    *("https://evil.test", "https://console.test.evil.test", "https://vitto.test", "null", "*", ""),
    *("http://console.test", "https://console.test:1", "http://vitto.test:81"),
)
FITTING: dict[str, dict[str, str]] = {"PATCH": {"If-Match": '"1"'}}


@pytest.mark.parametrize(("method", "pattern"), WITH_BODY)
def test_a_body_that_is_no_json_object_is_malformed(api: Api, method: str, pattern: str) -> None:
    admin, path = api.user("ana", *ALL_ROLES), path_of(pattern, absent())
    for body in NO_OBJECTS:
        reply = admin.send(method, path, body, headers=FITTING.get(method))
        assert reply.refusal == (400, "malformed_request"), body[:30]


@pytest.mark.parametrize(("method", "pattern"), [one for one in ROUTES if one not in WITH_BODY])
def test_a_field_that_a_request_without_a_body_would_ignore_is_named(api: Api, method: str, pattern: str) -> None:
    admin, path = api.user("ana", *ALL_ROLES), path_of(pattern, absent())
    asked = ROUTES[method, pattern][0]
    reply = admin.send(method, path, b'{"purge": true}', asked.query, FITTING.get(method))
    assert (reply.status, reply.field) == (422, "purge")
    assert admin.send(method, path, b" {} ", asked.query, FITTING.get(method)).refusal != (422, "invalid_input")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"content": "x", "content": "y"}', "content"),
        (b'{"content": "x", "origin": {"speaker": "a", "speaker": "b"}}', "speaker"),
        (b'{"memories": [{"content": "x"}], "memories": [{"content": "y"}]}', "memories"),
        (b'{"content": "x", "importance": 1e400}', "importance"),
        (b"", "content"),
        (b" \n ", "content"),
    ],
)
def test_a_field_that_stands_twice_or_nowhere_is_named(api: Api, body: bytes, field: str) -> None:
    assert api.user().post("/engine/memories", body).field == field


@pytest.mark.parametrize(("method", "pattern"), [*ROUTES, *sorted(OPEN)])
@pytest.mark.parametrize("over", [1, 4 * MAX_BODY_BYTES])
def test_a_body_over_one_megabyte_is_too_large(api: Api, method: str, pattern: str, over: int) -> None:
    body = b" " * (MAX_BODY_BYTES + over)
    assert api.user().send(method, path_of(pattern, absent()), body).refusal == (413, "too_large")


def test_a_body_of_one_megabyte_is_read(api: Api) -> None:
    body = json.dumps({"content": "x"}).encode()
    assert api.user().post("/engine/memories", body + b" " * (MAX_BODY_BYTES - len(body))).status == 200


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/octet-stream", "image/png", "x", "a/b; c=d"])
def test_a_json_body_is_read_whatever_type_it_is_said_to_have(api: Api, content_type: str) -> None:
    reply = api.user().post("/engine/memories", {"content": "Ana mora em São João"}, {"Content-Type": content_type})
    assert reply.status == 200, reply.body
    assert api.user().listed() == ["Ana mora em São João"]


@pytest.mark.parametrize(("method", "pattern"), [*ROUTES, *sorted(OPEN)])
def test_a_query_parameter_that_is_not_known_is_named(api: Api, method: str, pattern: str) -> None:
    admin = api.user("ana", *ALL_ROLES)
    path, asked = path_of(pattern, absent()), ROUTES.get((method, pattern), (Ask(),))[0]
    for unknown, field in (("colour=red", "colour"), ("_=", "_"), ("scope_id=ana", "scope_id")):
        query = f"{asked.query}&{unknown}" if asked.query else unknown
        assert admin.send(method, path, asked.body, query, FITTING.get(method)).field == field


@pytest.mark.filterwarnings("ignore:Unknown REQUEST_METHOD")
@pytest.mark.parametrize("path", sorted(app.routes))
def test_a_path_names_its_methods_to_those_who_try_others(api: Api, path: str) -> None:
    served = set(app.routes[path])
    concrete = path_of(path, absent())
    for method in {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "get", "FOO"} - served:
        if method == "HEAD" and "GET" in served:
            continue
        reply = api.user().send(method, concrete)
        assert reply.status == 405
        assert method == "HEAD" or reply.refusal == (405, "method_not_allowed")
        assert set(reply.headers["allow"].split(", ")) == served
    preflight = api.send("OPTIONS", concrete)
    assert (preflight.status, preflight.body) == (204, b"")
    assert set(preflight.headers["allow"].split(", ")) == served


@pytest.mark.parametrize("path", ["/health", "/engine/memories", "/engine/keys", "/engine/memories/{}"])
def test_head_answers_as_get_without_the_body(api: Api, path: str) -> None:
    root = api.user("root", *ALL_ROLES)
    path = path.replace("{}", root.remember("x"))
    get, head = root.get(path), root.send("HEAD", path)
    same = ("content-type", "etag")
    assert head.body == b""
    assert head.status == get.status == 200
    assert [head.headers.get(name) for name in same] == [get.headers.get(name) for name in same]
    assert int(head.headers["content-length"]) > 0
    assert api.send("HEAD", "/engine/memories").status == 401


@pytest.mark.parametrize("path", UNKNOWN)
def test_an_unknown_path_is_not_found_and_shows_nothing_of_the_credential(api: Api, path: str) -> None:
    key = "vk_01k5zzzzzzzz_" + "x" * 43
    for method, authorization in product(("GET", "POST", "DELETE"), (f"Bearer {key}", "名前", None)):
        headers = {} if authorization is None else {"Authorization": authorization}
        reply = api.send(method, path, headers=headers)
        assert reply.refusal == (404, "not_found"), reply.body
        assert "Bearer" not in str(reply)
        assert key not in str(reply)


@pytest.mark.parametrize("host", ["vitto.test", "vitto.test:8000", "[::1]:8000", "[::1]"])
def test_a_server_with_a_list_of_hosts_answers_to_these(serve: Serve, host: str) -> None:
    api = serve(Settings(http=HttpSettings(allowed_hosts="vitto.test, [::1]")))
    assert api.send("GET", "/health", host=host).status == 200


@pytest.mark.parametrize("host", ["evil.test", "vitto.test.evil.test", "evil.test:80", "x@vitto.test", "localhost", ""])
def test_a_server_with_a_list_of_hosts_answers_to_no_other(serve: Serve, host: str) -> None:
    api = serve(Settings(http=HttpSettings(allowed_hosts="vitto.test, [::1]")))
    for method, path in (("GET", "/health"), ("OPTIONS", "/health"), ("GET", "/engine/memories"), ("GET", "/nothing")):
        reply = api.send(method, path, host=host, headers={"Authorization": f"Bearer {api.key()}"})
        expected = 404 if path == "/nothing" else 403
        assert reply.status in {403, expected}
        assert reply.status == 404 or reply.refusal == (403, "forbidden")


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_foreign_origin_may_not_call(serve: Serve, origin: str) -> None:
    api = serve(Settings(http=HttpSettings(allowed_origins=CONSOLE)))
    ana = api.user()
    for method, body in (("GET", None), ("POST", {"content": "planted"}), ("OPTIONS", None)):
        reply = ana.send(method, "/engine/memories", body, headers={"Origin": origin})
        assert reply.refusal == (403, "forbidden")
        assert not [name for name in reply.headers if name.startswith("access-control-allow-origin")]
    assert ana.listed() == []


def test_no_origin_may_call_where_none_is_allowed_but_the_servers_own(api: Api) -> None:
    ana = api.user()
    assert ana.send("GET", "/engine/memories", headers={"Origin": CONSOLE}).refusal == (403, "forbidden")
    assert ana.send("GET", "/engine/memories", headers={"Origin": "http://vitto.test"}).status == 200


def test_an_allowed_origin_may_call_and_read_what_it_needs(serve: Serve) -> None:
    api = serve(Settings(http=HttpSettings(allowed_origins=f"https://other.test, {CONSOLE}")))
    ana, origin = api.user(), {"Origin": CONSOLE}
    preflight = api.send("OPTIONS", "/engine/memories/x", headers=origin | {"Access-Control-Request-Method": "PATCH"})
    assert preflight.status == 204
    assert set(preflight.headers["access-control-allow-methods"].split(", ")) == {"GET", "PATCH", "DELETE"}
    allowed = preflight.headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key", "if-match", "vitto-user"} <= set(allowed)
    replies = [preflight, ana.send("GET", "/engine/memories", headers=origin)]
    replies += [api.send("GET", "/engine/memories", headers=origin), api.send("GET", "/nothing", headers=origin)]
    for reply in replies:
        assert reply.headers["access-control-allow-origin"] == CONSOLE
        assert reply.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in reply.headers
    exposed = replies[1].headers["access-control-expose-headers"].lower().split(", ")
    assert {"etag", "vitto-request-id"} <= set(exposed)


def test_requests_have_ids_of_their_own(api: Api) -> None:
    ids: list[Any] = [
        api.send("GET", path).headers["vitto-request-id"] for path in ("/health", "/x", "/engine/keys") * 3
    ]
    assert len(set(ids)) == len(ids)
