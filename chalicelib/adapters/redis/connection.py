"""The connection to Redis: bounded calls, one error, scripts by their hash.

The driver, a third of what a start would import, is imported where a connection is made: the product runs without Redis too.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from chalicelib.errors import StoreUnavailable
from chalicelib.settings import RedisSettings

if TYPE_CHECKING:
    import redis

Arg = str | bytes | int | float


@cache
def script_text(name: str) -> str:
    """The source of `scripts/<name>.lua`."""
    return files("chalicelib.adapters.redis").joinpath("scripts", f"{name}.lua").read_text()


class Call:
    """One script with its keys and arguments, to be sent alone or among others."""

    def __init__(self, script: str, keys: Sequence[str], arguments: Sequence[Arg]) -> None:
        self.script = script
        self.tail: list[Arg] = [len(keys), *keys, *arguments]


class RedisConnection:
    """One pool a process. RESP2, because redis-py's RESP3 parser of vector sets loses step (facts.md)."""

    def __init__(self, settings: RedisSettings) -> None:
        self._quick = self._client(settings, settings.seconds)
        self._patient = self._client(settings, settings.bulk_seconds)

    def _client(self, settings: RedisSettings, seconds: float) -> "redis.Redis":
        import redis  # noqa: PLC0415 - see the module

        pool = redis.BlockingConnectionPool.from_url(
            settings.url,
            max_connections=settings.pool_size,
            timeout=seconds,
            protocol=2,
            socket_timeout=seconds,
            socket_connect_timeout=min(seconds, settings.seconds),
            retry=None,
            health_check_interval=0,
            client_name="vitto-memory",
        )
        return redis.Redis(connection_pool=pool)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        from redis import exceptions  # noqa: PLC0415 - see the module

        try:
            yield
        except exceptions.BusyLoadingError as error:
            raise StoreUnavailable("redis", "it is loading its data") from error
        except (exceptions.ConnectionError, exceptions.TimeoutError) as error:
            raise StoreUnavailable("redis", type(error).__name__) from error
        except exceptions.ResponseError as error:  # full, read-only, busy, not permitted: it serves nothing now
            raise StoreUnavailable("redis", type(error).__name__) from error

    def command(self, *arguments: Arg) -> Any:
        """One command."""
        with self._mapped():
            return _execute(self._quick, *arguments)

    def run(self, calls: Sequence[Call | tuple[Arg, ...]], *, bulk: bool = False) -> list[Any]:
        """All of `calls` in one round trip, replies in order. A server that lost the scripts costs one more, once."""
        from redis.exceptions import NoScriptError, RedisError  # noqa: PLC0415 - see the module

        client = self._patient if bulk else self._quick
        with self._mapped():
            replies = self._send(client, calls)
            if any(isinstance(reply, NoScriptError) for reply in replies):
                for name in {call.script for call in calls if isinstance(call, Call)}:
                    _execute(client, "SCRIPT", "LOAD", script_text(name))
                missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
                for i, reply in zip(missing, self._send(client, [calls[i] for i in missing]), strict=True):
                    replies[i] = reply
            for reply in replies:
                if isinstance(reply, RedisError):
                    raise reply
            return replies

    def _send(self, client: "redis.Redis", calls: Sequence[Call | tuple[Arg, ...]]) -> list[Any]:
        pipeline = client.pipeline(transaction=False)
        for call in calls:
            if isinstance(call, Call):
                _execute(pipeline, "EVALSHA", _sha(call.script), *call.tail)
            else:
                _execute(pipeline, *call)
        return list(pipeline.execute(raise_on_error=False))

    def probe(self) -> dict[str, Any]:
        """Server name and version, asked of the server itself."""
        with self._mapped():
            info = self._quick.info("server")
        name = str(info.get("server_name", "redis"))
        version = str(info.get(f"{name}_version", info.get("redis_version")))
        return {"server": name, "version": version, "runId": str(info.get("run_id"))}


def _execute(client: Any, *arguments: Arg) -> Any:
    return client.execute_command(*arguments)


@cache
def _sha(name: str) -> str:
    return hashlib.sha1(script_text(name).encode(), usedforsecurity=False).hexdigest()
