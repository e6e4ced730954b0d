"""The AWS package, built once for all tests of it, and connections that count what stores are asked."""

import fcntl
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.settings import MongoSettings, RedisSettings
from tests.integration.arrangements import CommandCounter, CountedRedis
from vitto_tools.local.servers import ROOT
from vitto_tools.packaging import template as templates
from vitto_tools.packaging.archive import unpack
from vitto_tools.packaging.build import Built, build


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What scripts/package builds of this checkout: by the first test process that wants it, while the others wait."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "package"
    folder.mkdir(exist_ok=True)
    done = folder / "built"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            done.write_bytes(pickle.dumps(build(ROOT, "dev", folder)))
    made: Built = pickle.loads(done.read_bytes())
    return made


@pytest.fixture(scope="session")
def sam(package: Built) -> dict[str, Any]:
    """Its template."""
    return templates.read(package.template)


@pytest.fixture(scope="session")
def unpacked(package: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip in a folder that holds nothing else."""
    folder = tmp_path_factory.mktemp("task")
    unpack(package.archive, folder)
    return folder


@pytest.fixture(scope="session")
def bare_python() -> str:
    """A Python of Lambda's version; its own site-packages are switched off by -S."""
    return str(Path(sys._base_executable))  # type: ignore[attr-defined]


@pytest.fixture
def counter() -> CommandCounter:
    """Counts commands to MongoDB."""
    return CommandCounter()


@pytest.fixture
def counted(counter: CommandCounter, mongo_url: str, mongo: MongoConnection) -> Iterator[MongoConnection]:
    """A connection whose commands are counted."""
    settings = MongoSettings(uri=mongo_url, database=mongo.database.name, read_seconds=20, write_seconds=20)
    connection = MongoConnection(settings, event_listeners=[counter])
    yield connection
    connection.client.close()


@pytest.fixture
def hot(redis_url: str) -> CountedRedis:
    """A Redis connection whose round trips are counted."""
    return CountedRedis(RedisSettings(url=redis_url, seconds=5, bulk_seconds=20))
