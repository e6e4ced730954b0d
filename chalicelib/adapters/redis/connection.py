"""The connection to Redis: bounded calls, one error, scripts by their hash.

The driver, a third of what a start would import, is imported where a connection is made: the product runs without Redis too.
"""

import hashlib
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from chalicelib.adapters.breaker import Breaker
from chalicelib.adapters.turns import Turns
from chalicelib.domain.budget import time_left
from chalicelib.errors import StoreUnavailable
from chalicelib.settings import RedisSettings

if TYPE_CHECKING:
    import redis

_STORE = "redis"
_NEEDS = "-- needs "
_SOONEST = 0.001  # a socket timeout of nothing would mean not to wait at all
Arg = str | bytes | int | float


@cache
def script_text(name: str) -> str:
    """The source of `scripts/<name>.lua`, with what its first line says that it needs before it."""
    text = files("chalicelib.adapters.redis").joinpath("scripts", f"{name}.lua").read_text()
    first = text.partition("\n")[0]
    return script_text(first.removeprefix(_NEEDS)) + text if first.startswith(_NEEDS) else text


class Call:
    """One script with its keys and arguments, to be sent alone or among others."""

    def __init__(self, script: str, keys: Sequence[str], arguments: Sequence[Arg]) -> None:
        self.script = script
        self.tail: list[Arg] = [len(keys), *keys, *arguments]


class Attempt:
    """One command that the server may refuse: the ResponseError then stands among the replies."""

    def __init__(self, *arguments: Arg) -> None:
        self.arguments = arguments


Sent = Call | Attempt | tuple[Arg, ...]


class _WithinBudget:
    """A connection that waits for an answer no longer than the budget of the work allows."""

    def read_response(self, *arguments: Any, **options: Any) -> Any:
        left = time_left()
        if left < math.inf:
            options["timeout"] = max(left, _SOONEST)
        return super().read_response(*arguments, **options)  # type: ignore[misc]  # it stands before a connection class

    @property
    def socket_connect_timeout(self) -> float:
        return min(float(self._socket_connect_timeout), max(time_left(), _SOONEST))  # type: ignore[attr-defined]  # as above


class RedisConnection:
    """One pool a process. RESP2, because redis-py's RESP3 parser of vector sets loses step (facts.md)."""

    def __init__(self, settings: RedisSettings, breaker: Breaker | None = None) -> None:
        self.breaker = breaker or Breaker(_STORE)
        self._settings = settings
        self._quick = self._client(settings, settings.seconds)
        self._patient = self._client(settings, settings.bulk_seconds)
        self._quick_turns = Turns(_STORE, settings.pool_size)
        self._patient_turns = Turns(_STORE, settings.pool_size)

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
        plain = pool.connection_class  # of TCP, TLS or a socket file, as the URL says
        pool.connection_class = type(f"Bounded{plain.__name__}", (_WithinBudget, plain), {})
        return redis.Redis(connection_pool=pool)

    @contextmanager
    def _asking(self, *, bulk: bool = False, probing: bool = False) -> Iterator[None]:
        from redis.exceptions import BusyLoadingError, RedisError  # noqa: PLC0415 - see the module

        seconds = self._settings.bulk_seconds if bulk else self._settings.seconds
        turns = self._patient_turns if bulk else self._quick_turns
        with turns.taken(), self.breaker.call(seconds, probing=probing):
            try:
                yield
            except BusyLoadingError as error:
                raise StoreUnavailable(_STORE, "it is loading its data") from error
            except RedisError as error:  # away, too slow, full, read-only, not permitted, or no Redis at all
                raise StoreUnavailable(_STORE, type(error).__name__) from error
            except ValueError as error:  # what the driver makes of an answer that is no Redis protocol
                raise StoreUnavailable(_STORE, "it answered something that is no reply") from error

    def command(self, *arguments: Arg) -> Any:
        """One command."""
        with self._asking():
            return _execute(self._quick, *arguments)

    def run(self, calls: Sequence[Sent], *, bulk: bool = False) -> list[Any]:
        """All of `calls` in one round trip, replies in order. A server that lost the scripts costs one more, once."""
        from redis.exceptions import NoScriptError, RedisError, ResponseError  # noqa: PLC0415 - see the module

        client = self._patient if bulk else self._quick
        with self._asking(bulk=bulk):
            replies = self._send(client, calls)
            if any(isinstance(reply, NoScriptError) for reply in replies):
                for name in {call.script for call in calls if isinstance(call, Call)}:
                    _execute(client, "SCRIPT", "LOAD", script_text(name))
                missing = [i for i, reply in enumerate(replies) if isinstance(reply, NoScriptError)]
                for i, reply in zip(missing, self._send(client, [calls[i] for i in missing]), strict=True):
                    replies[i] = reply
            for call, reply in zip(calls, replies, strict=True):
                allowed = isinstance(call, Attempt) and isinstance(reply, ResponseError)
                if isinstance(reply, RedisError) and not allowed:
                    raise reply
            return replies

    def _send(self, client: "redis.Redis", calls: Sequence[Sent]) -> list[Any]:
        pipeline = client.pipeline(transaction=False)
        for call in calls:
            if isinstance(call, Call):
                _execute(pipeline, "EVALSHA", _sha(call.script), *call.tail)
            else:
                _execute(pipeline, *(call.arguments if isinstance(call, Attempt) else call))
        return list(pipeline.execute(raise_on_error=False))

    def probe(self) -> dict[str, Any]:
        """Server name and version, asked of the server itself."""
        with self._asking(probing=True):
            info = self._quick.info("server")
        name = str(info.get("server_name", "redis"))
        version = str(info.get(f"{name}_version", info.get("redis_version")))
        return {"server": name, "version": version, "runId": str(info.get("run_id"))}


def _execute(client: Any, *arguments: Arg) -> Any:
    return client.execute_command(*arguments)


@cache
def _sha(name: str) -> str:
    return hashlib.sha1(script_text(name).encode(), usedforsecurity=False).hexdigest()
