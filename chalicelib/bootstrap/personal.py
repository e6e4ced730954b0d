"""The services of what is kept of persons over their ports, each made when it is first asked for."""

from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from chalicelib.bootstrap.building import Ports
from chalicelib.domain.erasure import Person
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import ScopedTask
from chalicelib.export.checking import ErasureCheck
from chalicelib.export.erasing import Erasing
from chalicelib.export.person import PersonalExport
from chalicelib.export.reapplying import Reapplying
from chalicelib.export.stages import Stages, Surroundings
from chalicelib.export.tombstones import Tombstones
from chalicelib.recall.audit import RecallAudit
from chalicelib.write.deferral import Deferral
from chalicelib.write.indexing import Indexer

if TYPE_CHECKING:
    from chalicelib.bootstrap.conversation import SessionServices


class PersonalServices:
    """Gives out and takes away what is kept of persons."""

    def __init__(
        self,
        ports: Ports,
        *,
        tombstones: Tombstones,
        conversation: "SessionServices",
        indexer: Indexer,
        deferral: Deferral,
        recall_audit: RecallAudit,
        withdraw_docs: Callable[[str, str], int],
        grace: timedelta,
    ) -> None:
        self._ports = ports
        self._tombstones = tombstones
        self._conversation = conversation
        self._indexer = indexer
        self._deferral = deferral
        self._recall_audit = recall_audit
        self._withdraw_docs = withdraw_docs
        self._grace = grace

    @cached_property
    def erasing(self) -> Erasing:
        """Erases persons."""
        p = self._ports
        return Erasing(
            ledger=p.erasures,
            stages=self._stages,
            check=self.check,
            tombstones=self._tombstones,
            audit=p.audit,
            telemetry=p.telemetry,
            clock=p.clock,
            grace=self._grace,
        )

    @cached_property
    def check(self) -> ErasureCheck:
        """Checks receipts of erasures again."""
        return ErasureCheck(self._ports.erasures, self._ports.people, self._ports.traces)

    @cached_property
    def export(self) -> PersonalExport:
        """Gives out what is kept of a person."""
        return PersonalExport(self._ports.people)

    @cached_property
    def reapplying(self) -> Reapplying:
        """Does erasures again after a restore."""
        return Reapplying(self._ports.erasures, self._ports.people, self.erasing)

    @cached_property
    def _stages(self) -> Stages:
        p = self._ports
        around = Surroundings(
            remove_session=self._conversation.removal.remove,
            rebuild_session=self._conversation.index.rebuild,
            publish=self._indexer.publish,
            questions_later=self._deferral.write_questions_later,
            move_audit=self._recall_audit.drain,
            withdraw_docs=self._withdraw_docs,
        )
        return Stages(
            records=p.people,
            traces=p.traces,
            store=p.store,
            questions=p.questions,
            genomes=p.genomes,
            hot=p.hot,
            cache=p.cache,
            clock=p.clock,
            around=around,
        )


def is_moot(ports: Ports, tombstones: Tombstones, task: ScopedTask) -> bool:
    """Whether a task is about a user who is being erased, or who was and has stored nothing since. For one who came back it
    is harmless: it reads anew what it is about, and of what was there before it finds nothing."""
    ref = ScopeRef.from_key(task.scope_key)
    if ref.scope is not Scope.USER:
        return False
    person = Person(ref.org_id, ref.scope_id)
    if tombstones.is_being_erased(person):
        return True
    return tombstones.was_erased(person) and not ports.store.holds_any(task.chain)
