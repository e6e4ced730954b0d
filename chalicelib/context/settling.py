"""What the worker does with messages that were appended: compresses what left the window, embeds them, and gives what users
said to the write path. A repeat changes nothing, wherever the last attempt was cut off.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from chalicelib.context.composing import SessionView, settle
from chalicelib.context.extraction import Extraction
from chalicelib.context.indexing import MessageIndex
from chalicelib.context.merging import SessionMerger
from chalicelib.context.removal import SessionRemoval
from chalicelib.context.sessions import genome_of
from chalicelib.context.window import MOST
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.update import incremental_update
from chalicelib.domain.session import Session
from chalicelib.errors import EmbeddingFailed, StoreUnavailable, VittoError
from chalicelib.ports import Clock, SessionGenomeStore, SessionStore, Telemetry

ATTEMPTS = 20
SLICE = 200  # messages that are compressed at once where the worker is behind
GRACE = timedelta(seconds=60)  # younger ones have a message on the queue
LEFT_AT_ONCE = 200
Compressed = Callable[[Session, ConversationGenome], None]


class SessionSettler:
    """`compressed` is told of a genome that was kept, and must not raise."""

    def __init__(
        self,
        *,
        store: SessionStore,
        genomes: SessionGenomeStore,
        index: MessageIndex,
        extraction: Extraction,
        removal: SessionRemoval,
        telemetry: Telemetry,
        clock: Clock,
        merger: SessionMerger,
        compressed: Compressed,
    ) -> None:
        self._store = store
        self._genomes = genomes
        self._index = index
        self._extraction = extraction
        self._removal = removal
        self._telemetry = telemetry
        self._clock = clock
        self._merger = merger
        self._compressed = compressed

    def settle(self, session_key: str, ids: Sequence[str]) -> None:
        """See to these messages of a session; of one that is gone, to what is left of it. The error of whatever failed, once
        all that could be done is done: then the messages wait for another attempt."""
        session = self._store.by_key(session_key)
        if session is None:
            self._removal.erase(session_key)
            return
        self.compress(session)
        kept, problem = self._store.kept(session, ids), None
        try:
            self._index.embed(session, kept)
            self._index.mend(session)
        except (EmbeddingFailed, StoreUnavailable) as error:
            problem = error
        self._extraction.extract(session, kept)
        self._merger.keep_up(session, {one.message.author for one in kept if one.message.author})
        if problem:
            raise problem
        self._store.settle(session_key, ids)
        if self._store.by_key(session_key) is None:  # deleted meanwhile: what was kept since goes too
            self._removal.erase(session_key)

    def compress(self, session: Session) -> ConversationGenome:
        """Take what the session's last budget leaves no room for into its genome. However many workers do so at once, each
        message is taken in once: whoever comes second begins again from what the first one kept."""
        lost = 0
        while lost < ATTEMPTS:
            before = self._genomes.load(session.key) or genome_of(session)
            after, is_all = self._step(session, before)
            if after.version == before.version:
                return before
            if not self._genomes.put(session.key, after, before.version):
                lost += 1
                continue
            self._compressed(session, after)
            if is_all:
                return after
        raise StoreUnavailable("mongo", "too many workers compress this session at once")

    def settle_left(self) -> int:
        """See to messages that wait for longer than the queue would take: their message was lost, or there is no queue. How
        many. One session that fails hinders no other."""
        done = 0
        for session_key, ids in self._store.pending(self._clock() - GRACE, LEFT_AT_ONCE):
            try:
                self.settle(session_key, ids)
            except VittoError as error:
                self._telemetry.event("session_not_settled", session=session_key, reason=error.message)
            else:
                done += len(ids)
        return done

    def _step(self, session: Session, genome: ConversationGenome) -> tuple[ConversationGenome, bool]:
        """The genome with what left the window, or with the oldest slice of it, and whether that is all."""
        start = max(0, genome.message_range.to - MOST)
        latest = self._store.between(session, start, MOST + SLICE + MOST)
        if len(latest) == MOST + SLICE + MOST:
            return incremental_update(genome, latest[:-MOST]), False
        return settle(SessionView(genome, latest), session.last_budget).genome, True
