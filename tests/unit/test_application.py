"""Under threads every request stays its caller's own, through the application and through all that it serves."""

import json
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from app import app
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.application import ThreadSafeChalice
from chalicelib.entrypoints.auth.api_keys import mint

THREADS = 16
ROUNDS = 25


def event(method: str, path: str, body: Any = None, *, resource: str = "", **headers: str) -> dict[str, Any]:
    """A request as the gateway hands it to Lambda."""
    return {
        "requestContext": {"resourcePath": resource or path, "httpMethod": method, "path": path},
        "headers": {"content-type": "application/json"} | headers,
        "multiValueQueryStringParameters": None,
        "pathParameters": {},
        "stageVariables": None,
        "body": None if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }


def test_sixteen_callers_at_once_never_see_one_anothers_request() -> None:
    application = ThreadSafeChalice("test")
    barrier = Barrier(THREADS)

    @application.route("/who")
    def who() -> list[str]:
        seen = []
        for _ in range(2):
            barrier.wait(timeout=20)  # all threads are inside a handler, before and after they look
            request = application.current_request
            assert request is not None
            seen.append(request.headers["x-caller"])
        return [*seen, application.lambda_context]

    def ask(caller: str) -> list[str]:
        said: list[str] = []
        for _ in range(ROUNDS):
            answer = application(event("GET", "/who", **{"x-caller": caller}), caller)
            said += json.loads(answer["body"])
        return said

    names = [f"caller-{i}" for i in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        for name, said in zip(names, pool.map(ask, names), strict=True):
            assert said == [name] * 3 * ROUNDS


def test_a_request_is_not_left_to_other_threads() -> None:
    application = ThreadSafeChalice("test")
    application.route("/ping")(dict)
    application(event("GET", "/ping"), None)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: application.current_request).result() is None


@pytest.fixture
def keys(serving: Container) -> list[str]:
    """A key for each of sixteen users."""
    made = []
    for i in range(THREADS):
        stored, shown = mint(
            org_id="acme",
            name="k",
            user_id=f"user-{i}",
            roles=(Role.MEMBER,),
            now=serving.ports.clock(),
            created_by="root",
        )
        serving.ports.keys.add(stored)
        made.append(shown)
    return made


def test_sixteen_callers_at_once_remember_and_recall_their_own_alone(keys: list[str]) -> None:
    def work(i: int) -> set[str]:
        auth = {"authorization": f"Bearer {keys[i]}"}
        found: set[str] = set()
        for n in range(5):
            item = {"content": f"the secret number of user {i} is {i}-{n}"}
            assert app(event("POST", "/engine/memories", item, **auth), None)["statusCode"] == 200
            asked = {"query": "what is the secret number?", "limit": 50}
            answer = app(event("POST", "/engine/memories/recall", asked, **auth), None)
            assert answer["statusCode"] == 200
            found |= {hit["memory"]["content"] for hit in json.loads(answer["body"])["hits"]}
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        for i, found in enumerate(pool.map(work, range(THREADS))):
            assert found == {f"the secret number of user {i} is {i}-{n}" for n in range(5)}
