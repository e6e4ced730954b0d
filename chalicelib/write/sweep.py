"""The quarantine sweep: what nobody reviewed for a month is promoted where later memories bear it out, else deleted in time.

Evidence is what people let in: a memory that the sweep itself promoted vouches for no other. So no chain of rows promotes
itself, and a second run finds nothing that the first one left to it.
"""

import json
import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.retention import EVIDENCE_OF, LOOKED_AT_AFTER, SIMILAR_ENOUGH, SweepOutcome, SweepReport, judged
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import unpack
from chalicelib.errors import DuplicateContent, VittoError
from chalicelib.ports import Clock, Embedder, MemoryStore, RowId, Telemetry
from chalicelib.write.audit import SYSTEM, Auditor
from chalicelib.write.decisions import BATCH, Decisions
from chalicelib.write.indexing import Indexer
from chalicelib.write.promoting import Promoter
from chalicelib.write.review import facts_of

CHECKPOINT = "sweep"
RESUMED_WITHIN = timedelta(days=1)  # a run that was cut off longer ago is not gone on with: rows became due behind it
FAILURES_IN_A_ROW = 3


class _OutOfTime(Exception):
    """Raised between two pieces of work, neither of which is left half done."""


@dataclass
class _Case:
    """A row under consideration: its vectors, and the nearest evidence so far."""

    row: StoredMemory
    vectors: Sequence[array[float]] = ()
    cosine: float | None = None
    match: str | None = None
    compared: bool = True


class Sweep:
    """May be killed and run again: each row is decided by compare-and-set, and a run goes on where the last one stopped."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        embedder: Embedder,
        indexer: Indexer,
        decisions: Decisions,
        promoter: Promoter,
        auditor: Auditor,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._indexer = indexer
        self._decisions = decisions
        self._promoter = promoter
        self._auditor = auditor
        self._telemetry = telemetry
        self._clock = clock

    def run(self, *, dry_run: bool = False, time_is_up: Callable[[], bool] = lambda: False) -> SweepReport:
        """Decide about every row that is in quarantine for 30 days or longer, of every organization. With `dry_run` only say
        how it would. It takes on nothing new once `time_is_up`."""
        report = SweepReport(dry_run=dry_run)
        try:
            self._run(report, time_is_up)
            report.finished = True
        except _OutOfTime:
            pass
        except VittoError as error:
            self._telemetry.event("sweep_stopped", level="error", reason=error.message, **report.body())
            raise
        name = "sweep_finished" if report.finished else "sweep_postponed"
        is_well = report.finished and not report.undecided
        self._telemetry.event(name, level="info" if is_well else "warning", **report.body())
        return report

    def _run(self, report: SweepReport, time_is_up: Callable[[], bool]) -> None:
        now = self._clock()
        after = None if report.dry_run else self._resumed(now)
        if not report.dry_run:
            self._decisions.finish()
        while rows := self._store.quarantined(now - LOOKED_AT_AFTER, BATCH, after=after):
            for scope_key, cases in _by_scope(rows):
                if time_is_up():
                    raise _OutOfTime
                asked = [case for case in cases if not case.row.memory.is_held_for_injection]
                self._compare(scope_key, asked, now, time_is_up)
                for case in cases:
                    report.count(self._decide(case, now, dry_run=report.dry_run))
            after = rows[-1].memory.org_id, rows[-1].memory.id
            if not report.dry_run:
                self._store.keep_checkpoint(CHECKPOINT, json.dumps([now.isoformat(), *after]))
        if not report.dry_run:
            self._store.keep_checkpoint(CHECKPOINT, "")

    def _resumed(self, now: datetime) -> RowId | None:
        """After which row the last run was cut off; None where it ended, or too long ago."""
        kept = self._store.checkpoint(CHECKPOINT)
        if not kept:
            return None
        at, org_id, id_ = json.loads(kept)
        return (org_id, id_) if now - datetime.fromisoformat(at) <= RESUMED_WITHIN else None

    def _compare(self, scope_key: str, cases: Sequence[_Case], now: datetime, time_is_up: Callable[[], bool]) -> None:
        """Find each case's nearest evidence in the scope, and whether it could be compared with all of it."""
        open_ = self._with_vectors(cases)
        is_blind, after = len(open_) < len(cases), ""
        found, current = 0, 0
        while open_ or (is_blind and not found):
            if time_is_up():
                raise _OutOfTime
            if not (rows := self._store.admitted(scope_key, now - EVIDENCE_OF, after=after)):
                break
            evidence = [row.memory for row in rows if _is_evidence(row.memory, now)]
            found += len(evidence)
            current += sum(self._hold_against(memory, open_) for memory in evidence)
            open_ = [case for case in open_ if not self._is_borne_out(case)]
            after = rows[-1].memory.id
        for case in cases:
            case.compared = not found or (found == current and bool(case.vectors))

    def _hold_against(self, evidence: Memory, cases: Sequence[_Case]) -> bool:
        """Whether the memory could be compared with the cases, which then know it where it is nearer than what they had."""
        if not (evidence.embedding and self._indexer.has_current_vectors(evidence)):
            return False
        vectors = [unpack(vector) for vector in evidence.embedding.vectors]
        for case in cases:
            nearest = max(math.sumprod(mine, other) for mine in case.vectors for other in vectors)
            if case.cosine is None or nearest > case.cosine:
                case.cosine, case.match = nearest, evidence.id
        return True

    def _is_borne_out(self, case: _Case) -> bool:
        return case.cosine is not None and self._embedder.similarity(case.cosine) > SIMILAR_ENOUGH

    def _with_vectors(self, cases: Sequence[_Case]) -> list[_Case]:
        """The cases that have current vectors, or get them now, one by one: a text that the embedder refuses holds up no
        other; after a few failures in a row it is taken to be down."""
        failures = 0
        for case in cases:
            if not self._indexer.has_current_vectors(case.row.memory) and failures < FAILURES_IN_A_ROW:
                (case.row,) = self._indexer.analysed([case.row.memory])
                failures = 0 if self._indexer.has_current_vectors(case.row.memory) else failures + 1
            if case.row.memory.embedding and self._indexer.has_current_vectors(case.row.memory):
                case.vectors = [unpack(vector) for vector in case.row.memory.embedding.vectors]
        return [case for case in cases if case.vectors]

    def _decide(self, case: _Case, now: datetime, *, dry_run: bool) -> SweepOutcome:
        memory = case.row.memory
        similarity = None if case.cosine is None else self._embedder.similarity(case.cosine)
        outcome = judged(memory, similarity, now, compared=case.compared)
        if dry_run or outcome in {SweepOutcome.KEPT, SweepOutcome.UNDECIDED}:
            return outcome
        facts = facts_of(memory)
        if similarity is not None and outcome is SweepOutcome.PROMOTED:
            facts |= {"match": case.match, "similarity": round(similarity, 4)}
        event = self._auditor.system_event(memory.org_id, f"sweep_{outcome}", memory.id, **facts)
        return outcome if self._carry_out(case.row, outcome, event) else SweepOutcome.OVERTAKEN

    def _carry_out(self, row: StoredMemory, outcome: SweepOutcome, event: AuditEvent) -> bool:
        """Whether the row was as it was read, and the decision stands."""
        if outcome is SweepOutcome.DELETED:
            return self._decisions.remove(row, event) is not None
        try:
            return self._promoter.promote(_for_the_author(row.memory), row, SYSTEM, event) is not None
        except DuplicateContent:  # let in by other means, which a person has to look at
            return False


def _by_scope(rows: Sequence[StoredMemory]) -> list[tuple[str, list[_Case]]]:
    ordered = sorted(rows, key=lambda row: row.memory.scope_ref.key)
    grouped = groupby(ordered, key=lambda row: row.memory.scope_ref.key)
    return [(scope_key, [_Case(row) for row in group]) for scope_key, group in grouped]


def _for_the_author(memory: Memory) -> Caller:
    """Whoever wrote it, in its scope alone: a promote of the sweep changes no more than a remember of theirs would."""
    own = (memory.scope_id,)
    return Caller(
        memory.org_id,
        memory.user_id,
        frozenset({Role.MEMBER}),
        spaces=own if memory.scope is Scope.SPACE else (),
        universes=own if memory.scope is Scope.UNIVERSE else (),
        on_behalf_by=SYSTEM,
    )


def _is_evidence(memory: Memory, now: datetime) -> bool:
    return memory.promoted_by != SYSTEM and not memory.is_expired(now)
