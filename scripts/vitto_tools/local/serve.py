"""`scripts/serve`: the whole product on this machine, with no keys and no cloud.

MongoDB wire server, Redis 8, embedding model, API and worker run as supervised processes on loopback. Data, logs and the
development key stay in `.vitto/`, so a second start finds everything again. Ctrl-C stops all.
"""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chalicelib.bootstrap import build_ports
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.auth.api_keys import PREFIX, mint
from chalicelib.settings import Settings
from vitto_tools.local import servers
from vitto_tools.local.embedded import make_local_indexes
from vitto_tools.local.home import HOME, local_environment, read_serve_file, serve_file, write_private
from vitto_tools.local.supervisor import Supervisor

PORTS = {"api": 8700, "embedding": 8701, "mongo": 8702, "redis": 8703}
CHECK_SECONDS = 0.5
ATTEMPTS = 3
ORGANIZATION, USER, SHARED = "dev", "dev", "demo"


def main() -> None:
    """Serve until SIGINT or SIGTERM."""
    argparse.ArgumentParser("serve", description=__doc__).parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    with (HOME / "serve.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            said = read_serve_file() or {}
            sys.exit(f"serve: already running for {HOME}, at {said.get('url', 'an address it has yet to write')}")
        # both end what is under way, also a wait for a server; a shell that starts it in the background ignores SIGINT
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.default_int_handler)
        supervisor = Supervisor(HOME / "logs", _say)
        try:
            said = _start(supervisor)
            _announce(said)
            while True:
                time.sleep(CHECK_SECONDS)
                if supervisor.check():
                    _write(said, supervisor)
        except RuntimeError as error:
            sys.exit(f"serve: {error}")
        except KeyboardInterrupt:
            _say("stopping")
        finally:
            for name in (signal.SIGINT, signal.SIGTERM):
                signal.signal(name, signal.SIG_IGN)
            supervisor.stop()
            serve_file().unlink(missing_ok=True)


def _start(supervisor: Supervisor) -> dict[str, Any]:
    host = servers.HOST
    mongo = _on_a_free_port(supervisor, "mongo", lambda port: servers.mongo(port, HOME / "mongo"))
    redis = _on_a_free_port(supervisor, "redis", lambda port: servers.redis(port, HOME / "redis"))
    embedding = _on_a_free_port(supervisor, "embedding", servers.embedding)
    said: dict[str, Any] = {
        "mongoUri": servers.mongo_uri(mongo),
        "redisUrl": f"redis://{host}:{redis}/0",
        "embeddingUrl": f"http://{host}:{embedding}/v1",
    }
    environment = local_environment(said)
    make_local_indexes(Settings.from_environment(environment))
    said["apiKey"] = _development_key(environment)
    supervisor.start(servers.worker(environment))
    hosts = {"VITTO_HTTP_ALLOWED_HOSTS": f"{host},localhost"}
    api = _on_a_free_port(supervisor, "api", lambda port: servers.api(port, environment | hosts))
    said["url"] = f"http://{host}:{api}"
    _write(said, supervisor)
    return said


def _on_a_free_port(supervisor: Supervisor, name: str, server: Callable[[int], servers.Server]) -> int:
    """Start a server on its usual port, or another where that is taken, also where it is taken in this very moment."""
    for attempt in range(ATTEMPTS):
        port = servers.free_port(0 if attempt else PORTS[name])
        try:
            supervisor.start(server(port))
        except RuntimeError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return port
    raise AssertionError("unreachable")


def _development_key(environment: dict[str, str]) -> str:
    """The key of earlier starts where the store still knows it, else a new one: an admin of the organization `dev`."""
    file = HOME / "key"
    ports = build_ports(Settings.from_environment(environment))
    keys = ports.keys
    known = file.read_text().strip() if file.exists() else ""
    stored = keys.get(known.removeprefix(PREFIX).split("_")[0]) if known else None
    if stored and stored.revoked_at is None:
        return known
    stored, shown = mint(
        org_id=ORGANIZATION,
        name="development",
        user_id=USER,
        roles=(Role.ADMIN,),
        spaces=(SHARED,),
        universes=(SHARED,),
        act_as=True,
        now=ports.clock(),
        created_by="scripts/serve",
    )
    keys.add(stored)
    write_private(file, shown + "\n")
    return shown


def _write(said: dict[str, Any], supervisor: Supervisor) -> None:
    processes = {"supervisor": os.getpid(), **supervisor.pids}
    write_private(serve_file(), json.dumps(said | {"processes": processes}, indent=2) + "\n")


def _announce(said: dict[str, Any]) -> None:
    where = _relative(serve_file())
    _say(f"Vitto Memory is at {said['url']}")
    _say(f"development key (admin of organization {ORGANIZATION}, user {USER}): {said['apiKey']}")
    _say(f"addresses, key and process ids are in {where}, logs in {_relative(HOME / 'logs')}; Ctrl-C stops all")


def _relative(path: Path) -> str:
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _say(text: str) -> None:
    print(f"serve: {text}", flush=True)


if __name__ == "__main__":
    main()
