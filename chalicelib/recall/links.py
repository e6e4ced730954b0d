"""From hits to what they are connected with: over links of either of the two, and over names that both have.

A hit that is reached so is lent a share of the score of the one that led to it: what the question asks for may stand in a
memory that shares no word with it. One hop over links and names, a second over links alone; each within bounds.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chalicelib.domain.budget import time_left
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import Candidate, Filter, Hit, MissingCode, StoredMemory, TierName
from chalicelib.domain.relations import Relation, Via, names_of, to_links, to_names
from chalicelib.domain.vector import Vector
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, MemoryStore
from chalicelib.recall.found import Found
from chalicelib.recall.fusion import complete
from chalicelib.recall.question import Question
from chalicelib.recall.ranking import Ranking

HOPS = 2
MOST_SOURCES = 5  # hits that are followed, a hop
MOST_ROWS = 50  # of links, and as many of names, a hop
LEAST_SECONDS = 0.2  # left of the request, or the next hop is not taken
LINK_SHARE, NAME_SHARE = 0.5, 0.2
"""What a hit lends, a hop, over what. A name is weaker: half of a scope may have it."""


@dataclass(frozen=True)
class _Way:
    """How one memory is reached from a hit, and what that hit lends."""

    via: Via
    lent: float


@dataclass(frozen=True)
class _Walk:
    """What stays the same over the hops: the question, the hits by their ids, and what rows are compared by."""

    asked: Question
    hits: dict[str, Hit]
    found: Found
    vector: Vector | None
    model: str


class LinkedMemories:
    """Follows hits."""

    def __init__(self, store: MemoryStore, ranking: Ranking, clock: Clock) -> None:
        self._store = store
        self._ranking = ranking
        self._clock = clock

    def of(
        self, asked: Question, hits: Sequence[Hit], found: Found, vector: Vector | None, model: str
    ) -> tuple[Hit, ...]:
        """What `hits` lead to, also those of them that others link to. A report of the tier, and what was missing, go to
        `found`."""
        began = time.perf_counter()
        reached, sources = dict[str, Hit](), list(hits)
        walk = _Walk(asked, {hit.memory.id: hit for hit in hits}, found, vector, model)
        try:
            for hop in range(HOPS):
                if time_left() < LEAST_SECONDS:
                    found.miss(TierName.LINKS, MissingCode.OUT_OF_TIME, f"no time was left for hop {hop + 1}")
                    break
                sources = sources[:MOST_SOURCES]
                around = self._rows(asked, sources, with_names=hop == 0)
                rows = [row for row in around if row.memory.id not in reached]
                sources = self._hits(walk, sources, rows)
                reached |= {hit.memory.id: hit for hit in sources}
        except StoreUnavailable as error:
            found.miss(TierName.LINKS, MissingCode.STORE_UNAVAILABLE, error.message)
        found.report(TierName.LINKS, began, candidates=len(reached))
        return tuple(reached.values())

    def _rows(self, asked: Question, sources: Sequence[Hit], *, with_names: bool) -> list[StoredMemory]:
        """What the sources link to, what links to them, and what has a name of theirs, as far as it may be seen."""
        if not sources:
            return []
        now, wanted = self._clock(), asked.query.filter or Filter()
        targets = [link.target for hit in sources for link in hit.memory.links][: MOST_ROWS * 2]
        rows = self._store.fetch(asked.chain, targets, with_vectors=True) if targets else []
        links = to_links(hit.memory.id for hit in sources)
        rows += self._store.related(asked.chain, links, wanted, MOST_ROWS, now=now)
        names = to_names(name for hit in sources for name in names_of(hit.memory)) if with_names else ()
        if names:
            rows += self._store.related(asked.chain, names, wanted, MOST_ROWS, now=now)
        seen = {row.memory.id: row for one in rows if (row := asked.seen(one, now))}
        return list(seen.values())

    def _hits(self, walk: _Walk, sources: Sequence[Hit], rows: Sequence[StoredMemory]) -> list[Hit]:
        """The rows as hits, the best first; those without a way, or under the least score, are left out."""
        new = [row for row in rows if row.memory.id not in walk.hits]
        candidates = [Candidate(row.memory.id, row.memory.scope_ref.key, row=row, tier=TierName.LINKS) for row in new]
        for candidate in candidates:
            complete(candidate, walk.vector, walk.model, walk.found.weights)
        everything = replace(walk.asked, query=walk.asked.query.model_copy(update={"limit": max(len(new), 1)}))
        scored = self._ranking.scored(everything, Found(candidates=candidates, statistics=walk.found.statistics))
        scored += [walk.hits[row.memory.id] for row in rows if row.memory.id in walk.hits]
        ways = [(hit, _way(sources, hit, by_name=hit.memory.id not in walk.hits)) for hit in scored]
        raised = [_raised(hit, way) for hit, way in ways if way]
        near = [hit for hit in raised if hit.score >= self._ranking.least(walk.asked)]
        return sorted(near, key=lambda hit: (-hit.score, hit.memory.id))


def _way(sources: Sequence[Hit], hit: Hit, *, by_name: bool) -> _Way | None:
    """The way that lends most, from better hits alone. What was found itself is raised by links only: a name says little
    more than its text."""
    better = [source for source in sources if source.score > hit.score and source.memory.id != hit.memory.id]
    ways = [way for source in better for way in _ways(source, hit.memory) if by_name or way.via.name is None]
    return max(ways, key=lambda way: (way.lent, way.via.id, way.via.over), default=None)


def _ways(source: Hit, memory: Memory) -> list[_Way]:
    kinds = {link.kind for link in source.memory.links if link.target == memory.id}
    kinds |= {link.kind for link in memory.links if link.target == source.memory.id}
    ways = [
        _Way(Via(id=source.memory.id, over=Relation(kind.value)), LINK_SHARE * source.score) for kind in sorted(kinds)
    ]
    shared = sorted(names_of(source.memory) & names_of(memory))
    return ways + [
        _Way(Via(id=source.memory.id, over=Relation.ENTITY, name=name), NAME_SHARE * source.score) for name in shared
    ]


def _raised(hit: Hit, way: _Way) -> Hit:
    via = way.via
    over = f"shares the name “{via.name}” with" if via.name else f"is linked ({via.over}) with"
    return hit.model_copy(
        update={
            "score": round(1 - (1 - hit.score) * (1 - way.lent), 4),
            "scores": hit.scores.model_copy(update={"lent": round(way.lent, 4)}),
            "via": via,
            "why": f"{hit.why}; {over} {via.id}",
        }
    )
