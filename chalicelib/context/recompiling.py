"""Genomes gone over by a language model, off the request path: when that is due, how it is asked, and what of its answer
is kept. Without a language model the heuristic genome stands, and nothing is queued.
"""

from collections.abc import Callable
from typing import Protocol

from chalicelib.domain.genome.compiled import CompiledGenome, Genome, as_data
from chalicelib.domain.genome.model import (
    ACTION_CHARACTERS,
    DECISION_CHARACTERS,
    FACT_CHARACTERS,
    KEY_POINT_CHARACTERS,
    MAX_KEY_POINTS,
    NAME_CHARACTERS,
    ConversationGenome,
)
from chalicelib.domain.genome.recompilation import (
    EVERY_MERGES,
    EVERY_VERSIONS,
    Refused,
    recompiled_session,
    recompiled_user,
)
from chalicelib.domain.genome.user_model import UserGenome
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.tasks import RecompileSessionGenome, RecompileUserGenome, Task
from chalicelib.errors import InvalidInput, LanguageModelFailed, LanguageModelUnavailable, VittoError
from chalicelib.ports import Clock, LanguageModel, TaskQueue, Telemetry, UserGenomeStore

INSTRUCTIONS = (
    "You tidy the notes that an assistant keeps of a conversation. Each line of the data is a numbered entry. Answer only "
    "with entries that get better: join entries that say the same, name topics after what they are about, make notes "
    "readable. 'sources' lists the numbers of all entries, of the same kind, that an entry of yours takes the place of; "
    "each number at most once. Use only words of those entries, in their language: leave out, join and reorder, but add "
    "nothing, and keep names, numbers, dates, negations, and who is named before a colon as the speaker. Where two "
    "disagree, keep what is dated later. Join only entries of one speaker. List under 'outdated' the numbers of tasks that "
    "are done, of topics that are over, and of decisions and facts that a later entry about the same replaces. Leave out "
    "everything that may stay as it is; where all may, every list is empty. Lengths in characters: a topic's name "
    f"{NAME_CHARACTERS}, a key point {KEY_POINT_CHARACTERS} and {MAX_KEY_POINTS} of them, a decision "
    f"{DECISION_CHARACTERS}, a fact {FACT_CHARACTERS}, a task {ACTION_CHARACTERS}."
)


class SessionGenomes(Protocol):
    """What is needed of the store of session genomes."""

    def load(self, session_key: str) -> ConversationGenome | None: ...

    def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
        """Keep `genome` where the one that is kept has the version expected; whether it did."""


class GenomeRecompiler:
    """Asks the language model for a better genome. It gives the new one, one version on, or None where the heuristic one
    stands: the event `genome_not_recompiled` says why. LanguageModelUnavailable where the model may answer later."""

    def __init__(self, model: LanguageModel | None, telemetry: Telemetry, clock: Clock) -> None:
        self._model = model
        self._telemetry = telemetry
        self._clock = clock

    def session(self, genome: ConversationGenome) -> ConversationGenome | None:
        """A session's genome gone over."""
        return self._asked("session", genome, lambda answer: recompiled_session(genome, answer))

    def user(self, genome: UserGenome) -> UserGenome | None:
        """A user's genome gone over."""
        return self._asked("user", genome, lambda answer: recompiled_user(genome, answer, self._clock()))

    def _asked[G: (ConversationGenome, UserGenome)](
        self, whose: str, genome: G, taken: Callable[[CompiledGenome], G]
    ) -> G | None:
        if self._model is None or not (data := as_data(genome)):
            return None
        try:
            return taken(self._model.complete(INSTRUCTIONS, data, CompiledGenome))
        except LanguageModelUnavailable:
            raise
        except (LanguageModelFailed, InvalidInput) as error:
            reason = error.message
        except Refused as refused:
            reason = refused.reason
        self._telemetry.event("genome_not_recompiled", reason=reason, genome=whose, version=genome.version)
        return None


class GenomeRecompiles:
    """What the queue's messages ask for. `sessions` is None where no session genomes are kept: there a message about one is
    about nothing."""

    def __init__(
        self,
        *,
        users: UserGenomeStore,
        sessions: SessionGenomes | None,
        recompiler: GenomeRecompiler,
        telemetry: Telemetry,
    ) -> None:
        self._users = users
        self._sessions = sessions
        self._recompiler = recompiler
        self._telemetry = telemetry

    def user(self, task: RecompileUserGenome) -> bool:
        """Have the user's genome gone over as it is now; whether it was replaced. One that is gone, or was gone over at that
        version or later, is left alone, and so is one that changed meanwhile: the event `genome_recompile_overtaken` says
        it, and the next time that it is due will find it."""
        ref = ScopeRef.from_key(task.scope_key)
        genome = self._users.load(ref.org_id, ref.scope_id)
        if genome is None or not _is_due(genome, task.version) or not (made := self._recompiler.user(genome)):
            return False
        return self._said("user", genome, kept=self._users.put(ref.org_id, made, genome.version))

    def session(self, task: RecompileSessionGenome) -> bool:
        """The same of the genome of a session whose owner the task names; of another's it is left alone."""
        owner = ScopeRef.from_key(task.scope_key).scope_id
        genome = self._sessions.load(task.session_key) if self._sessions else None
        if genome is None or genome.user_id != owner or not _is_due(genome, task.version):
            return False
        made = self._recompiler.session(genome)
        if made is None or self._sessions is None:
            return False
        return self._said("session", genome, kept=self._sessions.put(task.session_key, made, genome.version))

    def _said(self, whose: str, genome: Genome, *, kept: bool) -> bool:
        if not kept:
            self._telemetry.event("genome_recompile_overtaken", level="info", genome=whose, version=genome.version)
        return kept


def _is_due(genome: Genome, version: int) -> bool:
    return genome.recompiled < version <= genome.version


class RecompileSchedule:
    """Queues a genome to be gone over, where it is due: a session's at every tenth version, a user's after every fifth
    merge. Without a queue or a language model nothing is queued. It never raises: failing is an event, and the heuristic
    genome stands."""

    def __init__(self, queue: TaskQueue | None, model: LanguageModel | None, telemetry: Telemetry) -> None:
        self._queue = queue if model is not None else None
        self._telemetry = telemetry

    def session_changed(self, org_id: str, session_key: str, genome: ConversationGenome) -> None:
        """To be called after a session's genome was kept in a new version."""
        if genome.version and genome.version % EVERY_VERSIONS == 0:
            owner = ScopeRef(org_id, Scope.USER, genome.user_id).key
            self._send(RecompileSessionGenome(scope_key=owner, session_key=session_key, version=genome.version))

    def user_merged(self, org_id: str, genome: UserGenome) -> None:
        """To be called after something was merged into a user's genome and kept."""
        if genome.merges and genome.merges % EVERY_MERGES == 0:
            scope_key = ScopeRef(org_id, Scope.USER, genome.user_id).key
            self._send(RecompileUserGenome(scope_key=scope_key, version=genome.version))

    def _send(self, task: Task) -> None:
        if self._queue is None:
            return
        try:
            self._queue.send([task])
        except VittoError as error:
            self._telemetry.event("tasks_not_queued", reason=error.message, tasks=1)
