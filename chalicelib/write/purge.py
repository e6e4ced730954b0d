"""The purge: rows that were forgotten more than 7 days ago are removed from every store, with an event each."""

from collections.abc import Callable

from chalicelib.domain.memory import Memory
from chalicelib.domain.retention import RESTORABLE, PurgeReport
from chalicelib.errors import VittoError
from chalicelib.ports import Clock, MemoryStore, RowId, Telemetry
from chalicelib.write.audit import Auditor
from chalicelib.write.decisions import BATCH, Decisions


class Purge:
    """May be killed and run again: what is removed is not there any more, and the rest is still due."""

    def __init__(
        self, *, store: MemoryStore, decisions: Decisions, auditor: Auditor, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._store = store
        self._decisions = decisions
        self._auditor = auditor
        self._telemetry = telemetry
        self._clock = clock

    def run(self, *, dry_run: bool = False, time_is_up: Callable[[], bool] = lambda: False) -> PurgeReport:
        """Remove what is due, of every organization. With `dry_run` only count it. It takes no new batch once
        `time_is_up`."""
        report = PurgeReport(dry_run=dry_run)
        try:
            self._run(report, time_is_up)
        except VittoError as error:
            self._telemetry.event("purge_stopped", level="error", reason=error.message, **report.body())
            raise
        name = "purge_finished" if report.finished else "purge_postponed"
        self._telemetry.event(name, level="info" if report.finished else "warning", **report.body())
        return report

    def _run(self, report: PurgeReport, time_is_up: Callable[[], bool]) -> None:
        if not report.dry_run:
            self._decisions.finish()
        before = self._clock() - RESTORABLE
        after: RowId | None = None
        while not time_is_up():
            rows = self._store.forgotten(before, BATCH, after=after)
            if not rows:
                report.finished = True
                return
            decided = [(row, self._auditor.system_event(*_event(row.memory), **_facts(row.memory))) for row in rows]
            removed = len(rows) if report.dry_run else self._decisions.remove_all(decided)
            report.purged, report.overtaken = report.purged + removed, report.overtaken + len(rows) - removed
            after = rows[-1].memory.org_id, rows[-1].memory.id


def _event(memory: Memory) -> tuple[str, str, str]:
    return memory.org_id, "purge", memory.id


def _facts(memory: Memory) -> dict[str, str]:
    forgotten = {"forgottenAt": memory.archived_at.isoformat()} if memory.archived_at else {}
    return {"scope": memory.scope.value, "scopeId": memory.scope_id, "author": memory.user_id} | forgotten
