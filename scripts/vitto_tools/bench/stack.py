"""The servers of a bench. Their data is kept by the code that wrote it: a killed run goes on, changed code starts afresh."""

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chalicelib.bootstrap import Container, build_ports
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.settings import Settings
from vitto_tools.local import servers
from vitto_tools.local.embedded import make_local_indexes
from vitto_tools.local.home import HOME, local_environment

BENCH = HOME / "bench"
PATIENCE = {"VITTO_EMBEDDING_QUERY_SECONDS": "15", "VITTO_EMBEDDING_PASSAGE_SECONDS": "20"}
"""What embedding may take where it is not what is measured: the machine may be busy."""
CACHE_FILE = Path(os.environ.get("VITTO_BENCH_EMBEDDINGS", BENCH / "embeddings.sqlite"))


@dataclass(frozen=True)
class Stack:
    """Running servers: the service's settings for them, and where the API is."""

    environment: dict[str, str]
    url: str
    embedding_url: str

    @property
    def services(self) -> Container:
        """The services over these servers, in this process."""
        settings = Settings.from_environment(self.environment)
        return Container(settings, build_ports(settings))

    def key(self, org_id: str, user: str = "bench") -> str:
        """A fresh key of an admin of `org_id` that may act for its users."""
        ports = self.services.ports
        stored, shown = mint(
            org_id=org_id,
            name="bench",
            user_id=user,
            roles=(Role.ADMIN,),
            act_as=True,
            now=ports.clock(),
            created_by="bench",
        )
        ports.keys.add(stored)
        return shown


@contextlib.contextmanager
def running(
    name: str, *, worker: bool = True, make_indexes: Callable[[Settings], None] = make_local_indexes
) -> Iterator[Stack]:
    """A whole product whose data is that of bench `name`, with embeddings cached on disk by text and model; without its
    worker where a bench of latency wants the cores to itself."""
    folder = _folder(name)
    ports = {part: servers.free_port() for part in ("mongo", "redis", "model", "embedding", "api")}
    said = {
        "mongoUri": servers.mongo_uri(ports["mongo"]),
        "redisUrl": f"redis://{servers.HOST}:{ports['redis']}/0",
        "embeddingUrl": f"http://{servers.HOST}:{ports['embedding']}/v1",
    }
    environment = local_environment(said) | PATIENCE
    with contextlib.ExitStack() as stack:
        for server in (
            servers.mongo(ports["mongo"], folder / "mongo"),
            servers.redis(ports["redis"], folder / "redis"),
            servers.embedding(ports["model"]),
            cached_embedding(ports["embedding"], ports["model"]),
        ):
            stack.callback(servers.start(server, folder / "logs" / f"{server.name}.log").stop)
        make_indexes(Settings.from_environment(environment))
        product = [servers.worker(environment)] if worker else []
        for server in (*product, servers.api(ports["api"], environment)):
            stack.callback(servers.start(server, folder / "logs" / f"{server.name}.log").stop)
        yield Stack(environment, f"http://{servers.HOST}:{ports['api']}", said["embeddingUrl"])


def cached_embedding(port: int, model_port: int) -> servers.Server:
    """The server at `model_port` behind the cache on disk."""
    arguments = (str(port), f"http://{servers.HOST}:{model_port}/v1", str(CACHE_FILE))
    command = (sys.executable, "-m", "vitto_tools.bench.embedding_cache", *arguments)
    return servers.Server("embedding-cache", command, lambda: servers.http_answers(f"http://{servers.HOST}:{port}/"))


def _folder(name: str) -> Path:
    sources = sorted((servers.ROOT / "chalicelib").rglob("*.py")) + sorted((servers.ROOT / "chalicelib").rglob("*.lua"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    folder = BENCH / f"{name}-{digest}"
    for old in BENCH.glob(f"{name}-*"):
        if old != folder:
            shutil.rmtree(old)
    return folder
