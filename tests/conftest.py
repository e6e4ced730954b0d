"""Fixtures: real servers as processes, started once a test process, and what is built over them."""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import create_indexes
from chalicelib.adapters.mongo.searchindex import create_search_index, index_state, searched_rows
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.domain.keys import new_id
from chalicelib.domain.vector import dimensions
from chalicelib.settings import MongoSettings, RedisSettings
from tests.atlas_double import AtlasDouble
from tests.building import EMBEDDER
from vitto_tools.local import servers

BUILD_SECONDS = 600
SIZE = dimensions(EMBEDDER.embed_query("size"))
SEARCH_URLS = [url for url in os.environ.get("VITTO_TEST_REDIS_SEARCH", "").split(",") if url]
"""Redis servers with the search module, one for each worker of the tests: a test empties its server, and indexes exist in
database 0 alone."""
SEARCH_MODULE = ("search_module",) if SEARCH_URLS else ()
"""The fixture of a connection to one of them, to be among parameters where there is one."""


gc.set_threshold(
    100_000, 50, 100
)  # a worker holds thousands of tests: the collector would go through them all the time


def pytest_report_header() -> str:
    """Say what is not tested here."""
    without = "not tested: VITTO_TEST_REDIS_SEARCH names no server (.ci/run starts some)"
    return f"Redis with the search module: {', '.join(SEARCH_URLS) or without}"


@pytest.fixture
def org() -> str:
    """An organization of this test alone."""
    return new_id("org")


@pytest.fixture(scope="session")
def mongo_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real MongoDB wire server."""
    folder = tmp_path_factory.mktemp("mongo")
    port = servers.free_port()
    process = servers.start(servers.mongo(port, folder / "data"), folder / "log")
    yield servers.mongo_uri(port)
    process.stop()


@pytest.fixture(scope="module")
def mongo(mongo_url: str, request: pytest.FixtureRequest) -> Iterator[MongoConnection]:
    """A connection to a database of this module alone, with all indexes made: the embedded server gets slow with what other
    modules left. Reads may take longer than in production."""
    name = request.module.__name__.replace(".", "_")
    settings = MongoSettings(uri=mongo_url, database=name, read_seconds=20, search_seconds=20, write_seconds=30)
    connection = MongoConnection(settings)
    create_indexes(connection.database)
    yield connection
    connection.client.close()


@pytest.fixture
def atlas(mongo: MongoConnection) -> AtlasDouble:
    """The strict double of a vector search over that server, with its index made."""
    double = AtlasDouble(mongo)
    create_search_index(double, SIZE)
    return double


@pytest.fixture(scope="session")
def atlas_cluster() -> Iterator[MongoConnection]:
    """The cluster of VITTO_TEST_ATLAS_URI, with all indexes built."""
    settings = MongoSettings(
        uri=os.environ["VITTO_TEST_ATLAS_URI"],
        database="vitto_test",
        read_seconds=20,
        search_seconds=20,
        write_seconds=30,
        select_seconds=20,
    )
    connection = MongoConnection(settings)
    create_indexes(connection.database)
    create_search_index(connection.database, SIZE)
    until = time.monotonic() + BUILD_SECONDS
    while not (state := index_state(searched_rows(connection.database))) or not (state.queryable and state.fits):
        assert time.monotonic() < until, state
        time.sleep(2)
    yield connection
    connection.client.close()


def _redis_server(name: str, folder: Path) -> Iterator[str]:
    port = servers.free_port()
    server = servers.valkey(port) if name == "valkey" else servers.redis(port, None)
    process = servers.start(server, folder / "log")
    yield f"redis://{servers.HOST}:{port}/0"
    process.stop()


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis 8 with vector sets."""
    yield from _redis_server("redis", tmp_path_factory.mktemp("redis"))


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Valkey without vectors."""
    yield from _redis_server("valkey", tmp_path_factory.mktemp("valkey"))


@pytest.fixture(scope="session")
def redis(redis_url: str) -> RedisConnection:
    """A connection to the Redis."""
    return RedisConnection(RedisSettings(url=redis_url, seconds=5, bulk_seconds=20))


@pytest.fixture(scope="session")
def valkey(valkey_url: str) -> RedisConnection:
    """A connection to the Valkey."""
    return RedisConnection(RedisSettings(url=valkey_url, seconds=5, bulk_seconds=20))


@pytest.fixture(scope="session")
def sqs_endpoint() -> Iterator[str]:
    """An SQS on loopback."""
    from tests.sqs_server import sqs_server  # its import is slow

    with sqs_server() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def search_module_url() -> str:
    """A real Redis with the search module, of this worker alone."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if worker >= len(SEARCH_URLS):
        pytest.fail(f"worker {worker} has no server: VITTO_TEST_REDIS_SEARCH needs a URL a worker, comma separated")
    return SEARCH_URLS[worker]


@pytest.fixture(scope="session")
def search_module(search_module_url: str) -> RedisConnection:
    """A connection to it."""
    return RedisConnection(RedisSettings(url=search_module_url, seconds=5, bulk_seconds=20))
