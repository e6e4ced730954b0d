"""From candidates to hits: fused, read from the truth as it is now, scored on the calibrated scale, or none at all."""

from collections.abc import Iterator
from dataclasses import dataclass

from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import Candidate, EmptyReason, Hit, StoredMemory, TierName
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
    """The hits, and where there are none, why."""

    hits: tuple[Hit, ...]
    empty: EmptyReason | None


class Ranking:
    """Ranks what the tiers found."""

    def __init__(self, store: MemoryStore, embedder: Embedder, clock: Clock, settings: RecallSettings) -> None:
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._settings = settings

    def rank(self, asked: Question, found: Found) -> Ranked:
        """At most `limit` hits. Where even the best is not near enough, none: the answer abstains. What stands around a hit
        may have nothing in common with the query itself, so the floor is not for that."""
        best, kept = 0.0, []
        for hit, surrounded in self._readable(asked, found):
            best = max(best, hit.score)
            least = asked.query.min_score if surrounded else max(asked.query.min_score, self._settings.floor)
            kept += [hit] if hit.score >= least else []
            if len(kept) == asked.query.limit:
                break
        near = best >= self._settings.abstain_below and best > 0
        hits = tuple(kept) if near else ()
        return Ranked(hits, None if hits else self._why_empty(asked, found, near=near))

    def _readable(self, asked: Question, found: Found) -> Iterator[tuple[Hit, bool]]:
        """The candidates that may be read, in order, each with whether what stands around it raised it. Rows are read in two
        steps at most, the second only where the first had too many that were retired meanwhile, or too few that are near
        enough."""
        order = fuse(found.candidates, ingredients(asked.text, self._clock(), self._settings))
        coverage = Coverage(asked.words, found.statistics)
        step = asked.query.limit + SPARE_ROWS
        for part in (order[:step], order[step : 2 * step]):
            rows = self._rows(asked, part) if part else {}
            for one in part:
                if row := rows.get(one.candidate.id):
                    yield self._hit(one, row, asked, coverage), AROUND in one.reasons

    def _rows(self, asked: Question, part: list[Fused]) -> dict[str, StoredMemory]:
        """The rows of these candidates as the truth has them now, without those that may not be recalled."""
        rows = {one.candidate.id: one.candidate.row for one in part if one.candidate.row}
        if missing := [one.candidate.id for one in part if one.candidate.id not in rows]:
            rows |= {row.memory.id: row for row in self._store.fetch(asked.chain, missing)}
        now, wanted = self._clock(), asked.query.filter
        return {
            id_: row
            for id_, row in rows.items()
            if row.memory.status is Status.ACTIVE
            and not row.memory.is_expired(now)
            and (wanted is None or wanted.admits(row.memory))
        }

    def _hit(self, one: Fused, row: StoredMemory, asked: Question, coverage: Coverage) -> Hit:
        candidate = one.candidate
        near = nearness(candidate)
        similarity = None if near is None else self._embedder.similarity(near)
        parts = scores(candidate, similarity, coverage.of(row.counts), one.score)
        return Hit(
            memory=_lean(row.memory),
            score=calibrated(parts, coverage.unheard),
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
        standing = self._store.standing(asked.chain)
        if not standing.anything:
            return EmptyReason.NOTHING_STORED
        return EmptyReason.NOT_INDEXED_YET if found.unindexed or standing.pending else EmptyReason.NOTHING_SIMILAR


def _lean(memory: Memory) -> Memory:
    """The memory without what a recall does not show."""
    if memory.embedding or memory.history or memory.admission:
        return memory.model_copy(update={"embedding": None, "history": (), "admission": None})
    return memory


def _tier(candidate: Candidate) -> TierName:
    if candidate.tier is not None:
        return candidate.tier
    return TierName.HOT_TEXT if candidate.cosine is None else TierName.HOT_VECTORS
