"""Sessions as callers have them: appended to, read, ended, deleted; for whoever is no member they do not exist."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from chalicelib.context.drafting import Draft, drafts
from chalicelib.context.indexing import MessageIndex
from chalicelib.context.removal import SessionRemoval
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.conversation import Message, SessionMessage, Speaker
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.incoming import checked_external_id, cleaned
from chalicelib.domain.keys import new_id
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.session import DEFAULT_BUDGET, KeptMessage, Session, Snapshot, is_member, may_join
from chalicelib.domain.session_input import AppendRequest, MessageReceipt
from chalicelib.domain.tasks import SettleSession, Task
from chalicelib.errors import Conflict, Forbidden, NotFound, VittoError
from chalicelib.plugins.manager import Reports
from chalicelib.plugins.sessions import SessionHooks
from chalicelib.ports import Clock, SessionChange, SessionGenomeStore, SessionStore, TaskQueue, Telemetry

TOLD_AT_END = 200  # messages that plugins are told of a session that ends
Audit = Callable[[Caller, str, Sequence[str]], None]


@dataclass(frozen=True)
class Appended:
    """The session after an append, the receipts in the order of the messages, and what plugins did at its start."""

    session: Session
    receipts: tuple[MessageReceipt, ...]
    plugins: Reports = ()


@dataclass(frozen=True)
class GenomeState:
    """A session's genome and how many of its messages are not in it yet."""

    genome: ConversationGenome
    outside: int


class Sessions:
    """What the routes call. `queue` is None where none is configured: the worker finds what waits by itself. `known_of` is
    what is known of a user, as prompt text; `ending` is told of a session that is about to end, and may be told again."""

    def __init__(
        self,
        *,
        store: SessionStore,
        genomes: SessionGenomeStore,
        index: MessageIndex,
        removal: SessionRemoval,
        queue: TaskQueue | None,
        hooks: SessionHooks,
        audit: Audit,
        telemetry: Telemetry,
        clock: Clock,
        known_of: Callable[[Caller], str],
        ending: Callable[[Session], None],
    ) -> None:
        self._store = store
        self._genomes = genomes
        self._index = index
        self._removal = removal
        self._queue = queue
        self._hooks = hooks
        self._audit = audit
        self._telemetry = telemetry
        self._clock = clock
        self._known_of = known_of
        self._ending = ending

    def visible(self, caller: Caller, session_id: str) -> Session:
        """The session where the caller is a member; NotFound whether it is another's or nobody's."""
        session = self._store.get(caller.org_id, session_id)
        if session is None or not is_member(session, caller):
            raise NotFound("no such session")
        return session

    def append(self, caller: Caller, session_id: str, sent: AppendRequest) -> Appended:
        """Append messages; the first append begins the session, which is the caller's then.

        NotFound for a session that is another's, Conflict for a message id that stands for other content, or for a space or
        universe that the session does not have; Forbidden where another than the owner says whether it is extracted."""
        caller.require(Role.MEMBER)
        checked_external_id(session_id, "sessionId")
        request = sent.model_copy(update={"messages": ()})
        request, _ = cleaned(request)
        session, begun = self._opened(caller, session_id, request, joins=bool(sent.messages))
        extract = (request.extract or session.extract) == "on"
        drafted = drafts(caller, sent.messages, self._clock(), extract=extract)
        kept = self._store.append(session, [draft.kept for draft in drafted if draft.kept])
        session = self._changed(caller, session, request, begun=begun, kept=kept)
        self._index.announce(session, kept, begun=begun)
        self._settle_later(session, kept)
        if caller.on_behalf_by and kept:
            self._audit(caller, "append_messages", [session.id])
        plugins = self._hooks.started(caller, session.id) if begun else ()
        return Appended(session, _receipts(drafted, kept), plugins)

    def read(self, caller: Caller, session_id: str, start: int, limit: int) -> list[SessionMessage]:
        """At most `limit` messages from position `start` on."""
        return self._store.between(self.visible(caller, session_id), start, limit)

    def read_latest(self, caller: Caller, session_id: str, limit: int) -> list[SessionMessage]:
        """At most `limit` of the latest messages, in their order."""
        return self._store.latest(self.visible(caller, session_id), limit)

    def genome(self, caller: Caller, session_id: str) -> GenomeState:
        """The genome as the worker last kept it; an empty one of version 0 where nothing left the window yet."""
        session = self.visible(caller, session_id)
        genome = self._genomes.load(session.key) or genome_of(session)
        last = self._store.latest(session, 1)
        return GenomeState(genome, (last[0].position + 1 if last else 0) - genome.message_range.to)

    def end(self, caller: Caller, session_id: str) -> tuple[Session, Reports]:
        """End the session, once; appending begins it anew. Plugins are told with the messages that it ends with."""
        caller.require(Role.MEMBER)
        session = self.visible(caller, session_id)
        if session.ended_at:
            return session, ()
        self._ending(session)
        ended = self._store.change(session, SessionChange(ended_at=self._clock()))
        if ended is None:
            raise NotFound("no such session")
        said = as_heard(self._store.latest(session, TOLD_AT_END), caller)
        return ended, self._hooks.ended(caller, session.id, said)

    def delete(self, caller: Caller, session_id: str) -> int:
        """Delete the session with its messages, its genome and their index; how many messages. Forbidden for a member who
        is not its owner. What became a memory stays one."""
        caller.require(Role.MEMBER)
        session = self.visible(caller, session_id)
        if session.owner != caller.user_id:
            raise Forbidden("only its owner may delete a session", needs=["owner"])
        removed = self._removal.remove(session)
        self._audit(caller, "delete_session", [session.id])
        return removed

    def _opened(self, caller: Caller, session_id: str, request: AppendRequest, *, joins: bool) -> tuple[Session, bool]:
        """The session to append to, and whether this append begins it."""
        standing = self._store.get(caller.org_id, session_id)
        if standing is None:
            new = self._new(caller, session_id, request)
            standing = self._store.open(new)
            if standing.incarnation == new.incarnation:
                return standing, True
        if not is_member(standing, caller) and not (joins and may_join(standing, caller)):
            raise NotFound("no such session")
        _check_terms(caller, standing, request)
        return standing, False

    def _new(self, caller: Caller, session_id: str, request: AppendRequest) -> Session:
        for scope, scope_id, field in (
            (Scope.SPACE, request.space_id, "spaceId"),
            (Scope.UNIVERSE, request.universe_id, "universeId"),
        ):
            if scope_id is not None:
                caller.writable(scope, scope_id, field)
        return Session(
            id=session_id,
            org_id=caller.org_id,
            owner=caller.user_id,
            space_id=request.space_id,
            universe_id=request.universe_id,
            extract=request.extract or "on",
            last_budget=request.total_budget or DEFAULT_BUDGET,
            created_at=self._clock(),
            incarnation=new_id("ses"),
            snapshots=self._snapshots(caller),
        )

    def _changed(
        self, caller: Caller, session: Session, request: AppendRequest, *, begun: bool, kept: Sequence[KeptMessage]
    ) -> Session:
        """The session with what this append changes of it. NotFound where it was deleted meanwhile."""
        joins = bool(kept) and not is_member(session, caller)
        change = SessionChange(
            joined=caller.user_id if joins else None,
            snapshot=next(iter(self._snapshots(caller)), None) if joins else None,
            extract=request.extract if request.extract != session.extract else None,
            last_budget=request.total_budget if request.total_budget != session.last_budget else None,
            resumed=bool(kept) and session.ended_at is not None,
        )
        if begun or change == SessionChange():
            return session
        changed = self._store.change(session, change)
        if changed is None:
            raise NotFound("no such session")
        return changed

    def _snapshots(self, caller: Caller) -> tuple[Snapshot, ...]:
        text = self._known_of(caller)
        return (Snapshot(user_id=caller.user_id, text=text),) if text else ()

    def _settle_later(self, session: Session, kept: Sequence[KeptMessage]) -> None:
        """Have the worker see to the messages. Failing is an event: it finds them by itself a while later."""
        ids = tuple(dict.fromkeys(one.message.id for one in kept))
        if not ids or self._queue is None:
            return
        org = ScopeRef(session.org_id, Scope.ORGANIZATION, session.org_id)
        tasks: list[Task] = [SettleSession(scope_key=org.key, session_key=session.key, ids=ids)]
        try:
            self._queue.send(tasks)
        except VittoError as error:
            self._telemetry.event("tasks_not_queued", reason=error.message, tasks=len(tasks))


def genome_of(session: Session) -> ConversationGenome:
    """The genome of a session of which nothing was compressed yet."""
    return ConversationGenome(session_id=session.id, user_id=session.owner)


def as_heard(messages: Sequence[SessionMessage], caller: Caller) -> list[Message]:
    """The messages as they are to the caller: its own are the user's, those of other users somebody else's."""

    def speaker(message: SessionMessage) -> Speaker:
        if message.role == "assistant":
            return "assistant"
        return "user" if message.author == caller.user_id else "other"

    return [Message(id=one.id, speaker=speaker(one), text=one.text, at=one.at) for one in messages]


def _check_terms(caller: Caller, session: Session, request: AppendRequest) -> None:
    """What only the first append, or only the owner, may say."""
    for name, standing, asked in (
        ("spaceId", session.space_id, request.space_id),
        ("universeId", session.universe_id, request.universe_id),
    ):
        if asked is not None and asked != standing:
            raise Conflict(f"{name} was named when the session began, and otherwise", field=name)
    if request.extract not in {None, session.extract} and caller.user_id != session.owner:
        raise Forbidden("whether a session is extracted is its owner's to say", field="extract")


def _receipts(drafted: Sequence[Draft], kept: Sequence[KeptMessage]) -> tuple[MessageReceipt, ...]:
    positions = {one.message.id: one.message.position for one in kept}
    return tuple(draft.receipt(positions[draft.id] if draft.kept else None) for draft in drafted)
