"""The AWS package, built once for all tests of it."""

import fcntl
import os
import pickle
import sys
from pathlib import Path

import pytest

from vitto_tools.local.servers import ROOT
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
def unpacked(package: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip in a folder that holds nothing else."""
    folder = tmp_path_factory.mktemp("task")
    unpack(package.archive, folder)
    return folder


@pytest.fixture(scope="session")
def bare_python() -> str:
    """A Python of Lambda's version; its own site-packages are switched off by -S."""
    return str(Path(sys._base_executable))  # type: ignore[attr-defined]
