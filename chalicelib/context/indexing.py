"""Messages made findable: by their words as soon as they are appended, by meaning once the worker has embedded them."""

from collections.abc import Sequence
from dataclasses import replace

from chalicelib.domain.memory import Embedding, MemoryType
from chalicelib.domain.place import Place, asks
from chalicelib.domain.query import IndexQuery
from chalicelib.domain.session import KeptMessage, Session, indexed_text
from chalicelib.domain.vector import dimensions
from chalicelib.domain.wire import epoch_ms
from chalicelib.errors import EmbeddingFailed, StoreUnavailable
from chalicelib.ports import Embedder, HotIndex, IndexEntry, SessionStore, Telemetry

BATCH = 50
FAILURES_IN_A_ROW = 3
WORDED, EMBEDDED = (
    1,
    2,
)  # revisions of an entry: a late one without vectors takes those that are there away from nothing


class MessageIndex:
    """The index of a session's messages, which are known in it by their positions. `hot` is None where no Redis is
    configured: then the store is searched."""

    def __init__(self, store: SessionStore, hot: HotIndex | None, embedder: Embedder, telemetry: Telemetry) -> None:
        self._store = store
        self._hot = hot
        self._embedder = embedder
        self._telemetry = telemetry

    def announce(self, session: Session, kept: Sequence[KeptMessage], *, begun: bool) -> None:
        """Have the messages found by their words at once; the index of a session that was just `begun` holds all of it.
        Where the index is away the store is searched until the worker has told it; that is an event."""
        if self._hot is None:
            return
        try:
            if begun:
                self._hot.complete(session.key)
            self._hot.apply([self._entry(session.key, one) for one in kept])
        except StoreUnavailable as error:
            self._telemetry.event("index_unreachable", reason=error.message, rows=len(kept))

    def embed(self, session: Session, kept: Sequence[KeptMessage]) -> None:
        """Give messages vectors of the current model where they have none, and tell the index of all of them.
        EmbeddingFailed where a vector could not be had, the index told all the same; StoreUnavailable where the index could
        not be told."""
        stale, problem = [one for one in kept if not self._is_current(one)], None
        try:
            fresh = self._embedded(session, stale)
        except EmbeddingFailed as error:
            fresh, problem = {}, error
        if self._hot:
            self._hot.apply([self._entry(session.key, fresh.get(one.message.position, one)) for one in kept])
        if problem:
            raise problem

    def embed_again(self, session: Session) -> tuple[int, int]:
        """Give every message of the session that has none a vector of the current model; how many it gave, and how many the
        embedder refused. The index is told of none: `rebuild` comes after it."""
        start = given = refused = 0
        while kept := self._store.kept_from(session, start, BATCH):
            stale = [one for one in kept if not self._is_current(one)]
            fresh = self._embedded_where_possible(session, stale)
            given, refused, start = given + len(fresh), refused + len(stale) - len(fresh), start + len(kept)
        return given, refused

    def mend(self, session: Session) -> None:
        """Build the index of a session anew where it holds fewer messages than there are: a Redis that was started again may
        have lost some that it had acknowledged, and says nothing of it."""
        if self._hot is None:
            return
        last = self._store.latest(session, 1)
        asked = IndexQuery(None, self._embedder.passage_model, (), limit=1)
        answer = self._hot.search(session.chain, asked)
        if last and answer.statistics.rows <= last[0].position:
            self._telemetry.event("session_index_mended", session=session.key, rows=answer.statistics.rows)
            self.rebuild(session)

    def rebuild(self, session: Session) -> int:
        """Build the session's index anew from the store; how many messages it has."""
        if self._hot is None:
            return 0
        token, start = self._hot.begin_rebuild(session.key), 0
        while kept := self._store.kept_from(session, start, BATCH):
            self._hot.apply([self._entry(session.key, one) for one in kept])
            start += len(kept)
        self._hot.complete(session.key, token)
        return start

    def drop(self, session_key: str) -> None:
        """Take all of a session out of the index."""
        if self._hot:
            self._hot.begin_rebuild(session_key)

    def _is_current(self, kept: KeptMessage) -> bool:
        return kept.embedding is not None and kept.embedding.model == self._embedder.passage_model

    def _embedded(self, session: Session, stale: Sequence[KeptMessage]) -> dict[int, KeptMessage]:
        """These messages with vectors, by their positions."""
        if not stale:
            return {}
        vectors = self._embedder.embed_passages([indexed_text(one.message) for one in stale])
        model = self._embedder.passage_model
        made = [Embedding(model=model, dimensions=dimensions(group[0]), vectors=group) for group in vectors]
        fresh = {one.message.position: replace(one, embedding=new) for one, new in zip(stale, made, strict=True)}
        self._store.embed(session.key, {at: one.embedding for at, one in fresh.items() if one.embedding})
        return fresh

    def _embedded_where_possible(self, session: Session, stale: Sequence[KeptMessage]) -> dict[int, KeptMessage]:
        """These messages with vectors: all at once, else one by one, so that a text the embedder cannot take holds up no
        other; after a few failures in a row the embedder is taken to be down."""
        try:
            return self._embedded(session, stale)
        except EmbeddingFailed:
            fresh, failures = dict[int, KeptMessage](), 0
        for one in stale if len(stale) > 1 else ():
            try:
                fresh |= self._embedded(session, [one])
                failures = 0
            except EmbeddingFailed:
                failures += 1
            if failures == FAILURES_IN_A_ROW:
                break
        return fresh

    def _entry(self, session_key: str, kept: KeptMessage) -> IndexEntry:
        message, embedding = kept.message, kept.embedding
        return IndexEntry(
            scope_key=session_key,
            id=str(message.position),
            revision=EMBEDDED if embedding else WORDED,
            model=embedding.model if embedding else self._embedder.passage_model,
            vectors=embedding.vectors if embedding else (),
            counts=kept.counts,
            length=kept.length,
            type=MemoryType.CONVERSATION,
            tags=(),
            event_ms=epoch_ms(message.at),
            place=Place(asks=asks(message.text)),
        )
