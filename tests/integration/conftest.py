"""The AWS package, built once for all tests of it."""

import sys
from pathlib import Path

import pytest

from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.archive import unpack
from vitto_tools.packaging.build import Built, build


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """What scripts/package builds of this checkout."""
    return build(ROOT, "dev", tmp_path_factory.mktemp("package"))


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
