"""Tasks from the queue: what each kind does, and the consumer that takes them off it where no function platform does.

A further kind of task is a model in `domain.tasks` and a handler here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from chalicelib.domain.tasks import (
    BackfillOrganization,
    ExportDocs,
    IndexRows,
    LearnPreferences,
    RebuildScope,
    RecompileSessionGenome,
    RecompileUserGenome,
    ScopedTask,
    SettleSession,
    WriteQuestions,
    WriteScopeQuestions,
    from_text,
    kind_of,
)
from chalicelib.errors import EmbeddingFailed, LanguageModelUnavailable, StoreUnavailable, VittoError
from chalicelib.ports import Clock, Delivery, TaskQueue, Telemetry
from chalicelib.write.backfill import Backfill
from chalicelib.write.maintenance import Maintenance
from chalicelib.write.preference_learning import PreferenceLearner
from chalicelib.write.prospective.questions import ProspectiveQuestions

FIRST_DELAY_SECONDS = 5
LONGEST_DELAY_SECONDS = 900
DRAIN_AT_MOST = 100
DRAIN_SECONDS = 5.0  # the worker has other jobs that are due each second
FAILURES_IN_A_ROW = 3
_AWAY = (StoreUnavailable, EmbeddingFailed, LanguageModelUnavailable)


class TaskRunner:
    """Does the work of messages. A repeat is harmless, and a row that is gone meanwhile is nothing. `queue` takes what is
    left of a long one; it is there wherever a message can come from. `is_moot` says of which there is nothing to do."""

    def __init__(
        self,
        maintenance: Maintenance,
        prospective: ProspectiveQuestions,
        backfill: Backfill,
        preferences: PreferenceLearner,
        queue: TaskQueue | None,
        *,
        settle_session: Callable[[str, Sequence[str]], None],
        recompile_user: Callable[[RecompileUserGenome], object],
        recompile_session: Callable[[RecompileSessionGenome], object],
        export_docs: Callable[[str], object],
        is_moot: Callable[[ScopedTask], bool] = lambda _: False,
    ) -> None:
        self._queue = queue
        self._is_moot = is_moot
        self._settle_messages = settle_session
        self._export_docs = export_docs
        self._maintenance = maintenance
        self._prospective = prospective
        self._backfill = backfill
        self._preferences = preferences
        self._handlers: dict[type[ScopedTask], Callable[[Any], object]] = {
            IndexRows: self._index_rows,
            RebuildScope: self._rebuild_scope,
            WriteQuestions: self._write_questions,
            LearnPreferences: self._learn_preferences,
            WriteScopeQuestions: self._write_scope_questions,
            BackfillOrganization: self._go_on_with_backfill,
            ExportDocs: self._go_on_with_docs,
            SettleSession: self._settle_session,
            RecompileUserGenome: recompile_user,
            RecompileSessionGenome: recompile_session,
        }

    def run(self, text: str) -> None:
        """Do what a message asks. InvalidInput for what is no task; the error of whatever failed, for the caller to have the
        message given out again."""
        task = from_text(text)
        if not self._is_moot(task):
            self._handlers[type(task)](task)

    def _index_rows(self, task: IndexRows) -> None:
        self._maintenance.index_rows(task.chain, task.ids)

    def _rebuild_scope(self, task: RebuildScope) -> None:
        self._maintenance.repair(task.scope_key)

    def _write_questions(self, task: WriteQuestions) -> None:
        self._prospective.write(task.chain, task.id, task.revision)

    def _learn_preferences(self, task: LearnPreferences) -> None:
        self._preferences.learn_from(task.chain, task.ids)

    def _write_scope_questions(self, task: WriteScopeQuestions) -> None:
        after = self._prospective.write_scope(task.scope_key, after=task.after)
        if after is not None and self._queue:
            self._queue.send([task.model_copy(update={"after": after})])

    def _settle_session(self, task: SettleSession) -> None:
        self._settle_messages(task.session_key, task.ids)

    def _go_on_with_backfill(self, task: BackfillOrganization) -> None:
        self._backfill.go_on(task.chain.org_id)

    def _go_on_with_docs(self, task: ExportDocs) -> None:
        self._export_docs(task.chain.org_id)


@dataclass
class Drained:
    """How many messages were done, will be tried again, and died."""

    done: int = 0
    failed: int = 0
    died: int = 0


class TaskConsumer:
    """Takes messages one at a time, so that each has the whole visibility time. Without a queue there is nothing to do."""

    def __init__(self, *, queue: TaskQueue | None, runner: TaskRunner, telemetry: Telemetry, clock: Clock) -> None:
        self._queue = queue
        self._runner = runner
        self._telemetry = telemetry
        self._clock = clock
        self._dead = 0

    def drain(self, limit: int = DRAIN_AT_MOST, seconds: float = DRAIN_SECONDS) -> Drained:
        """Work on what is due. It ends early after the time given, and after a few tasks in a row that failed for a store or
        the embedder: others would lose an attempt for nothing. StoreUnavailable where the queue is down."""
        drained, row, until = Drained(), 0, self._clock() + timedelta(seconds=seconds)
        for _ in range(limit if self._queue else 0):
            if row >= FAILURES_IN_A_ROW or self._clock() > until or not (given := self._receive()):
                break
            error = self._work(given, drained)
            row = row + 1 if isinstance(error, _AWAY) else 0
        return drained

    def _receive(self) -> Delivery | None:
        given = self._queue.receive(1) if self._queue else []
        return given[0] if given else None

    def _work(self, given: Delivery, drained: Drained) -> Exception | None:
        assert self._queue
        try:
            self._runner.run(given.text)
        except Exception as error:  # noqa: BLE001 - one message that fails must not stop the others
            self._say(given, error)
            drained.died, drained.failed = drained.died + given.last, drained.failed + (not given.last)
            self._queue.retry([given], backoff(given.attempt))
            return error
        self._queue.done([given])
        drained.done += 1
        return None

    def _say(self, given: Delivery, error: Exception) -> None:
        fields: dict[str, Any] = {
            "message_id": given.id,
            "kind": kind_of(given.text),
            "attempt": given.attempt,
            "reason": _reason(error),
        }
        self._telemetry.event("task_failed", **fields)
        if given.last:
            self._telemetry.event("task_died", level="error", **fields)

    def report_dead_letters(self) -> int:
        """Say where there are more dead letters than at the last look, also those of consumers that died; how many more."""
        dead = int(self._queue.probe()["dead"] or 0) if self._queue else 0
        more, self._dead = max(0, dead - self._dead), dead
        if more:
            self._telemetry.event("dead_letters", level="error", dead=dead, more=more)
        return more


def backoff(attempt: int) -> float:
    """Seconds until the attempt after this one: 5, three times as long each time, at most 15 minutes."""
    return float(min(FIRST_DELAY_SECONDS * 3 ** (attempt - 1), LONGEST_DELAY_SECONDS))


def _reason(error: Exception) -> str:
    """What may be logged: an unexpected error's message may hold what a tenant stored."""
    if isinstance(error, VittoError):
        return error.message
    step = error.__traceback__
    while step and step.tb_next:
        step = step.tb_next
    return f"{type(error).__name__} at {step.tb_frame.f_code.co_filename}:{step.tb_lineno}" if step else ""
