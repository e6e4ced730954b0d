"""Consolidation of new rows with what their scopes hold: decided before they are stored, carried out afterwards.

A new row is in the truth before the one that it replaces leaves, so a crash between the two loses nothing: both are
there, the old one is marked, and the link of the new one says which is which.
"""

from collections.abc import Mapping, Sequence

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.claims.stated import terms_around
from chalicelib.domain.memory import Status
from chalicelib.domain.query import StoredMemory
from chalicelib.ports import Clock, Embedder, MemoryStore, Telemetry
from chalicelib.write.audit import Auditor
from chalicelib.write.consolidation.applying import Application, Applied
from chalicelib.write.consolidation.decisions import (
    Action,
    Decision,
    Merge,
    adding,
    contradicting,
    merge_target,
    merging,
)
from chalicelib.write.consolidation.reading import Readings
from chalicelib.write.consolidation.restating import LEAST_SHARED, most_like, restated, weights
from chalicelib.write.consolidation.wording import Relation
from chalicelib.write.indexing import Indexer
from chalicelib.write.lookup import Look, ScopeLookup, claims_of
from chalicelib.write.mates import Mates
from chalicelib.write.neighbours import Neighbour, Neighbours, NeighbourSearch

BATCH_OVERLAP = 0.4
"""Rows of one batch that share fewer of the shorter one's terms are not compared unless they claim of the same: what is one
holds all of the other's words, but for some that other words stand for, such as "resides" for "lives"."""


class Consolidator:
    """`settle` decides and changes nothing; `apply` carries out what concerns rows other than the new ones."""

    def __init__(
        self,
        *,
        store: MemoryStore,
        lookup: ScopeLookup,
        embedder: Embedder,
        indexer: Indexer,
        auditor: Auditor,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._store = store
        self._lookup = lookup
        self._indexer = indexer
        self._auditor = auditor
        self._telemetry = telemetry
        self._clock = clock
        self._neighbours = NeighbourSearch(
            store=store, lookup=lookup, embedder=embedder, telemetry=telemetry, clock=clock
        )

    def settle(self, caller: Caller, rows: Sequence[StoredMemory], look: Look | None = None) -> list[Decision]:
        """What becomes of each of `rows`, analysed and about to be stored, in their order. `look` is the request's. Only
        active rows are consolidated: what is quarantined changes nothing."""
        caller.require(Role.MEMBER)
        active = [row for row in rows if row.memory.status is Status.ACTIVE]
        look = look or self._lookup.begin()
        around = {one.of.memory.id: one for one in self._neighbours.find(active, look)}
        return _Batch(caller, self._neighbours, look, active, around).decisions(rows)

    def apply(
        self, caller: Caller, decisions: Sequence[Decision], existing: Mapping[str, str] | None = None
    ) -> list[Applied]:
        """Carry out decisions whose rows, as far as they are to be stored, now are; per decision what became of it.

        `existing` has the rows that were refused, because the same content had been stored meanwhile, and the ids
        that it was found under. Rows that another one changed since they were decided on are read once more; where
        the decision no longer holds, or the row is changed again, the change is given up, and what was to be merged
        is stored as new. A repeat changes nothing. StoreUnavailable where a row that was to be merged can neither be
        merged nor stored."""
        caller.require(Role.MEMBER)
        return self._application(caller).carried_out(decisions, existing or {})

    def announce(self, caller: Caller, decisions: Sequence[Decision]) -> list[Decision]:
        """Mark what is to be superseded, before the rows of the decisions are stored; the decisions, those about rows that
        others of them supersede with the mark as well. StoreUnavailable where that cannot be written."""
        return self._application(caller).announced(decisions)

    def confirms(self, caller: Caller, decision: Decision) -> bool:
        """Whether the row that a decision to store nothing (noop) rests on still says what the new one says."""
        return self._application(caller).says_it_already(decision)

    def _application(self, caller: Caller) -> Application:
        return Application(
            caller=caller,
            store=self._store,
            indexer=self._indexer,
            auditor=self._auditor,
            telemetry=self._telemetry,
            clock=self._clock,
        )


class _Batch:
    """The decisions about the rows of one request, each against the stored ones and against those before it."""

    def __init__(
        self,
        caller: Caller,
        search: NeighbourSearch,
        look: Look,
        active: Sequence[StoredMemory],
        around: Mapping[str, Neighbours],
    ) -> None:
        self._caller = caller
        self._search = search
        self._look = look
        self._active = active
        self._around = dict(around)
        self._readings = Readings()
        self._kept: dict[str, Mates] = {}
        self._taken: set[str] = set()

    def decisions(self, rows: Sequence[StoredMemory]) -> list[Decision]:
        """One a row."""
        self._look_back()
        return [self._decision(row) for row in rows]

    def _look_back(self) -> None:
        """Find the neighbours of the stored rows that new ones may be merged with, all at once: only what is nearest to each
        other is."""
        merges = [self._merge(row, self._around[row.memory.id].found) for row in self._active]
        back = {m.neighbour.row.memory.id: m.neighbour.row for m in merges if m and m.relation is not Relation.SAME}
        self._around |= (
            {one.of.memory.id: one for one in self._search.find(list(back.values()), self._look)} if back else {}
        )

    def _merge(self, row: StoredMemory, near: Sequence[Neighbour]) -> Merge | None:
        read = self._readings.of
        return merge_target(self._caller, read(row), [(one, read(one.row)) for one in near])

    def _decision(self, row: StoredMemory) -> Decision:
        around = self._around.get(row.memory.id)
        if around is None:
            return Decision(Action.ADD, row)
        near = self._with_batch(row, around.found)
        merge = self._merge(row, near)
        if merge and self._is_mutual(row, merge):
            self._taken |= {merge.neighbour.row.memory.id} if merge.relation is Relation.MORE else set()
            return merging(row, merge.neighbour.row, merge.relation)
        olds = [one.row for one in near if one.row.memory.id not in self._taken]
        made = adding(self._caller, self._readings.of(row), [self._readings.of(old) for old in olds])
        made = contradicting(made, self._restated(row, near, made))
        self._taken |= {old.memory.id for old in made.supersedes}
        self._kept.setdefault(row.memory.scope_ref.key, Mates()).add(made.row)
        return _degraded(made, around.missing) if around.missing else made

    def _restated(self, row: StoredMemory, near: Sequence[Neighbour], made: Decision) -> list[tuple[str, str]]:
        """The ids of the rows that state other values of what the row states values of, and how that is told."""
        terms = terms_around(row.memory.content)
        if not terms:
            return []
        around, mates = self._around[row.memory.id], self._kept.get(row.memory.scope_ref.key, Mates())
        earlier = [mate for mate, shared in mates.sharing(terms) if shared >= LEAST_SHARED]
        rows = (*around.stating, *(one.row for one in near), *earlier)
        others = {one.memory.id: one for one in rows}
        known = {link.target for link in made.row.memory.links} | self._taken
        weight = weights(around.statistics, mates.holding, len(mates))
        found = [
            (old.memory.id, restated(self._readings.of(row), self._readings.of(old), weight))
            for old in most_like(row, list(others.values()), weight)
            if old.memory.id not in known
        ]
        return [(id_, one.reason) for id_, one in found if one]

    def _with_batch(self, row: StoredMemory, found: Sequence[Neighbour]) -> list[Neighbour]:
        mates = self._kept.get(row.memory.scope_ref.key)
        like = [mate for mate, shared in mates.sharing(row.counts) if _is_like(mate, row, shared)] if mates else []
        near = [self._search.compare(row, mate) for mate in like]
        return sorted((*found, *near), key=lambda one: (*one.nearness, one.row.memory.id), reverse=True)

    def _is_mutual(self, row: StoredMemory, merge: Merge) -> bool:
        """Whether the row is the nearest to what it would merge with as well, which no other row has merged with."""
        old, compare = merge.neighbour.row, self._search.compare
        if old.memory.id in self._taken:
            return False
        if merge.relation is Relation.SAME:
            return True
        around = self._around.get(old.memory.id)
        if around is None or around.missing:
            return False
        mates = [mate for mate in self._active if mate.memory.id not in {row.memory.id, old.memory.id}]
        others = [*around.found, *(compare(old, mate) for mate in mates if _share(old, mate))]
        rivals = [one for one in others if one.row.memory.id != row.memory.id]
        return all(compare(old, row).nearness >= rival.nearness for rival in rivals)


def _degraded(made: Decision, missing: str) -> Decision:
    said = f"the scope could not be searched for what it repeats or changes ({missing})"
    reason = f"{made.reason}; {said}" if made.reason else said
    return Decision(made.action, made.row, made.target, made.supersedes, reason, missing)


def _share(one: StoredMemory, other: StoredMemory) -> bool:
    """Whether two rows are of one scope and have enough in common to be compared."""
    shared = len(one.counts.keys() & other.counts.keys())
    return one.memory.scope_ref == other.memory.scope_ref and _is_like(one, other, shared)


def _is_like(one: StoredMemory, other: StoredMemory, shared: int) -> bool:
    """Whether rows that share so many terms have enough in common to be compared."""
    enough = shared >= BATCH_OVERLAP * min(len(one.counts), len(other.counts))
    return enough or any(term in one.counts for term in claims_of(other))
