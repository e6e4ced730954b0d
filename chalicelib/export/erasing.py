"""The erasure of a person: begun by a request, gone on with by the worker, looked at twice, and ended with a receipt.

All stores are gone through, stage by stage. A record in the truth says how far it is, so that it may be killed at any
point and gone on with by any process. From its first moment nothing is taken for the person any more (`tombstones`); once
every request and every piece of work that did not know of it has ended, all stores are gone through a second time.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.caller import Caller
from chalicelib.domain.erasure import (
    Erased,
    Erasure,
    ErasureRecord,
    ErasureState,
    Person,
    Shared,
    new_pseudonym,
)
from chalicelib.domain.keys import new_id
from chalicelib.errors import Conflict, NotFound, StoreUnavailable
from chalicelib.export.checking import NOBODY, ErasureCheck
from chalicelib.export.stages import Stages
from chalicelib.export.tombstones import Tombstones
from chalicelib.ports import AuditLog, Clock, ErasureLedger, Telemetry

REQUEST_SECONDS = 8.0  # what a request works itself before it leaves the rest to the worker
LOOKING_SECONDS = 4.0  # how long it is found out whether there is such a user
HELD = timedelta(seconds=60)  # a process that was killed holds a record no longer
AT_ONCE = 20
LOOKS = 2
Progressed = Callable[[ErasureRecord], None]


def nothing(_: ErasureRecord) -> None:
    """What follows a step where nobody watches."""


class Erasing:
    """`grace` is how long nothing that did not know of an erasure lasts; then its second look is taken."""

    def __init__(
        self,
        *,
        ledger: ErasureLedger,
        stages: Stages,
        check: ErasureCheck,
        tombstones: Tombstones,
        audit: AuditLog,
        telemetry: Telemetry,
        clock: Clock,
        grace: timedelta,
    ) -> None:
        self._ledger = ledger
        self._stages = stages
        self._check = check
        self._tombstones = tombstones
        self._audit = audit
        self._telemetry = telemetry
        self._clock = clock
        self._grace = grace

    def start(self, caller: Caller, user_id: str, shared: Shared = "keep") -> Erasure:
        """Erase a user: the caller itself, or for an admin any of the organization. It goes on with one that is under way,
        works for a few seconds, and leaves the rest to the worker. NotFound where nothing is kept of another; Conflict where
        one is under way that does something else with what they shared."""
        person = visible(caller, user_id)
        if caller.user_id != user_id and not self._is_known(person):
            raise NotFound(NOBODY)
        record = self._begun(person, caller.user_id, shared, caller.on_behalf_by)
        return self._worked_for_a_while(record).receipt

    def begin(self, person: Person, requested_by: str, shared: Shared) -> ErasureRecord:
        """Begin an erasure, or find the one that is under way, for whoever has the stores' own credentials."""
        return self._begun(person, requested_by, shared)

    def anew(self, record: ErasureRecord) -> ErasureRecord:
        """An erasure that is under way, from its first stage on. Conflict where another process went on with it just now."""
        now = self._clock()
        receipt = record.receipt.model_copy(update={"state": ErasureState.ERASING, "settles_at": now + self._grace})
        update = {"stage": 0, "after": None, "passes": 0, "changed_at": now, "version": record.version + 1}
        fresh = record.model_copy(update=update | {"receipt": receipt})
        if not self._ledger.keep(fresh):
            raise Conflict("another process works on this erasure")
        return fresh

    def work_on_all(self, time_is_up: Callable[[], bool]) -> int:
        """Go on with what is not finished and due; how many steps. One that fails hinders no other."""
        steps = 0
        for record in self._ledger.unfinished(AT_ONCE):
            try:
                steps += self.work(record, time_is_up).version - record.version
            except StoreUnavailable as error:
                self._say_paused(record, error)
        return steps

    def work(
        self, record: ErasureRecord, time_is_up: Callable[[], bool], progressed: Progressed = nothing
    ) -> ErasureRecord:
        """Go on with an erasure until it has to wait or time is up; its record then. Of several processes one works."""
        holder = new_id("hld")
        try:
            while not time_is_up() and self._is_due(record):
                now = self._clock()
                if not self._ledger.take(record, holder, now, now + HELD):
                    break
                record = self._step(record)
                progressed(record)
        finally:
            self._let_go(record, holder)
        return record

    def _let_go(self, record: ErasureRecord, holder: str) -> None:
        """Leave the record to whoever comes next; where that cannot be said, they wait until the hold ends."""
        now = self._clock()
        with suppress(StoreUnavailable):
            self._ledger.take(record, holder, now, now)

    def _is_known(self, person: Person) -> bool:
        """Whether something is kept of the person, or was; also where that takes long to find out."""
        return self._ledger.of(person) is not None or self._check.anything(person, self._within(LOOKING_SECONDS))

    def _within(self, seconds: float) -> Callable[[], bool]:
        until = self._clock() + timedelta(seconds=seconds)
        return lambda: self._clock() > until

    def _worked_for_a_while(self, record: ErasureRecord) -> ErasureRecord:
        latest = [record]
        try:
            return self.work(record, self._within(REQUEST_SECONDS), latest.append)
        except StoreUnavailable as error:
            self._say_paused(record, error)
            return latest[-1]

    def _begun(self, person: Person, by: str, shared: Shared, on_behalf_by: str | None = None) -> ErasureRecord:
        standing = self._ledger.of(person)
        if standing and not standing.is_finished:
            if standing.receipt.shared != shared:
                raise Conflict(f"an erasure with shared={standing.receipt.shared} is under way", field="shared")
            return standing
        record = self._fresh(person, by, shared, on_behalf_by, standing)
        if not self._ledger.keep(record):
            raise Conflict("another erasure of this user began just now")
        self._tombstones.look_again()
        return record

    def _fresh(
        self, person: Person, by: str, shared: Shared, on_behalf_by: str | None, before: ErasureRecord | None
    ) -> ErasureRecord:
        now, pseudonym = self._clock(), new_pseudonym()
        receipt = Erasure(
            id=new_id("era"),
            org_id=person.org_id,
            pseudonym=pseudonym,
            shared=shared,
            requested_by=pseudonym if by == person.user_id else by,
            on_behalf_by=on_behalf_by,
            requested_at=now,
            settles_at=now + self._grace,
            counts=dict.fromkeys(self._stages.names, Erased()),
        )
        salt = before.salt if before else self._ledger.salt(person.org_id)
        return ErasureRecord(
            receipt=receipt,
            salt=salt,
            digest=person.digest(salt),
            earlier=(*before.earlier, before.receipt) if before else (),
            user_id=person.user_id,
            changed_at=now,
            version=before.version + 1 if before else 1,
        )

    def _is_due(self, record: ErasureRecord) -> bool:
        receipt = record.receipt
        waits = receipt.state is ErasureState.SETTLING and self._clock() < receipt.settles_at
        return not record.is_finished and not waits

    def _step(self, record: ErasureRecord) -> ErasureRecord:
        """One step of the present stage, kept. Where another process kept one first, theirs."""
        person = record.person
        assert person
        name = self._stages.names[record.stage]
        step = self._stages.run(name, person, record.receipt, record.after)
        counts = {**record.receipt.counts}
        for kind, done in ((name, Erased(removed=step.removed, changed=step.changed)), *step.also.items()):
            counts[kind] = counts.get(kind, Erased()).plus(done.removed, done.changed)
        update = {"after": step.after, "changed_at": self._clock(), "version": record.version + 1}
        if step.after is None:
            update["stage"] = record.stage + 1
        receipt = record.receipt.model_copy(update={"counts": counts})
        after = record.model_copy(update=update | {"receipt": receipt})
        if after.stage == len(self._stages.names):
            after = self._gone_through(after)
        kept = after if self._ledger.keep(after) else (self._ledger.of(person) or after)
        if kept.is_finished:
            self._tombstones.look_again()
        return kept

    def _gone_through(self, record: ErasureRecord) -> ErasureRecord:
        """The record once all stores were gone through: it waits for the second look, or it is finished."""
        again: dict[str, object] = {"stage": 0, "after": None, "passes": record.passes + 1}
        if record.passes + 1 < LOOKS:
            self._audit.add([self._event(record.receipt)])
            receipt = record.receipt.model_copy(update={"state": ErasureState.SETTLING})
            return record.model_copy(update=again | {"receipt": receipt})
        now = self._clock()
        receipt = record.receipt.model_copy(update={"state": ErasureState.FINISHED, "finished_at": now})
        self._telemetry.event("erasure_finished", level="info", erasure=receipt.id, things=receipt.total)
        return record.model_copy(update=again | {"receipt": receipt, "user_id": None})

    def _event(self, receipt: Erasure) -> AuditEvent:
        """Named for the receipt, so that it is there once however often it is written."""
        return AuditEvent(
            id=receipt.id,
            org_id=receipt.org_id,
            at=receipt.requested_at,
            action="erase_user",
            actor=receipt.requested_by,
            on_behalf_by=receipt.on_behalf_by,
            target=receipt.pseudonym,
            details={"shared": receipt.shared, "things": receipt.total},
        )

    def _say_paused(self, record: ErasureRecord, error: StoreUnavailable) -> None:
        self._telemetry.event("erasure_paused", level="error", erasure=record.receipt.id, reason=error.message)


def visible(caller: Caller, user_id: str) -> Person:
    """The user where the caller may ask for what is kept of them: itself, or an admin any of its organization. NotFound
    otherwise, as where there is no such user."""
    if caller.user_id != user_id and not caller.is_admin:
        raise NotFound(NOBODY)
    return Person(caller.org_id, user_id)
