"""The services of sessions over their ports, each made when it is first asked for."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from chalicelib.bootstrap.building import Ports
from chalicelib.context.assembling import Briefs, ContextAssembler
from chalicelib.context.extraction import Extraction
from chalicelib.context.indexing import MessageIndex
from chalicelib.context.merging import SessionMerger
from chalicelib.context.reading import MessageReader
from chalicelib.context.recompiling import RecompileSchedule
from chalicelib.context.removal import SessionRemoval
from chalicelib.context.sessions import Sessions
from chalicelib.context.settling import SessionSettler
from chalicelib.context.upkeep import SessionUpkeep
from chalicelib.context.user_genomes import UserGenomes
from chalicelib.domain.caller import Caller
from chalicelib.domain.erasure import Person
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.user import user_text
from chalicelib.domain.session import Session
from chalicelib.export.tombstones import Tombstones
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.prompt.soul import full_soul, needs_full_soul, soul_brief
from chalicelib.recall.messages import MessageSearch
from chalicelib.recall.pipeline import RecallPipeline
from chalicelib.write.audit import Auditor
from chalicelib.write.pipeline import RememberPipeline
from chalicelib.write.souls import Souls


class SessionServices:
    """What keeps sessions, over what else the product has for them."""

    def __init__(
        self,
        ports: Ports,
        *,
        hooks: SessionHooks,
        auditor: Auditor,
        remember: RememberPipeline,
        recall: RecallPipeline,
        souls: Souls,
        user_genomes: UserGenomes,
        recompile_schedule: RecompileSchedule,
        tombstones: Tombstones,
    ) -> None:
        self._ports = ports
        self._hooks = hooks
        self._auditor = auditor
        self._remember = remember
        self._recall = recall
        self._souls = souls
        self._user_genomes = user_genomes
        self._recompile_schedule = recompile_schedule
        self._tombstones = tombstones

    @cached_property
    def index(self) -> MessageIndex:
        """Makes messages findable."""
        p = self._ports
        return MessageIndex(p.sessions, p.hot, p.embedder, p.telemetry)

    @cached_property
    def removal(self) -> SessionRemoval:
        """Takes sessions away."""
        p = self._ports
        return SessionRemoval(p.sessions, p.genomes, self.index, p.store, p.telemetry)

    @cached_property
    def upkeep(self) -> SessionUpkeep:
        """Keeps their indexes."""
        return SessionUpkeep(self._ports.sessions, self.index, self.removal)

    @cached_property
    def merger(self) -> SessionMerger:
        """Takes what users say into their genomes."""
        return SessionMerger(self._ports.sessions, self._user_genomes)

    @cached_property
    def sessions(self) -> Sessions:
        """Sessions as callers have them."""
        p = self._ports
        return Sessions(
            store=p.sessions,
            genomes=p.genomes,
            index=self.index,
            removal=self.removal,
            queue=p.queue,
            hooks=self._hooks,
            audit=self._auditor.record,
            telemetry=p.telemetry,
            clock=p.clock,
            known_of=self._known_of,
            ending=self.merger.finish,
        )

    @cached_property
    def settler(self) -> SessionSettler:
        """What the worker does with messages."""
        p = self._ports

        def remember(caller: Caller, items: list[Mapping[str, Any]], once: str) -> Any:
            if self._tombstones.is_being_erased(Person(caller.org_id, caller.user_id)):
                return None
            return self._remember.remember(caller, items, key=once, single=False)

        return SessionSettler(
            store=p.sessions,
            genomes=p.genomes,
            index=self.index,
            extraction=Extraction(p.sessions, remember),
            removal=self.removal,
            telemetry=p.telemetry,
            clock=p.clock,
            merger=self.merger,
            compressed=self._compressed,
        )

    @cached_property
    def context(self) -> ContextAssembler:
        """The context of a turn."""
        p = self._ports
        return ContextAssembler(
            sessions=self.sessions,
            reader=MessageReader(p.sessions),
            genomes=p.genomes,
            search=MessageSearch(p.sessions, p.hot, p.embedder).find,
            recall=self._recall.recall,
            embedder=p.embedder,
            hooks=self._hooks,
            clock=p.clock,
            briefs=self._briefs,
        )

    def _known_of(self, caller: Caller) -> str:
        genome = self._user_genomes.of(caller.org_id, caller.user_id)
        return user_text(genome) if genome else ""

    def _compressed(self, session: Session, genome: ConversationGenome) -> None:
        self._recompile_schedule.session_changed(session.org_id, session.key, genome)

    def _briefs(self, session: Session, user_id: str, query: str) -> Briefs:
        stored = self._souls.of(session.org_id)
        written = full_soul if needs_full_soul(query) else soul_brief
        return Briefs(written(stored.soul) if stored else "", session.snapshot_of(user_id))
