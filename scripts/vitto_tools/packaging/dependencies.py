"""What the application needs at run time, as wheels for Lambda's Python, exactly as the lock file pins it."""

import shutil
import subprocess
import sys
from pathlib import Path

from vitto_tools.local.servers import ROOT
from vitto_tools.packaging.errors import PackageRefused

PYTHON = "3.13"
PLATFORM = "x86_64-manylinux_2_34"
"""Lambda's python3.13 runs on Amazon Linux 2023, whose C library is glibc 2.34."""
WHEEL_TAGS = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")
_SOURCES = ("*.c", "*.h", "*.pyx", "*.pxd", "*.pyi")  # what builds or describes extensions, and is never run
UV = ROOT / ".tools" / "bin" / "uv"


def install(requirements: Path, target: Path, *sources: str) -> None:
    """Install the pinned wheels of `requirements` into `target`, their hashes checked, and nothing that they depend on
    beside them: what is left out is what Lambda's runtime has. PackageRefused where one has no wheel for it."""
    fixed = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "--link-mode", "copy")
    runtime = ("--python-version", PYTHON, "--python-platform", PLATFORM)
    command = (str(UV), "pip", "install", "--quiet", "--target", str(target), *fixed, *runtime, *sources)
    done = subprocess.run((*command, "-r", str(requirements)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise PackageRefused(f"the dependencies cannot be had as wheels for Lambda:\n{done.stderr.strip()}")
    _prune(target)


def _prune(target: Path) -> None:
    """Take out what is never run there."""
    for folder in (target / "bin", *target.glob("*-stubs"), *target.rglob("__pycache__")):
        shutil.rmtree(folder, ignore_errors=True)
    for name in (".lock", *(f"*.dist-info/{tag}" for tag in WHEEL_TAGS)):
        for file in target.glob(name):
            file.unlink()
    for pattern in _SOURCES:
        for file in target.rglob(pattern):
            file.unlink()


def compile_all(folder: Path) -> None:
    """Compile every module ahead: Lambda cannot keep what it compiles, and each cold start would do it again.

    The code carries no path of this machine, and is trusted without a look at its source, which cannot change there."""
    options = ("-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", "/var/task")
    done = subprocess.run(
        (sys.executable, "-m", "compileall", *options, str(folder)), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise PackageRefused(f"what would be deployed cannot be compiled:\n{done.stdout}{done.stderr}")
