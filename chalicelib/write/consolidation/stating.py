"""What a scope holds that may state other values of what new rows state values of: looked up by the words around them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chalicelib.domain.budget import aside
from chalicelib.domain.memory import Status
from chalicelib.domain.query import IndexQuery, StoredMemory, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, HotIndex, MemoryStore, Telemetry
from chalicelib.write.consolidation.restating import terms_around

CANDIDATES = 4  # a row; two of them are looked at
SECONDS = 1.0  # what a write waits for it at most: a link is worth no more


@dataclass(frozen=True)
class Stating:
    """Active rows that share most with the words around a row's values, and how rare these are in the scope."""

    rows: list[StoredMemory] = field(default_factory=list)
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics(0, {}))


class StatingSearch:
    """Asks the hot index, in the row's own scope and no other. Without it, and where it does not hold the scope, nothing is
    found: what consolidation found otherwise is compared, with MongoDB's count of frequent terms."""

    def __init__(
        self, *, store: MemoryStore, hot: HotIndex | None, model: str, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._store = store
        self._hot = hot
        self._model = model
        self._telemetry = telemetry
        self._clock = clock

    def find(self, rows: Sequence[StoredMemory]) -> dict[str, Stating]:
        """By the id of each row that states values. Never raises for a store that is away: that is an event."""
        asked = [(row, terms) for row in rows if (terms := terms_around(row.memory))]
        found: dict[str, Stating] = {}
        with aside(SECONDS):
            for row, terms in asked:
                try:
                    found[row.memory.id] = self._around(row, terms)
                except StoreUnavailable as error:
                    self._telemetry.event("statements_not_compared", reason=error.message, rows=len(asked) - len(found))
                    break
        return found

    def _around(self, row: StoredMemory, terms: tuple[str, ...]) -> Stating:
        ref = row.memory.scope_ref
        chain = Chain(ref.org_id, (ref,))
        answer = self._hot.search(chain, IndexQuery(None, self._model, terms, limit=CANDIDATES)) if self._hot else None
        if answer is None or answer.incomplete:
            return Stating(statistics=self._store.statistics(chain))
        best = sorted(answer.candidates, key=lambda one: (-(one.bm25 or 0), one.id))[:CANDIDATES]
        read = self._store.fetch(chain, [one.id for one in best]) if best else []
        now = self._clock()
        active = [one for one in read if one.memory.status is Status.ACTIVE and not one.memory.is_expired(now)]
        return Stating([one for one in active if one.memory.id != row.memory.id], answer.statistics)
