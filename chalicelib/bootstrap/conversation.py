"""The services of sessions over their ports, each made when it is first asked for."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from chalicelib.bootstrap.building import Ports
from chalicelib.context.assembling import ContextAssembler
from chalicelib.context.extraction import Extraction
from chalicelib.context.indexing import MessageIndex
from chalicelib.context.reading import MessageReader
from chalicelib.context.removal import SessionRemoval
from chalicelib.context.sessions import Sessions
from chalicelib.context.settling import SessionSettler
from chalicelib.domain.caller import Caller
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.recall.messages import MessageSearch
from chalicelib.recall.pipeline import RecallPipeline
from chalicelib.write.audit import Auditor
from chalicelib.write.pipeline import RememberPipeline


class SessionServices:
    """What keeps sessions. A Soul and a user genome stand in a context where `ContextAssembler` is given `briefs`; whoever
    wants to know of a genome that was kept is `SessionSettler`'s `compressed`."""

    def __init__(
        self, ports: Ports, hooks: SessionHooks, auditor: Auditor, remember: RememberPipeline, recall: RecallPipeline
    ) -> None:
        self._ports = ports
        self._hooks = hooks
        self._auditor = auditor
        self._remember = remember
        self._recall = recall

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
        )

    @cached_property
    def settler(self) -> SessionSettler:
        """What the worker does with messages."""
        p = self._ports

        def remember(caller: Caller, items: list[Mapping[str, Any]], once: str) -> Any:
            return self._remember.remember(caller, items, key=once, single=False)

        return SessionSettler(
            store=p.sessions,
            genomes=p.genomes,
            index=self.index,
            extraction=Extraction(p.sessions, remember),
            removal=self.removal,
            telemetry=p.telemetry,
            clock=p.clock,
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
        )
