"""The context of a turn: what a session holds and what memory holds, read, searched and composed. It stores nothing.

What it reads is bounded by the budget and by what the worker has not compressed yet, never by how long the session is.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol

from chalicelib.context.beside import Beside
from chalicelib.context.composing import Composed, SessionView, TurnRequest, compose
from chalicelib.context.drafting import checked_text
from chalicelib.context.reading import MessageReader
from chalicelib.context.recalling import Candidate, lend
from chalicelib.context.sessions import Sessions, as_heard, genome_of
from chalicelib.context.window import MOST, mean_message_tokens
from chalicelib.domain.caller import Caller
from chalicelib.domain.conversation import Message, SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import MAX_QUERY_CHARACTERS, Missing, MissingCode, RecallQuery
from chalicelib.domain.session import KeptMessage, Session
from chalicelib.domain.session_input import ContextRequest
from chalicelib.domain.vector import Vector
from chalicelib.errors import EmbeddingFailed
from chalicelib.plugins.manager import Reports
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.ports import Clock, Embedder, SessionGenomeStore

MOST_OUTSIDE = 500  # messages that a turn compresses itself where the worker is behind
FEWEST_READ, MOST_READ = 12, 120  # messages that a search found, which are read
WITH_NEIGHBOURS = 30  # of them, the best, whose neighbours are read too
HEARD = 20  # messages that plugins are shown
READ_SHARE = 0.6  # of the budget, that what is recalled may take
_QUERY_ID = "query"


class MessagesFound(Protocol):
    """What a search over a session found."""

    @property
    def fused(self) -> Mapping[int, float]:
        """By position, how well each message fits; comparable among themselves alone."""

    @property
    def degraded(self) -> tuple[Missing, ...]:
        """What the search went without."""

    def score(self, kept: KeptMessage) -> float:
        """How near a message is, on the calibrated scale."""


@dataclass(frozen=True)
class Briefs:
    """What stands in the stable prefix beside the system instructions: the Soul, and the user as the session began with."""

    soul: str = ""
    user: str = ""


Search = Callable[[Session, str, Vector | None, int], MessagesFound]
Recall = Callable[[Caller, RecallQuery, Callable[[str, Vector | None], None]], dict[str, Any]]
"""Answers a recall on the wire, and tells the text that it embeds and its vector as soon as it has it."""
BriefsOf = Callable[[Session, str, str], Briefs]
"""What stands there for a session, one of its users, and a query."""


@dataclass(frozen=True)
class TurnContext:
    """A context: the session, what was composed, the answer of the recall, what plugins did, and what was missing."""

    session: Session
    genome: ConversationGenome
    composed: Composed
    recall: dict[str, Any]
    plugins: Reports
    degraded: tuple[Missing, ...]


@dataclass(frozen=True)
class _Read:
    """A session as it was read: its genome, its latest messages, and how many it has."""

    session: Session
    genome: ConversationGenome
    latest: Sequence[SessionMessage]
    count: int
    degraded: list[Missing] = field(default_factory=list)


_Embedded = tuple[str, Vector | None]


@dataclass(frozen=True)
class _Recalling:
    """A recall under way: what it tells of its vector, long before its answer, and the answer."""

    told: SimpleQueue[_Embedded | None]
    answer: Future[dict[str, Any]]

    def embedded(self) -> _Embedded | None:
        """The text that it embeds and its vector; None where it could not embed. Its error where it failed before."""
        told = self.told.get()
        if told is None:  # it is over
            self.answer.result()
        return told


class ContextAssembler:
    """Assembles contexts."""

    def __init__(
        self,
        *,
        sessions: Sessions,
        reader: MessageReader,
        genomes: SessionGenomeStore,
        search: Search,
        recall: Recall,
        embedder: Embedder,
        hooks: SessionHooks,
        clock: Clock,
        briefs: BriefsOf,
    ) -> None:
        self._sessions = sessions
        self._reader = reader
        self._genomes = genomes
        self._search = search
        self._recall = recall
        self._embedder = embedder
        self._hooks = hooks
        self._clock = clock
        self._briefs = briefs

    def assemble(self, caller: Caller, session_id: str, sent: ContextRequest) -> TurnContext:
        """The context of the next turn, within its budget. NotFound for whoever is no member; StoreUnavailable without
        MongoDB. Without Redis or the embedder it is made of what there is, and that is said."""
        checked_text(sent.query, "query")
        request, _ = cleaned(sent)
        checked_text(request.query, "query")
        session = self._sessions.visible(caller, session_id)
        with Beside() as beside:
            briefs_of = beside.begin(lambda: self._briefs(session, caller.user_id, request.query))
            read = self._read(session)
            asked = RecallQuery(query=request.query[:MAX_QUERY_CHARACTERS], position=read.count)
            recalling = self._recalling(beside, caller, asked)
            view = self._view(read, request, self._vector(asked.query, recalling, read))
            hints, plugins = self._hooks.hints(caller, session_id, self._heard(caller, read, request))
            recall, briefs = recalling.answer.result(), briefs_of.result()
        turn = TurnRequest(
            query=request.query,
            total_budget=request.total_budget,
            response_buffer=request.response_buffer,
            asked_by=caller.user_id,
            soul=briefs.soul,
            system=request.system,
            user=briefs.user,
            memories=_memories(recall, read.session),
            hints=hints,
        )
        return TurnContext(read.session, read.genome, compose(turn, view), recall, plugins, tuple(read.degraded))

    def _read(self, session: Session) -> _Read:
        genome = self._genomes.load(session.key) or genome_of(session)
        compressed = genome.message_range.to
        latest = self._reader.latest(session, MOST + MOST_OUTSIDE, from_position=max(0, compressed - MOST))
        read = _Read(session, genome, latest, latest[-1].position + 1 if latest else 0)
        if latest and latest[0].position > compressed:
            missed = latest[0].position - compressed
            said = f"{missed} messages are not compressed yet; the worker is behind"
            read.degraded.append(Missing(part="genome", code=MissingCode.INDEX_INCOMPLETE, message=said))
        return read

    def _view(self, read: _Read, request: ContextRequest, vector: Vector | None) -> SessionView:
        """The session with what a search over all of it found."""
        if not read.count:
            return SessionView(read.genome, ())
        found = self._search(read.session, request.query, vector, read.count)
        read.degraded.extend(found.degraded)
        fused = {at: score for at, score in lend(found.fused).items() if at < read.count}
        order = sorted(fused, key=lambda at: (-fused[at], at))[: _most_read(request, read.latest)]
        beside = {at + step for at in order[:WITH_NEIGHBOURS] for step in (-1, 1)} - {-1}
        kept = {one.message.position: one for one in self._reader.at(read.session, sorted({*order, *beside}))}
        candidates = [Candidate(kept[at].message, found.score(kept[at])) for at in order if at in kept]
        around = {at: one.message for at, one in kept.items()} | {one.position: one for one in read.latest}
        return SessionView(read.genome, read.latest, candidates, around)

    def _recalling(self, beside: Beside, caller: Caller, asked: RecallQuery) -> _Recalling:
        """A recall under way."""
        told = SimpleQueue[_Embedded | None]()

        def recall() -> dict[str, Any]:
            try:
                return self._recall(caller, asked, lambda text, vector: told.put((text, vector)))
            finally:
                told.put(None)

        return _Recalling(told, beside.begin(recall))

    def _vector(self, text: str, recalling: _Recalling, read: _Read) -> Vector | None:
        """The vector of the query without the names of speakers, as recall embeds it, by recall where it did. The recall's
        error where it failed."""
        plain, vector = recalling.embedded() or (text, None)
        if vector:
            return vector
        try:
            return self._embedder.embed_query(plain)
        except EmbeddingFailed as error:
            missing = Missing(part="query_vector", code=MissingCode.EMBEDDING_FAILED, message=error.message)
            read.degraded.append(missing)
            return None

    def _heard(self, caller: Caller, read: _Read, request: ContextRequest) -> list[Message]:
        """The latest messages as they are to the caller, and what is asked now."""
        asked = Message(id=_QUERY_ID, speaker="user", text=request.query, at=self._clock())
        return [*as_heard(read.latest[-HEARD:], caller), asked]


def _most_read(request: ContextRequest, latest: Sequence[SessionMessage]) -> int:
    """How many of the messages that were found have room."""
    room = int(READ_SHARE * request.total_budget / mean_message_tokens(latest))
    return max(FEWEST_READ, min(MOST_READ, room))


def _memories(recall: Mapping[str, Any], session: Session) -> list[Memory]:
    """The recalled memories, without those that were said in this session: its messages stand for themselves."""
    found = [Memory.model_validate(hit["memory"]) for hit in recall["hits"]]
    return [memory for memory in found if not memory.origin or memory.origin.session_id != session.id]
