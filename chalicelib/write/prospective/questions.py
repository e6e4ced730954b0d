"""The work of a `write_questions` message: from a memory to its questions in the truth and in the hot index.

It may be killed at any step and run again, and run twice at once: the first set that is stored for a revision is the set,
and whoever finds its memory gone or changed afterwards takes its own set away again.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.questions import Question, QuestionAuthor, QuestionSet, text_hash
from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.text.terms import index_terms
from chalicelib.domain.vector import mean
from chalicelib.ports import Clock, Embedder, MemoryStore, QuestionStore
from chalicelib.write.indexing import Indexer
from chalicelib.write.prospective.writer import QuestionWriter, Written

TASK_SECONDS = 30.0  # what a message works on a scope before another takes over, well within its visibility


class ProspectiveQuestions:
    """Writes, stores and indexes the questions of memories."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        questions: QuestionStore,
        embedder: Embedder,
        indexer: Indexer,
        writer: QuestionWriter,
        clock: Clock,
    ) -> None:
        self._store = store
        self._questions = questions
        self._embedder = embedder
        self._indexer = indexer
        self._writer = writer
        self._clock = clock

    def write(self, chain: Chain, id_: str, revision: int) -> None:
        """Have the questions of that revision stored and indexed; where the memory is gone, is not active or has changed
        since, nothing of that revision or an earlier one stays.

        EmbeddingFailed, LanguageModelUnavailable or StoreUnavailable where it is to be tried again."""
        row = self._current(chain, id_, revision)
        made = self._set_for(chain, row.memory) if row else None
        stood = self._questions.put(made) if made else None
        if row is None or stood is None or self._current(chain, id_, revision) is None:
            self._questions.remove(chain, [id_], up_to=revision)
        elif stood.revision == revision:
            self._indexer.publish_questions(row, stood)

    def write_scope(self, scope_key: str, *, after: str = "", seconds: float = TASK_SECONDS) -> str | None:
        """Write the questions of every active memory of a scope that has none of its present revision and of the present
        model: for memories from before, and after the model changed. It begins after the id `after`, and gives the one after
        which to go on once time is up, None where it is through."""
        ref, until = ScopeRef.from_key(scope_key), self._clock() + timedelta(seconds=seconds)
        chain = Chain(ref.org_id, (ref,))
        while rows := self._store.rows_of_scope(scope_key, after=after):
            for row in self._without_questions(chain, rows):
                self.write(chain, row.memory.id, row.memory.revision)
                after = row.memory.id
                if self._clock() >= until:
                    return after
            after = rows[-1].memory.id
        return None

    def _without_questions(self, chain: Chain, rows: Sequence[StoredMemory]) -> list[StoredMemory]:
        sets = self._questions.of(chain, [row.memory.id for row in rows])
        there = {one.memory_id: (one.revision, one.model) for one in sets.values()}
        model = self._embedder.passage_model
        return [row for row in rows if there.get(row.memory.id) != (row.memory.revision, model)]

    def _current(self, chain: Chain, id_: str, revision: int) -> StoredMemory | None:
        for row in self._store.fetch(chain, [id_], with_vectors=True):
            memory = row.memory
            active = memory.status is Status.ACTIVE and not memory.is_expired(self._clock())
            if active and memory.revision == revision:
                return row
        return None

    def _set_for(self, chain: Chain, memory: Memory) -> QuestionSet | None:
        """The set that stands, that of an earlier revision where the text is the same, or a new one; None where there is
        nothing to ask."""
        standing = self._questions.of(chain, [memory.id]).get(memory.id)
        if standing is None or standing.revision > memory.revision or standing.text_hash != text_hash(memory):
            return self._written(memory, self._writer.write(memory))
        if standing.model != self._embedder.passage_model:
            return self._written(memory, Written(standing.author, tuple(one.text for one in standing.questions)))
        return replace(standing, revision=memory.revision)

    def _written(self, memory: Memory, written: Written) -> QuestionSet | None:
        if not written.texts:
            return None
        vectors = self._embedder.embed_passages(written.texts)
        return QuestionSet(
            org_id=memory.org_id,
            scope_key=memory.scope_ref.key,
            memory_id=memory.id,
            revision=memory.revision,
            text_hash=text_hash(memory),
            author=written.author,
            model=self._embedder.passage_model,
            questions=tuple(Question(t, mean(v)) for t, v in zip(written.texts, vectors, strict=True)),
            terms=_further_terms(memory, written),
        )


def _further_terms(memory: Memory, written: Written) -> tuple[str, ...]:
    """The terms that the questions add to the memory's own. The heuristic adds none: besides the memory's own words it has
    those of its patterns, which say nothing."""
    if written.author is QuestionAuthor.HEURISTIC:
        return ()
    own = index_terms(memory.indexed_text).counts
    terms = (term for text in written.texts for term in index_terms(text).counts)
    return tuple(dict.fromkeys(term for term in terms if term not in own))
