"""Making rows findable: their terms and vectors, and the hot index in step with the truth."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from chalicelib.domain.claims.terms import claim_terms
from chalicelib.domain.memory import Embedding, IndexState, Memory, Status
from chalicelib.domain.place import place_of
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.questions import QuestionSet
from chalicelib.domain.receipt import IndexReceipt
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import dimensions
from chalicelib.domain.wire import epoch_ms
from chalicelib.errors import EmbeddingFailed, StoreUnavailable
from chalicelib.ports import Clock, Embedder, HotIndex, IndexEntry, IndexRemoval, MemoryStore, QuestionStore, Telemetry


class Indexer:
    """Computes what rows are found by, and publishes it. `hot` is None where no Redis is configured, `questions` where no
    prospective questions are kept. `later` has work done that no request waits for; without it there is none."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        hot: HotIndex | None,
        embedder: Embedder,
        telemetry: Telemetry,
        clock: Clock,
        questions: QuestionStore | None = None,
        later: Callable[[Callable[[], None]], None] | None = None,
    ) -> None:
        self._later = later
        self._questions = questions
        self._store = store
        self._hot = hot
        self._embedder = embedder
        self._telemetry = telemetry
        self._clock = clock

    @property
    def model(self) -> str:
        """The model and size of the vectors that are current."""
        return self._embedder.passage_model

    def analysed(self, memories: Sequence[Memory]) -> list[StoredMemory]:
        """Rows with terms, and with vectors unless the embedder fails: then they stay `pending` and are found by text."""
        try:
            embeddings = self._embeddings(memories)
        except EmbeddingFailed as error:
            self._telemetry.event("embedding_failed", reason=error.message, rows=len(memories))
            embeddings = [None] * len(memories)
        return [_row(memory, embedding) for memory, embedding in zip(memories, embeddings, strict=True)]

    def _embeddings(self, memories: Sequence[Memory]) -> list[Embedding | None]:
        vectors = self._embedder.embed_passages([memory.indexed_text for memory in memories])
        return [Embedding(model=self.model, dimensions=dimensions(group[0]), vectors=group) for group in vectors]

    def publish(
        self, rows: Sequence[StoredMemory], *, with_questions: bool = False, fresh: bool = False
    ) -> list[IndexReceipt]:
        """Bring the index in step with stored rows, whatever their status, and note in the truth which now are.

        A row whose vector is missing, or that the index could not be told of, stays `pending` for the worker. Questions of
        rows that are not active go. `with_questions` tells the index of those that are stored, which it may have lost; for a
        revision that was stored a moment ago there are none. Of `fresh` rows, which nobody has seen yet, the note may follow
        after the response: where a process dies before it, the worker publishes them again."""
        problem = self._apply(rows, with_questions=with_questions)
        receipts = [self._receipt(row, problem) for row in rows]
        done = [(row.memory, True) for row, r in zip(rows, receipts, strict=True) if r.state is IndexState.INDEXED]
        if done and fresh and self._later:
            self._later(lambda: self._settle(done))
        elif done:
            self._settle(done)
        return receipts

    def _settle(self, done: Sequence[tuple[Memory, bool]]) -> None:
        try:
            self._store.settle(done)
        except StoreUnavailable as error:  # the worker publishes such rows again, which changes nothing
            self._telemetry.event("rows_not_settled", reason=error.message, rows=len(done))

    def publish_questions(self, row: StoredMemory, questions: QuestionSet) -> None:
        """Tell the index of a row's questions. StoreUnavailable where it could not be told. A row without current vectors is
        left to the worker, who publishes it with its questions once it has them."""
        if self._hot is not None and self.has_current_vectors(row.memory):
            self._hot.apply([self._with_questions(row, questions)])

    def drop_questions(self, chain: Chain, ids: Sequence[str]) -> None:
        """Take the stored questions of memories that are gone away for good."""
        if self._questions is not None:
            self._questions.remove(chain, ids)

    def sweep_questions(self, scope_key: str) -> None:
        """Take away the stored questions of a scope whose memory is not there or not active: what a purge that was cut off
        left behind."""
        if self._questions is None:
            return
        chain, after = _chain_of(scope_key), ""
        while ids := self._questions.of_scope(scope_key, after=after):
            there = {row.memory.id for row in self._store.fetch(chain, ids) if self._is_findable(row.memory)}
            if gone := [id_ for id_ in ids if id_ not in there]:
                self._questions.remove(chain, gone)
            after = ids[-1]

    def _apply(self, rows: Sequence[StoredMemory], *, with_questions: bool) -> str | None:
        try:
            self._retire_questions(rows)
            if self._hot is not None and rows:
                self._hot.apply(self.changes(rows) if with_questions else [self.change(row) for row in rows])
        except StoreUnavailable as error:
            self._telemetry.event("index_unreachable", reason=error.message, rows=len(rows))
            return f"{error.message}; the worker will index it"
        return None

    def _retire_questions(self, rows: Sequence[StoredMemory]) -> None:
        """A row that never was anything but quarantined has none."""
        gone = [row for row in rows if not self._is_findable(row.memory) and row.memory.revision > 1]
        for chain, some in _by_scope(gone):
            if self._questions is not None:
                self._questions.remove(chain, [row.memory.id for row in some])

    def changes(self, rows: Sequence[StoredMemory]) -> list[IndexEntry | IndexRemoval]:
        """What the index has to be told of rows with all that it may have lost, in the order of their scopes."""
        told: list[IndexEntry | IndexRemoval] = []
        for chain, some in _by_scope(rows):
            sets = self._questions.of(chain, [row.memory.id for row in some]) if self._questions else {}
            told += [self._with_questions(row, sets.get(row.memory.id)) for row in some]
        return told

    def _with_questions(self, row: StoredMemory, questions: QuestionSet | None) -> IndexEntry | IndexRemoval:
        change = self.change(row)
        fits = questions is not None and (questions.revision, questions.model) == (row.memory.revision, self.model)
        if questions is None or not fits or isinstance(change, IndexRemoval) or change.model != self.model:
            return change
        return replace(change, questions=questions.vectors, question_terms=questions.terms)

    def _is_findable(self, memory: Memory) -> bool:
        return memory.status is Status.ACTIVE and not memory.is_expired(self._clock())

    def _receipt(self, row: StoredMemory, problem: str | None) -> IndexReceipt:
        if problem:
            return IndexReceipt(state=IndexState.PENDING, reason=problem)
        if row.memory.status is Status.ACTIVE and not self.has_current_vectors(row.memory):
            return IndexReceipt(
                state=IndexState.PENDING, reason="it could not be embedded yet; it is found by its words"
            )
        return IndexReceipt(state=IndexState.INDEXED)

    def has_current_vectors(self, memory: Memory) -> bool:
        """Whether the memory has vectors of the model in use."""
        return memory.embedding is not None and memory.embedding.model == self.model

    def change(self, row: StoredMemory) -> IndexEntry | IndexRemoval:
        """What the index has to be told of a row: it holds active ones whose time has not run out."""
        memory = row.memory
        scope_key = memory.scope_ref.key
        if not self._is_findable(memory):
            return IndexRemoval(scope_key, memory.id, memory.revision)
        embedding = memory.embedding
        return IndexEntry(
            scope_key=scope_key,
            id=memory.id,
            revision=memory.revision,
            model=embedding.model if embedding else self.model,
            vectors=embedding.vectors if embedding else (),
            counts=row.counts,
            length=row.length,
            type=memory.type,
            tags=memory.tags,
            event_ms=epoch_ms(memory.event_time),
            place=place_of(memory),
        )


def _by_scope(rows: Sequence[StoredMemory]) -> Iterator[tuple[Chain, list[StoredMemory]]]:
    """The rows of each scope with the chain of that scope alone."""
    scopes: dict[str, list[StoredMemory]] = {}
    for row in rows:
        scopes.setdefault(row.memory.scope_ref.key, []).append(row)
    for scope_key, some in scopes.items():
        yield _chain_of(scope_key), some


def _chain_of(scope_key: str) -> Chain:
    ref = ScopeRef.from_key(scope_key)
    return Chain(ref.org_id, (ref,))


def _row(memory: Memory, embedding: Embedding | None) -> StoredMemory:
    terms = index_terms(memory.indexed_text)
    counts = terms.counts | claim_terms(memory)
    return StoredMemory(memory.model_copy(update={"embedding": embedding}), counts, terms.length)
