"""What a request could not finish, handed to the queue. The mark in the truth stays: where no message gets through, the
schedule that looks for pending rows finds it."""

from collections.abc import Callable, Iterable, Iterator
from itertools import batched

from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.scope import ScopeRef
from chalicelib.domain.tasks import (
    MAX_IDS,
    IndexRows,
    LearnPreferences,
    RebuildScope,
    Task,
    WriteQuestions,
    WriteScopeQuestions,
)
from chalicelib.errors import VittoError
from chalicelib.ports import TaskQueue, Telemetry

DELAY_SECONDS = 5  # what failed a moment ago is likely to fail now


class Deferral:
    """Sends messages after a request's work. `queue` is None where none is configured: all waits for the schedules.
    `asks_questions` says whether an organization wants prospective questions."""

    def __init__(
        self, queue: TaskQueue | None, telemetry: Telemetry, asks_questions: Callable[[str], bool] = lambda _: True
    ) -> None:
        self._queue = queue
        self._telemetry = telemetry
        self._asks_questions = asks_questions

    def index_later(self, pending: Iterable[tuple[str, str]]) -> None:
        """Have rows indexed, each given by its scope key and its id. It never raises: failing is an event."""
        tasks: list[Task] = [IndexRows(scope_key=scope_key, ids=ids) for scope_key, ids in _by_scope(pending)]
        if tasks and self._queue:
            self._send(self._queue, tasks, DELAY_SECONDS)

    def write_questions_later(self, memories: Iterable[Memory]) -> None:
        """Have the prospective questions of stored memories written: of active ones, where their organization wants any. It
        never raises: failing is an event."""
        wanted = [m for m in memories if m.status is Status.ACTIVE] if self._queue else []
        asking = {org_id for org_id in {m.org_id for m in wanted} if self._asks_questions(org_id)}
        tasks: list[Task] = [
            WriteQuestions(scope_key=m.scope_ref.key, id=m.id, revision=m.revision)
            for m in wanted
            if m.org_id in asking
        ]
        if tasks and self._queue:
            self._send(self._queue, tasks, 0)

    def learn_later(self, memories: Iterable[Memory]) -> bool:
        """Have memories looked through for preferences; whether the queue took that. It never raises: failing is an
        event."""
        said = [(memory.scope_ref.key, memory.id) for memory in memories]
        tasks: list[Task] = [LearnPreferences(scope_key=scope_key, ids=ids) for scope_key, ids in _by_scope(said)]
        return bool(tasks and self._queue and self._send(self._queue, tasks, 0))

    def write_questions_of_scope_later(self, scope_key: str) -> None:
        """Have the questions of a scope's memories written that have none of the present model, where its organization wants
        any. It never raises: failing is an event."""
        if self._queue and self._asks_questions(ScopeRef.from_key(scope_key).org_id):
            self._send(self._queue, [WriteScopeQuestions(scope_key=scope_key)], 0)

    def rebuild_later(self, scope_key: str) -> None:
        """Have a scope's index built anew, since it missed that a row is gone. It never raises: failing is an event."""
        if self._queue:
            self._send(self._queue, [RebuildScope(scope_key=scope_key)], DELAY_SECONDS)

    def _send(self, queue: TaskQueue, tasks: list[Task], delay_seconds: float) -> bool:
        try:
            queue.send(tasks, delay_seconds)
        except VittoError as error:
            self._telemetry.event("tasks_not_queued", reason=error.message, tasks=len(tasks))
            return False
        return True


def _by_scope(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The ids of each scope in their order, as many at once as a task has."""
    scopes: dict[str, list[str]] = {}
    for scope_key, id_ in rows:
        scopes.setdefault(scope_key, []).append(id_)
    for scope_key, ids in scopes.items():
        for some in batched(ids, MAX_IDS, strict=False):
            yield scope_key, some
