"""The services over their ports, each made when it is first asked for. Sessions and the migration are imported then too: the
cold start of a recall does not wait for them."""

from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from chalicelib.bootstrap import upkeep
from chalicelib.bootstrap.building import Ports
from chalicelib.context.recompiling import GenomeRecompiler, GenomeRecompiles, RecompileSchedule
from chalicelib.context.user_genomes import UserGenomes
from chalicelib.domain.caller import Caller
from chalicelib.domain.text.injection import found_in
from chalicelib.export.docs.exporter import DocsExporter
from chalicelib.export.tombstones import Tombstones
from chalicelib.plugins.aftermath import AfterResponse
from chalicelib.plugins.emotional_context import EmotionalContext
from chalicelib.plugins.hooks import Plugin
from chalicelib.plugins.manager import Plugins
from chalicelib.plugins.registry import Registry, load
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.plugins.switches import Switchboard
from chalicelib.recall.audit import RecallAudit
from chalicelib.recall.dopamine_router import DopamineRouter
from chalicelib.recall.hooks import RecallHooks
from chalicelib.recall.pipeline import RecallPipeline
from chalicelib.settings import Settings
from chalicelib.write.admission.gate import AdmissionGate
from chalicelib.write.admission.plugins import PluginRulings
from chalicelib.write.admission.scope_view import ScopeView
from chalicelib.write.admission.stage import AdmissionStage
from chalicelib.write.audit import Auditor
from chalicelib.write.backfill import Backfill
from chalicelib.write.consolidation.consolidator import Consolidator
from chalicelib.write.consolidation.finishing import Successions
from chalicelib.write.decisions import Decisions
from chalicelib.write.deferral import Deferral
from chalicelib.write.editing import Editor
from chalicelib.write.hooks import AdmissionControl, AdmissionHooks, ConsolidationHooks, RememberHooks
from chalicelib.write.indexing import Indexer
from chalicelib.write.lookup import ScopeLookup
from chalicelib.write.maintenance import Maintenance
from chalicelib.write.pipeline import RememberPipeline
from chalicelib.write.preference_learning import PreferenceLearner, PreferenceLearning
from chalicelib.write.promoting import Promoter
from chalicelib.write.prospective.plugin import ProspectiveIndex
from chalicelib.write.prospective.questions import ProspectiveQuestions
from chalicelib.write.prospective.writer import QuestionWriter
from chalicelib.write.purge import Purge
from chalicelib.write.review import Reviewer
from chalicelib.write.souls import Souls
from chalicelib.write.sweep import Sweep
from chalicelib.write.tasks import TaskConsumer, TaskRunner
from chalicelib.write.versioning import MemoryVersioning, Versions

if TYPE_CHECKING:
    from chalicelib.bootstrap.conversation import SessionServices
    from chalicelib.bootstrap.personal import PersonalServices
    from chalicelib.domain.tasks import ScopedTask
    from chalicelib.write.migration.run import Migration


class Container:
    """The services over a set of ports. Misconfigured where a plugin that the settings list cannot be had.

    `sleeps` says that this process stands still once it has answered, so that plugins after a response run before it.
    `marks_later` lets a write answer before the truth notes that the index has its rows."""

    def __init__(
        self,
        settings: Settings,
        ports: Ports,
        *,
        sleeps: bool = False,
        marks_later: bool = False,
        plugins: Sequence[Plugin] = (),
    ) -> None:
        self.settings = settings
        self.ports = ports
        self._marks_later = marks_later and not sleeps
        switchboard = Switchboard(ports.switches, ports.clock, ports.telemetry)
        registry = Registry(self._built_in_plugins(), [*load(settings.plugins.listed), *plugins])
        self.plugins = Plugins(registry, switchboard, ports.telemetry, settings.plugins)
        self.after_response = AfterResponse(self.plugins, ports.telemetry, wait=sleeps)

    def _built_in_plugins(self) -> list[Plugin]:
        """The plugins that come with the product. Each lives beside what it wraps."""
        return [
            AdmissionControl(),
            MemoryVersioning(),
            DopamineRouter(),
            EmotionalContext(),
            PreferenceLearning(self.preferences, self.deferral.learn_later),
            ProspectiveIndex(self.deferral.write_questions_later),
        ]

    @cached_property
    def preferences(self) -> PreferenceLearner:
        """What users want of answers."""

        def remember(caller: Caller, items: list[dict[str, Any]], once: str | None) -> None:
            self.remember.remember(caller, [*items], key=once, single=False)

        return PreferenceLearner(
            self.ports.store, remember, lambda org_id: self.plugins.is_on(org_id, PreferenceLearning.name)
        )

    @cached_property
    def session_hooks(self) -> SessionHooks:
        """Plugins around sessions."""
        return SessionHooks(self.plugins)

    @cached_property
    def conversation(self) -> "SessionServices":
        """Sessions and their contexts."""
        from chalicelib.bootstrap.conversation import SessionServices  # noqa: PLC0415 - see the module

        return SessionServices(
            self.ports,
            hooks=self.session_hooks,
            auditor=self.auditor,
            remember=self.remember,
            recall=self.recall,
            souls=self.souls,
            user_genomes=self.user_genomes,
            recompile_schedule=self.recompile_schedule,
            tombstones=self.tombstones,
        )

    @cached_property
    def tombstones(self) -> Tombstones:
        """Who is being erased."""
        return Tombstones(self.ports.erasures, self.ports.clock, self.ports.telemetry)

    @cached_property
    def personal(self) -> "PersonalServices":
        """What is kept of persons."""
        from chalicelib.bootstrap.personal import PersonalServices  # noqa: PLC0415 - see the module

        return PersonalServices(
            self.ports,
            tombstones=self.tombstones,
            conversation=self.conversation,
            indexer=self.indexer,
            deferral=self.deferral,
            recall_audit=self.recall_audit,
            withdraw_docs=self.docs_exporter.withdraw,
            grace=timedelta(seconds=self.settings.erasure.grace_seconds),
        )

    @cached_property
    def versions(self) -> Versions:
        """What readers see of the history of memories."""
        return Versions(self.plugins)

    @cached_property
    def indexer(self) -> Indexer:
        """Makes rows findable."""
        p = self.ports
        return Indexer(
            store=p.store,
            hot=p.hot,
            embedder=p.embedder,
            telemetry=p.telemetry,
            clock=p.clock,
            questions=p.questions,
            later=self.after_response.later if self._marks_later else None,
        )

    @cached_property
    def auditor(self) -> Auditor:
        """Writes audit events."""
        return Auditor(self.ports.audit, self.ports.clock)

    @cached_property
    def souls(self) -> Souls:
        """Who the assistant of each organization is."""
        return Souls(self.ports.souls, self.auditor, self.ports.clock)

    @cached_property
    def user_genomes(self) -> UserGenomes:
        """What is kept of users across sessions."""
        return UserGenomes(self.ports.user_genomes, self.ports.clock, self.recompile_schedule.user_merged)

    @cached_property
    def deferral(self) -> Deferral:
        """What requests leave to the queue."""
        p = self.ports
        return Deferral(p.queue, p.telemetry, lambda org_id: self.plugins.is_on(org_id, ProspectiveIndex.name))

    @cached_property
    def lookup(self) -> ScopeLookup:
        """What the hot index knows around new rows."""
        p = self.ports
        return ScopeLookup(store=p.store, hot=p.hot, embedder=p.embedder, telemetry=p.telemetry, clock=p.clock)

    @cached_property
    def admission(self) -> AdmissionStage:
        """Verdicts on what wants in."""
        p = self.ports
        view = ScopeView(store=p.store, lookup=self.lookup, embedder=p.embedder, telemetry=p.telemetry, clock=p.clock)
        hooks = PluginRulings(AdmissionHooks(self.plugins))
        return AdmissionStage(gate=AdmissionGate(view), indexer=self.indexer, telemetry=p.telemetry, hooks=hooks)

    @cached_property
    def consolidator(self) -> Consolidator:
        """What becomes of a new row beside those that are there."""
        p = self.ports
        return Consolidator(
            store=p.store,
            lookup=self.lookup,
            embedder=p.embedder,
            indexer=self.indexer,
            auditor=self.auditor,
            telemetry=p.telemetry,
            clock=p.clock,
        )

    @cached_property
    def successions(self) -> Successions:
        """Finishes what consolidation began."""
        p = self.ports
        return Successions(store=p.store, indexer=self.indexer, auditor=self.auditor, clock=p.clock)

    @cached_property
    def remember(self) -> RememberPipeline:
        """The write path."""
        p = self.ports
        return RememberPipeline(
            store=p.store,
            receipts=p.receipts,
            indexer=self.indexer,
            lookup=self.lookup,
            admission=self.admission,
            consolidator=self.consolidator,
            apart=ConsolidationHooks(self.plugins),
            auditor=self.auditor,
            deferral=self.deferral,
            clock=p.clock,
            hooks=RememberHooks(self.after_response),
        )

    @cached_property
    def editor(self) -> Editor:
        """Single memories."""
        p = self.ports
        return Editor(
            store=p.store,
            decisions=self.decisions,
            indexer=self.indexer,
            auditor=self.auditor,
            deferral=self.deferral,
            clock=p.clock,
        )

    @cached_property
    def decisions(self) -> Decisions:
        """What review, sweep and purge decide, carried out."""
        p = self.ports
        return Decisions(
            store=p.store,
            hot=p.hot,
            cache=p.cache,
            indexer=self.indexer,
            auditor=self.auditor,
            deferral=self.deferral,
            telemetry=p.telemetry,
            clock=p.clock,
        )

    @cached_property
    def reviewer(self) -> Reviewer:
        """Quarantined memories before people."""
        p = self.ports
        return Reviewer(store=p.store, decisions=self.decisions, promoter=self.promoter, auditor=self.auditor)

    @cached_property
    def promoter(self) -> Promoter:
        """Lets memories out of quarantine, for people and for the sweep."""
        p = self.ports
        return Promoter(
            store=p.store,
            decisions=self.decisions,
            consolidator=self.consolidator,
            apart=ConsolidationHooks(self.plugins),
            indexer=self.indexer,
            auditor=self.auditor,
            deferral=self.deferral,
            clock=p.clock,
        )

    @cached_property
    def sweep(self) -> Sweep:
        """Quarantined memories that nobody reviewed."""
        return upkeep.sweep(self)

    @cached_property
    def purge(self) -> Purge:
        """Forgotten memories whose time is over."""
        return upkeep.purge(self)

    @cached_property
    def recall(self) -> RecallPipeline:
        """The read path."""
        p = self.ports
        return RecallPipeline(
            store=p.store,
            hot=p.hot,
            vectors=p.vectors,
            cache=p.cache,
            records=p.recalls,
            embedder=p.embedder,
            telemetry=p.telemetry,
            clock=p.clock,
            settings=self.settings.recall,
            hooks=RecallHooks(self.plugins, self.after_response),
        )

    @cached_property
    def recall_audit(self) -> RecallAudit:
        """What recalls did."""
        return RecallAudit(self.ports.recalls, self.ports.cache, self.ports.telemetry, self.ports.clock)

    @cached_property
    def maintenance(self) -> Maintenance:
        """What the worker does."""
        return upkeep.maintenance(self)

    @cached_property
    def backfill(self) -> Backfill:
        """Embeddings that rows lack."""
        return upkeep.backfill(self)

    def migration(self, organization: str | None = None) -> "Migration":
        """Rows of before made into rows of today; `organization` is whose a row is that names none."""
        from chalicelib.write.migration.run import Migration  # noqa: PLC0415 - see the module

        return Migration(self.ports.old_rows, self.ports.clock, organization)

    @cached_property
    def docs_exporter(self) -> DocsExporter:
        """Memories as documents."""
        return upkeep.docs_exporter(self.ports)

    @cached_property
    def tasks(self) -> TaskRunner:
        """What messages on the queue ask for."""
        return TaskRunner(
            self.maintenance,
            self.prospective,
            self.backfill,
            self.preferences,
            self.ports.queue,
            settle_session=self.conversation.settler.settle,
            recompile_user=self.recompiles.user,
            recompile_session=self.recompiles.session,
            export_docs=self.docs_exporter.go_on,
            is_moot=self._is_moot,
        )

    def _is_moot(self, task: "ScopedTask") -> bool:
        from chalicelib.bootstrap.personal import is_moot  # noqa: PLC0415 - see the module

        return is_moot(self.ports, self.tombstones, task)

    @cached_property
    def recompiles(self) -> GenomeRecompiles:
        """Genomes gone over by a language model, as messages ask for it."""
        p = self.ports
        return GenomeRecompiles(
            users=p.user_genomes,
            sessions=p.genomes,
            recompiler=GenomeRecompiler(p.language_model, p.telemetry, p.clock),
            telemetry=p.telemetry,
        )

    @cached_property
    def recompile_schedule(self) -> RecompileSchedule:
        """When genomes are to be gone over."""
        return RecompileSchedule(self.ports.queue, self.ports.language_model, self.ports.telemetry)

    @cached_property
    def prospective(self) -> ProspectiveQuestions:
        """The questions that memories will be asked."""
        p = self.ports
        return ProspectiveQuestions(
            store=p.store,
            questions=p.questions,
            embedder=p.embedder,
            indexer=self.indexer,
            writer=QuestionWriter(p.language_model, p.telemetry, lambda text: bool(found_in(text))),
            clock=p.clock,
        )

    @cached_property
    def consumer(self) -> TaskConsumer:
        """Takes messages off the queue."""
        p = self.ports
        return TaskConsumer(queue=p.queue, runner=self.tasks, telemetry=p.telemetry, clock=p.clock)
