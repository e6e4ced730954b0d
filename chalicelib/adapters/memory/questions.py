"""The prospective questions in this process, with the promises of the real store."""

import threading
from collections.abc import Sequence

from chalicelib.domain.questions import QuestionSet
from chalicelib.domain.scope import Chain


class InMemoryQuestionStore:
    """`ports.QuestionStore`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sets: dict[tuple[str, str], QuestionSet] = {}

    def put(self, questions: QuestionSet) -> QuestionSet:
        name = questions.org_id, questions.memory_id
        with self._lock:
            standing = self._sets.get(name)
            if standing is None or _gives_way(standing, questions):
                standing = self._sets[name] = questions
            return standing

    def of(self, chain: Chain, ids: Sequence[str]) -> dict[str, QuestionSet]:
        with self._lock:
            found = [self._sets[chain.org_id, id_] for id_ in ids if (chain.org_id, id_) in self._sets]
        return {one.memory_id: one for one in found if chain.holds(one.scope_key)}

    def of_scope(self, scope_key: str, *, after: str = "", limit: int = 200) -> list[str]:
        with self._lock:
            ids = sorted(one.memory_id for one in self._sets.values() if one.scope_key == scope_key)
        return [id_ for id_ in ids if id_ > after][:limit]

    def remove(self, chain: Chain, ids: Sequence[str], *, up_to: int | None = None) -> int:
        with self._lock:
            gone = [one for one in self.of(chain, ids).values() if up_to is None or one.revision <= up_to]
            for one in gone:
                del self._sets[one.org_id, one.memory_id]
        return len(gone)

    def erase(self, scope_key: str) -> int:
        with self._lock:
            gone = [name for name, one in self._sets.items() if one.scope_key == scope_key]
            for name in gone:
                del self._sets[name]
        return len(gone)


def _gives_way(standing: QuestionSet, other: QuestionSet) -> bool:
    if standing.revision == other.revision:
        return standing.model != other.model
    return standing.revision < other.revision
