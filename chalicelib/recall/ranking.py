"""From candidates to hits: fused, read from the truth as it is now, scored on the calibrated scale, or none at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.explanation import MOST_CANDIDATES, CandidateRecord, LeftOutRule
from chalicelib.domain.memory import ArchivedReason, IndexState, Memory
from chalicelib.domain.query import Candidate, EmptyReason, Hit, StoredMemory, TierName
from chalicelib.domain.succession import has_replaced, yields_to
from chalicelib.ports import Clock, Embedder, MemoryStore
from chalicelib.recall.explain import Coverage, calibrated, scores, why
from chalicelib.recall.found import Found
from chalicelib.recall.fusion import Fused, fuse, nearness
from chalicelib.recall.ingredients import AROUND, ingredients
from chalicelib.recall.question import Question
from chalicelib.settings import RecallSettings

SPARE_ROWS = 5  # rows read beyond the limit, for those that turn out archived or expired


@dataclass(frozen=True)
class Ranked:
    """The hits, a few more than asked for where their rows were read anyway; and where there are none, why."""

    hits: tuple[Hit, ...]
    empty: EmptyReason | None


@dataclass(frozen=True)
class _Readable:
    """A hit, and whether what stands around it raised it."""

    hit: Hit
    surrounded: bool


class Ranking:
    """Ranks what the tiers found."""

    def __init__(self, store: MemoryStore, embedder: Embedder, clock: Clock, settings: RecallSettings) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    def rank(self, asked: Question, found: Found) -> Ranked:
        """The hits in order. Where even the best is not near enough, none: the answer abstains."""
        best, kept = 0.0, list[Hit]()
        for part in self._readable(asked, found):
            best = max([best, *(one.hit.score for one in part)])
            kept += [one.hit for one in part if self._is_kept(one, asked, found)]
            if len(kept) >= asked.limit:
                break
        near = best >= self._settings.abstain_below and best > 0
        for hit in () if near else kept:
            found.leave_out(hit.memory.id, LeftOutRule.NOTHING_NEAR, hit.score)
        hits = tuple(kept) if near else ()
        return Ranked(hits, None if hits else self._why_empty(asked, found, near=near))

    def least(self, asked: Question, *, surrounded: bool = False) -> float:
        """The score under which a hit is left out. What stands around one may have nothing in common with the query, so the
        floor is not for that."""
        return asked.query.min_score if surrounded else max(asked.query.min_score, self._settings.floor)

    def _is_kept(self, one: _Readable, asked: Question, found: Found) -> bool:
        hit = one.hit
        if hit.score >= self.least(asked, surrounded=one.surrounded):
            return True
        low = hit.score < self._settings.floor and not one.surrounded
        found.leave_out(hit.memory.id, LeftOutRule.BELOW_FLOOR if low else LeftOutRule.BELOW_MIN_SCORE, hit.score)
        return False

    def scored(self, asked: Question, found: Found) -> list[Hit]:
        """Every candidate that may be read as a hit, however near it is, in order."""
        return [one.hit for part in self._readable(asked, found) for one in part]

    def _readable(self, asked: Question, found: Found) -> Iterator[list[_Readable]]:
        """The candidates that may be read, in order. Rows are read in two steps at most, the second only where the first had
        too many that were retired meanwhile, or too few that are near enough."""
        now = asked.query.as_of or self._clock()
        order = fuse(found.candidates, ingredients(asked.text, now, self._settings))
        found.ranked = tuple(_recorded(one) for one in order[:MOST_CANDIDATES])
        coverage = Coverage(asked.text, asked.words, found.statistics)
        step = asked.limit + SPARE_ROWS
        for part in (order[:step], order[step : 2 * step]):
            rows = self._rows(asked, part, found) if part else {}
            yield [
                _Readable(self._hit(one, row, asked, coverage), surrounded=AROUND in one.reasons)
                for one in part
                if (row := rows.get(one.candidate.id)) is not None
            ]

    def _rows(self, asked: Question, part: list[Fused], found: Found) -> dict[str, StoredMemory]:
        """The rows of these candidates as the truth has them now, without those that may not be recalled."""
        rows = {one.candidate.id: one.candidate.row for one in part if one.candidate.row}
        if missing := [one.candidate.id for one in part if one.candidate.id not in rows]:
            rows |= {row.memory.id: row for row in self._store.fetch(asked.chain, missing)}
        now, seen = self._clock(), dict[str, StoredMemory]()
        replaced = self._replaced(asked, [row.memory for row in rows.values() if row.memory.yields], found)
        for id_ in (one.candidate.id for one in part):
            row = rows.get(id_)
            if row is None:
                found.leave_out(id_, LeftOutRule.GONE)
            elif id_ not in replaced and (as_seen := asked.seen(row, now)):
                seen[id_] = as_seen
            else:
                found.leave_out(id_, LeftOutRule.NOT_ACTIVE if id_ in replaced else _unseen(asked, row))
        return seen

    def _replaced(self, asked: Question, marked: Sequence[Memory], found: Found) -> set[str]:
        """Those of the marked memories that count as superseded: what takes their place can be found, and nobody came yet to
        retire them. Rare, so that asking for it costs a recall nothing."""
        at, wants_them = asked.query.as_of, ArchivedReason.SUPERSEDED in asked.query.archived_reasons
        successors = {} if wants_them else {to: memory for memory in marked for to in yields_to(memory)}
        rows = self._store.fetch(asked.chain, list(successors)) if successors else []
        rows = [row for row in rows if at is None or row.memory.created_at <= at]
        here = {candidate.id for candidate in found.candidates} if rows else set()
        findable = [r.memory for r in rows if r.memory.id in here or r.memory.index_state is IndexState.INDEXED]
        return {old.id for new in findable if has_replaced(new, old := successors[new.id])}

    def _hit(self, one: Fused, row: StoredMemory, asked: Question, coverage: Coverage) -> Hit:
        candidate = one.candidate
        near = nearness(candidate)
        similarity = None if near is None else self._embedder.similarity(near)
        parts = scores(candidate, similarity, coverage.of(row.counts), one.score)
        return Hit(
            memory=_lean(row.memory),
            score=calibrated(parts, similarity, coverage.rows, foreign=coverage.is_foreign(row.memory.content)),
            scores=parts,
            tier=_tier(candidate),
            why=why(parts, asked.words, row.counts, one.reasons),
        )

    def _why_empty(self, asked: Question, found: Found, *, near: bool) -> EmptyReason:
        if near:
            return EmptyReason.ALL_FILTERED
        if found.store_down:
            return EmptyReason.STORE_DOWN
        if not found.candidates and asked.query.filter and found.statistics.rows:
            return EmptyReason.ALL_FILTERED
        if not found.candidates and not self._store.holds_any(asked.chain):
            return EmptyReason.NOTHING_STORED
        pending = found.unindexed or self._store.awaits_index(asked.chain)
        return EmptyReason.NOT_INDEXED_YET if pending else EmptyReason.NOTHING_SIMILAR


def _unseen(asked: Question, row: StoredMemory) -> LeftOutRule:
    wanted = asked.query.filter
    return LeftOutRule.FILTERED if wanted and not wanted.admits(row.memory) else LeftOutRule.NOT_ACTIVE


def _recorded(one: Fused) -> CandidateRecord:
    candidate = one.candidate
    signals = {"cosine": candidate.cosine, "bm25": candidate.bm25, "question": candidate.question}
    rounded = {name: None if value is None else round(value, 4) for name, value in signals.items()}
    order = {"fused": round(one.score, 4), "moved": round(one.moved, 4) if one.moved else None}
    return CandidateRecord(id=candidate.id, tier=_tier(candidate).value, **rounded, **order)


def _lean(memory: Memory) -> Memory:
    """The memory without what a recall does not show."""
    if memory.embedding or memory.history or memory.admission:
        return memory.model_copy(update={"embedding": None, "history": (), "admission": None})
    return memory


def _tier(candidate: Candidate) -> TierName:
    if candidate.tier is not None:
        return candidate.tier
    return TierName.HOT_TEXT if candidate.cosine is None else TierName.HOT_VECTORS
