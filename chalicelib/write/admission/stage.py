"""Admission as the write path sees it: candidates in, rows with their verdicts out, plugins and trust taken into account.

What overrules what: an injection found in a text is quarantined whatever anybody says; after it comes a plugin's rejection,
then a plugin that failed (quarantine), what a plugin forces, the trust of an admin, and last the score.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.admission import Decision, Ruling, Verdict
from chalicelib.domain.caller import Caller
from chalicelib.domain.input import SaidMessage
from chalicelib.domain.memory import IndexState, Memory, MemoryType, QuarantineReason, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import Telemetry
from chalicelib.write.admission.gate import AdmissionGate
from chalicelib.write.admission.judgement import INJECTION, TRUST, judged
from chalicelib.write.admission.signals import Incoming
from chalicelib.write.drafts import Draft
from chalicelib.write.indexing import Indexer
from chalicelib.write.lookup import Look

Hooks = Callable[[Caller, Memory, Verdict], Ruling]
"""What plugins say of a candidate whose verdict is known. Raising counts as failing."""

MESSAGES_OF_THE_BATCH = 3  # of the items before it in the same session; they stand for the messages that nobody gave


@dataclass(frozen=True)
class Judged:
    """A row as its verdict makes it: active, quarantined, or, where it was rejected, not to be stored. `ruling` is what the
    plugins said, None where there are none."""

    row: StoredMemory
    verdict: Verdict
    ruling: Ruling | None = None


class AdmissionStage:
    """`judge` is all of it; `hooks` asks the plugins, and is None where there are none."""

    def __init__(
        self, *, gate: AdmissionGate, indexer: Indexer, telemetry: Telemetry, hooks: Hooks | None = None
    ) -> None:
        self._gate = gate
        self._indexer = indexer
        self._telemetry = telemetry
        self.hooks = hooks

    def judge(
        self,
        caller: Caller,
        candidates: Sequence[Incoming],
        now: datetime,
        *,
        trusted: bool = False,
        look: Look | None = None,
    ) -> list[Judged]:
        """Each candidate judged, in their order; `look` is the request's. Nothing is stored."""
        verdicts = self._gate.judge(candidates, now, look)
        rows = [candidate.row for candidate in candidates]
        rulings: list[Ruling | None] = [None] * len(rows)
        if self.hooks:
            rulings = [self._ruling(self.hooks, caller, *each) for each in zip(rows, verdicts, strict=True)]
            rows, verdicts = self._after_changes(candidates, verdicts, rulings, now, look)
        found = []
        for row, verdict, ruling in zip(rows, verdicts, rulings, strict=True):
            ruled = _ruled(verdict, ruling, caller.user_id if trusted else None)
            self._say(row.memory, ruled)
            found.append(Judged(_as_judged(row, ruled, now), ruled, ruling))
        return found

    def _ruling(self, hooks: Hooks, caller: Caller, row: StoredMemory, verdict: Verdict) -> Ruling:
        """What the plugins say; where they cannot be asked, that they failed."""
        try:
            return hooks(caller, row.memory, verdict)
        except Exception as error:  # noqa: BLE001 - whatever a plugin does, the write goes on
            self._telemetry.event("admission_plugin_failed", reason=type(error).__name__)
            return Ruling(row.memory, failed=(QuarantineReason.PLUGIN.value,))

    def _after_changes(
        self,
        candidates: Sequence[Incoming],
        verdicts: list[Verdict],
        rulings: Sequence[Ruling | None],
        now: datetime,
        look: Look | None,
    ) -> tuple[list[StoredMemory], list[Verdict]]:
        """The rows as the plugins left them; one that was changed is analysed and judged again. An injection that was found
        in what came in is not undone by that."""
        rows, verdicts = [candidate.row for candidate in candidates], list(verdicts)
        changed = [i for i, ruling in enumerate(rulings) if ruling and ruling.memory is not rows[i].memory]
        fresh = self._indexer.analysed([ruling.memory for i in changed if (ruling := rulings[i])]) if changed else []
        again = self._gate.judge(
            [Incoming(row, candidates[i].messages) for i, row in zip(changed, fresh, strict=True)], now, look
        )
        for i, row, verdict in zip(changed, fresh, again, strict=True):
            before = verdicts[i]
            rows[i], verdicts[i] = row, judged(verdict.signals, before.injection) if before.injection else verdict
        return rows, verdicts

    def _say(self, memory: Memory, verdict: Verdict) -> None:
        if verdict.injection:
            self._telemetry.event("injection_quarantined", kinds=verdict.injection, scope=memory.scope, id=memory.id)


def incoming(drafts: Sequence[Draft], rows: Sequence[StoredMemory]) -> list[Incoming]:
    """The candidates of a batch: each row, which is one of the `drafts`, with the messages around it.

    What was said in a session is read after what the batch says before it there, where no messages were given."""
    said: dict[str, list[SaidMessage]] = {}
    messages: dict[str, tuple[SaidMessage, ...]] = {}
    for draft in drafts:
        memory = draft.memory
        messages[memory.id] = draft.messages
        session = memory.origin.session_id if memory.origin else None
        if session is not None and memory.type is MemoryType.CONVERSATION:
            before = said.setdefault(f"{memory.scope_ref.key}\n{session}", [])
            messages[memory.id] = draft.messages or tuple(before[-MESSAGES_OF_THE_BATCH:])
            before.append(SaidMessage(speaker=memory.origin.speaker if memory.origin else None, text=memory.content))
    return [Incoming(row, messages[row.memory.id]) for row in rows]


def _ruled(verdict: Verdict, ruling: Ruling | None, trusted_by: str | None) -> Verdict:
    decision, by = verdict.decision, verdict.by
    failed = ruling.failed if ruling else ()
    if by != INJECTION:
        if ruling and ruling.forced is Decision.REJECT:
            decision, by = Decision.REJECT, ruling.by
        elif failed:
            decision, by = Decision.QUARANTINE, failed[0]
        elif ruling and ruling.forced:
            decision, by = ruling.forced, ruling.by
        elif trusted_by is not None:
            decision, by = Decision.ADMIT, TRUST
    update = {"decision": decision, "by": by, "failed_plugins": failed, "trusted_by": trusted_by}
    return verdict.model_copy(update=update)


def _as_judged(row: StoredMemory, verdict: Verdict, now: datetime) -> StoredMemory:
    update: dict[str, Any] = {"admission": verdict.model_dump(mode="json", by_alias=True, exclude_none=True)}
    if verdict.decision is Decision.ADMIT:
        update |= {"status": Status.ACTIVE, "admitted_at": now}
    else:
        # no index holds it, and none has to be told so
        update |= {"status": Status.QUARANTINED, "index_state": IndexState.INDEXED, "quarantine_reason": _why(verdict)}
    return StoredMemory(row.memory.model_copy(update=update), row.counts, row.length)


def _why(verdict: Verdict) -> QuarantineReason:
    if verdict.by == INJECTION:
        return QuarantineReason.INJECTION
    return QuarantineReason.PLUGIN if verdict.failed_plugins or verdict.by else QuarantineReason.SCORE
