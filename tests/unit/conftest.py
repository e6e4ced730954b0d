"""How property tests run: the same examples every time, none kept on disk. `--hypothesis-profile=thorough` looks further."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from chalicelib import bootstrap
from chalicelib.bootstrap import Container
from tests.building import container

settings.register_profile("unit", deadline=None, database=None, derandomize=True, max_examples=40)
settings.register_profile("thorough", deadline=None, database=None, max_examples=2000)
settings.load_profile("unit")


@pytest.fixture
def serving() -> Iterator[Container]:
    """A container over the twins, set as the one of this process."""
    services = container()
    bootstrap.use(services)
    yield services
    bootstrap.use(None)
