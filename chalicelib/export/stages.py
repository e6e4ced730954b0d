"""What an erasure goes through, in its order: each stage one kind of thing, in steps that may be repeated.

First what lets the person act, then what work is made of, then the rest. In each store what leads to a thing goes with it or
after it, so that a stage that was cut off finds it again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.erasure import Erased, Erasure, Person, Step
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain, Scope
from chalicelib.domain.session import Session
from chalicelib.errors import DuplicateContent
from chalicelib.ports import (
    Clock,
    HotIndex,
    IndexRemoval,
    MemoryStore,
    PersonalRecords,
    PersonalTraces,
    QuestionStore,
    RecallCache,
    SessionGenomeStore,
)

LIMIT = 500  # rows that a step looks at: a slice of well under a second
WRITTEN_AT_ONCE = 25
CHANGED_AT_ONCE = 200

_BEFORE = ("keys", "docs_files", "sessions", "messages", "memories", "questions", "shared_memories")
_AFTER = ("statistics", "index", "tasks", "queries", "answers", "audit", "erasures")


@dataclass(frozen=True)
class Surroundings:
    """What others do for it: take a session away whole, build the index of one anew, tell the index of rows, have questions
    written for rows later, move the recall audit to where it rests, take an organization's exported files of a scope
    back."""

    remove_session: Callable[[Session], int]
    rebuild_session: Callable[[Session], object]
    publish: Callable[[Sequence[StoredMemory]], object]
    questions_later: Callable[[Sequence[Memory]], object]
    move_audit: Callable[[], int]
    withdraw_docs: Callable[[str, str], int]


class Stages:
    """The stages over the stores. `traces`, `hot` and `cache` are None where no Redis is configured."""

    def __init__(
        self,
        *,
        records: PersonalRecords,
        traces: PersonalTraces | None,
        store: MemoryStore,
        questions: QuestionStore,
        genomes: SessionGenomeStore,
        hot: HotIndex | None,
        cache: RecallCache | None,
        clock: Clock,
        around: Surroundings,
    ) -> None:
        self._records = records
        self._traces = traces
        self._store = store
        self._questions = questions
        self._genomes = genomes
        self._hot = hot
        self._cache = cache
        self._clock = clock
        self._around = around
        special: Mapping[str, Callable[[Person, Erasure, str | None], Step]] = {
            "docs_files": self._docs_files,
            "sessions": self._sessions,
            "shared_memories": self._shared,
            "recall_audit": self._move_audit,
            "answers": self._answers,
        }
        self._special = special
        self.names = self._ordered()

    def _ordered(self) -> tuple[str, ...]:
        known = [*self._records.erased, *self._special, *(self._traces.erased if self._traces else ())]
        named = {*_BEFORE, *_AFTER, "recalls", "recall_audit"}
        others = [name for name in known if name not in named]
        order = [*_BEFORE, *others, "recall_audit", "recalls", *_AFTER]
        return tuple(name for name in order if name in known)

    def run(self, name: str, person: Person, receipt: Erasure, after: str | None) -> Step:
        """One step of a stage. StoreUnavailable where a store could not be asked: it is to be repeated."""
        if name in self._special:
            return self._special[name](person, receipt, after)
        if self._traces and name in self._traces.erased:
            return self._traces.erase(person, name, after, LIMIT)
        return self._records.erase(person, name, receipt.pseudonym, after, LIMIT)

    def _sessions(self, person: Person, receipt: Erasure, after: str | None) -> Step:
        """A session that nobody else belongs to goes whole. In one that stays for others the person's messages are emptied;
        its genome, which was made of theirs too, is made anew from what is left with the next message."""
        found, end = _some(*self._records.sessions(person, after, LIMIT))
        removed = changed = 0
        messages = Erased()
        for session in found:
            if {session.owner, *session.members} <= {person.user_id}:
                removed += 1
                messages = messages.plus(self._around.remove_session(session), 0)
            else:
                changed += 1
                messages = messages.plus(0, self._left(session, person, receipt.pseudonym))
        return Step(removed, changed, end, {"messages": messages})

    def _left(self, session: Session, person: Person, pseudonym: str) -> int:
        emptied, count = CHANGED_AT_ONCE, 0
        while emptied == CHANGED_AT_ONCE:
            emptied = self._records.leave(session, person, pseudonym, CHANGED_AT_ONCE)
            count += emptied
        self._genomes.remove(session.key)
        self._around.rebuild_session(session)
        return count

    def _shared(self, person: Person, receipt: Erasure, after: str | None) -> Step:
        rows, end = _some(*self._records.shared_memories(person, after, LIMIT))
        goes = [row for row in rows if receipt.shared == "delete" and _wrote(row.memory, person)]
        stays = [row for row in rows if row not in goes]
        for row in goes:
            self._remove(row)
        changed = [row for row in stays if self._disown(row, person, receipt.pseudonym)]
        return Step(len(goes), len(changed), end)

    def _remove(self, row: StoredMemory) -> None:
        memory = row.memory
        chain = Chain(memory.org_id, (memory.scope_ref,))
        self._questions.remove(chain, [memory.id])
        if self._hot:
            self._hot.apply([IndexRemoval(memory.scope_ref.key, memory.id, memory.revision)])
        self._store.purge(chain, memory.id)

    def _disown(self, row: StoredMemory, person: Person, pseudonym: str) -> bool:
        """Whether the row is without the person now. One that was changed meanwhile is found by the second look."""
        from chalicelib.domain.pseudonyms import disowned  # noqa: PLC0415 - with all that reads claims, for nobody else

        fresh = disowned(row, person.user_id, pseudonym, self._clock())
        try:
            done = self._store.replace(fresh, row.memory.revision)
        except DuplicateContent:
            return False
        if done:
            self._around.publish([fresh])
            self._around.questions_later([fresh.memory])
        return done

    def _docs_files(self, person: Person, _: Erasure, __: str | None) -> Step:
        """What was exported of the person's own scope, while the manifest still says where it is."""
        return Step(self._around.withdraw_docs(person.org_id, person.scope_key))

    def _move_audit(self, _: Person, __: Erasure, ___: str | None) -> Step:
        """What waits in the queue of the recall audit is moved to where it is found by person."""
        moved = self._around.move_audit()
        return Step(after="more" if moved else None)

    def _answers(self, person: Person, _: Erasure, __: str | None) -> Step:
        """Of a cached answer nothing says whose it is, so all of the organization go: they live a minute at most."""
        if self._cache:
            self._cache.forget(person.org_id)
        return Step()


def _some[T](found: Sequence[tuple[str, T]], end: str | None) -> tuple[list[T], str | None]:
    """As many as a step has time for, each of which takes several writes, and from where to go on."""
    if len(found) > WRITTEN_AT_ONCE:
        found, end = found[:WRITTEN_AT_ONCE], found[WRITTEN_AT_ONCE - 1][0]
    return [one for _, one in found], end


def _wrote(memory: Memory, person: Person) -> bool:
    return memory.user_id == person.user_id and memory.scope is not Scope.USER
