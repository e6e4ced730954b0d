"""Commands over what stands beside the rows: indexes, Redis, the queue."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chalicelib.domain.session import is_session_key
from chalicelib.domain.tasks import kind_of
from chalicelib.domain.wire import Flag, Wire
from chalicelib.entrypoints.admin.commands import Command, NoArguments, Object, Progress, Turn
from chalicelib.errors import Misconfigured
from chalicelib.ports import TaskQueue

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

RESUMED_WITHIN = timedelta(days=1)  # what was rebuilt longer ago is rebuilt again


class Reindexing(Wire):
    """What is rebuilt, and how."""

    organization: str | None = Field(default=None, min_length=1, description="Of this organization only.")
    embed: Flag = Field(default=False, description="First embed again every row whose vectors are of another model.")
    restart: Flag = Field(default=False, description="Do every scope again, also those that a killed run had finished.")

    @property
    def checkpoint(self) -> str:
        """The name under which it is kept how far such a run is."""
        return json.dumps(["reindex", self.organization, self.embed])


class DeadLetters(Wire):
    """How many dead letters to list."""

    limit: int = Field(default=100, ge=1, le=1000, description="List so many at most.")


def _indexes(services: "Container", _wanted: NoArguments, _turn: Turn) -> Progress:
    made = services.ports.indexes.make()
    return Progress({"indexes": len(made)}, tuple({"index": name} for name in made))


def _reindex(services: "Container", wanted: Reindexing, turn: Turn) -> Progress:
    """Scope by scope, sessions among them, in the order of their keys; which one was last done is kept in the truth too."""
    if services.ports.hot is None and not wanted.embed:
        raise Misconfigured("no Redis is configured: there is no index to rebuild")
    store = services.ports.store
    after = turn.cursor.get("after") or ("" if wanted.restart else _resumed(services, wanted))
    keys = services.maintenance.indexed(wanted.organization)
    left = [key for key in keys if key > str(after)]
    told: Object = {name: turn.count(name) for name in ("rows", "failed")}
    for number, scope in enumerate(left):
        if number and turn.time_is_up():
            return Progress(_of(keys, told, left[number:]), cursor=told | {"after": left[number - 1]})
        rows, failed = _rebuilt(services, scope, embed=wanted.embed)
        told = {"rows": told["rows"] + rows, "failed": told["failed"] + failed}
        store.keep_checkpoint(wanted.checkpoint, json.dumps([services.ports.clock().isoformat(), scope]))
    store.keep_checkpoint(wanted.checkpoint, "")
    return Progress(_of(keys, told, ()), failed=bool(told["failed"]))


def _of(keys: Sequence[str], told: Object, left: Sequence[str]) -> Object:
    return told | {"scopes": len(keys) - len(left), "ofScopes": len(keys)}


def _resumed(services: "Container", wanted: Reindexing) -> str:
    """After which scope a run that was killed had come; empty where there was none lately."""
    kept = services.ports.store.checkpoint(wanted.checkpoint)
    if not kept:
        return ""
    at, scope = json.loads(kept)
    return str(scope) if services.ports.clock() - datetime.fromisoformat(at) <= RESUMED_WITHIN else ""


def _rebuilt(services: "Container", scope: str, *, embed: bool) -> tuple[int, int]:
    failed = services.maintenance.embed_again(scope)[1] if embed else 0
    rows = services.maintenance.rebuild(scope)
    if embed and not is_session_key(scope):
        services.deferral.write_questions_of_scope_later(scope)
    return rows, failed


def _queue(services: "Container", _wanted: NoArguments, _turn: Turn) -> Progress:
    return Progress(dict(_of_container(services).probe()))


def _queue_dead(services: "Container", wanted: DeadLetters, _turn: Turn) -> Progress:
    """Ids and kinds alone: what a message holds may be a tenant's."""
    letters = _of_container(services).dead_letters(wanted.limit)
    listed = tuple({"id": one.id, "kind": kind_of(one.text), "attempts": one.attempts} for one in letters)
    return Progress({"listed": len(listed)}, listed)


def _queue_redrive(services: "Container", _wanted: NoArguments, _turn: Turn) -> Progress:
    return Progress({"waitAgain": _of_container(services).redrive()})


def _of_container(services: "Container") -> TaskQueue:
    if services.ports.queue is None:
        raise Misconfigured("no queue is configured: what is pending waits for the worker's schedules")
    return services.ports.queue


COMMANDS: tuple[Command[Any], ...] = (
    Command("indexes", "Create MongoDB's indexes where they are missing.", NoArguments, _indexes),
    Command(
        "reindex",
        "Rebuild Redis from MongoDB, scope by scope, sessions too, while the product serves.",
        Reindexing,
        _reindex,
    ),
    Command("queue", "Say how many messages wait, are taken and are dead.", NoArguments, _queue),
    Command("queue-dead", "List dead letters: id, kind and attempts.", DeadLetters, _queue_dead),
    Command("queue-redrive", "Have all dead letters worked on again.", NoArguments, _queue_redrive),
)
