"""The folder where the local product keeps what it is: data, logs, the development key, and `serve.json` for tools."""

import json
import os
from pathlib import Path
from typing import Any, BinaryIO

from vitto_tools.local.servers import ROOT

HOME = Path(os.environ.get("VITTO_HOME", ROOT / ".vitto"))


def serve_file() -> Path:
    """Where a running `scripts/serve` says how to reach it."""
    return HOME / "serve.json"


def read_serve_file() -> dict[str, Any] | None:
    """What it says; None where nothing runs, also where a killed one left its file behind."""
    try:
        said: dict[str, Any] = json.loads(serve_file().read_text())
        os.kill(int(said["processes"]["supervisor"]), 0)
    except (OSError, ValueError, KeyError):
        return None
    return said


def opened_private(file: Path) -> BinaryIO:
    """A fresh file, open for writing, that its owner alone can read."""
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def write_private(file: Path, text: str) -> None:
    """Write `file` so that its owner alone can read it, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.write(text)
    fresh.replace(file)


def local_environment(said: dict[str, Any]) -> dict[str, str]:
    """The service's settings for the local servers that `serve.json` names."""
    return {
        "VITTO_MONGO_URI": said["mongoUri"],
        "VITTO_MONGO_READ_SECONDS": "5",  # the embedded server is one Python process
        "VITTO_MONGO_WRITE_SECONDS": "15",
        "VITTO_RECALL_SECONDS": "15",
        "VITTO_MONGO_POOL_SIZE": "4",  # it answers no sooner where more ask at once
        "VITTO_REDIS_URL": said["redisUrl"],
        "VITTO_REDIS_SECONDS": "1",  # it shares the cores with everything else
        "VITTO_REDIS_POOL_SIZE": "4",
        "VITTO_EMBEDDING_BASE_URL": said["embeddingUrl"],
        "VITTO_EMBEDDING_MODEL": "e5-passage",
        "VITTO_EMBEDDING_QUERY_MODEL": "e5-query",
    }
