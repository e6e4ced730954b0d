"""The application under gunicorn with several workers: no caller gets an error, and none anything of another's."""

import json
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from chalicelib.domain.keys import new_id
from tests.service import member_keys, service_environment
from vitto_tools.local import servers

pytestmark = pytest.mark.timeout(300)
WORKERS, THREADS = 4, 8
CLIENTS, ROUNDS = 32, 3
SECONDS = 60


@pytest.fixture(scope="module")
def environment(mongo_url: str, redis_url: str) -> Iterator[dict[str, str]]:
    """The settings, for real servers."""
    with service_environment(mongo_url, redis_url, "gunicorn") as made:
        yield made


@pytest.fixture(scope="module")
def url(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where it serves."""
    port = servers.free_port()
    log = tmp_path_factory.mktemp("gunicorn") / "log"
    process = servers.start(servers.api(port, environment, WORKERS, THREADS), log)
    yield f"http://{servers.HOST}:{port}"
    process.stop()


@pytest.fixture(scope="module")
def keys(environment: dict[str, str]) -> list[str]:
    """A key for each client, all users of one organization."""
    return member_keys(environment, new_id("org"), *(mark(i) for i in range(CLIENTS)))


def post(url: str, key: str, body: dict[str, Any]) -> tuple[int, str]:
    """Status and body of a POST."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def mark(client: int) -> str:
    """What stands in everything that a client stores, and in nothing of another's."""
    return f"user{client:02}x"


def work(url: str, key: str, client: int, barrier: Barrier) -> list[tuple[int, str]]:
    """What a client is answered: the same words and the same questions as all others, its own mark in what it stores."""
    said = []
    barrier.wait(timeout=60)
    for number in range(ROUNDS):
        content = f"the number of the safe in the cellar is {number}, says {mark(client)}"
        said.append(post(f"{url}/engine/memories", key, {"content": content}))
        question = {"query": "what is the number of the safe in the cellar?", "limit": 50}
        said.append(post(f"{url}/engine/memories/recall", key, question))
    return said


def test_thirty_two_clients_over_four_workers_get_no_error_and_nothing_of_one_another(
    url: str, keys: list[str]
) -> None:
    barrier = Barrier(CLIENTS)
    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda i: work(url, keys[i], i, barrier), range(CLIENTS)))
    for client, said in enumerate(answers):
        assert Counter(status for status, _ in said) == {200: 2 * ROUNDS}, [
            body for status, body in said if status != 200
        ]
        others = [mark(other) for other in range(CLIENTS) if other != client]
        assert not [other for other in others if any(other in body for _, body in said)]
        hits = [hit["memory"]["content"] for hit in json.loads(said[-1][1])["hits"]]
        assert len(hits) == ROUNDS
        assert all(mark(client) in content for content in hits)
