"""From candidates to hits: fused, read from the truth as it is now, scored on the calibrated scale, or none at all."""

from dataclasses import dataclass

from chalicelib.domain.memory import Status
from chalicelib.domain.query import Candidate, EmptyReason, Hit, StoredMemory, TierName
from chalicelib.ports import Clock, Embedder, MemoryStore
from chalicelib.recall.explain import calibrated, coverage, scores, why
from chalicelib.recall.fusion import Fused, fuse
from chalicelib.recall.question import Question
from chalicelib.recall.tiers import Found
from chalicelib.settings import RecallSettings

SPARE_ROWS = 10  # rows read beyond the limit, for those that turn out archived or expired


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
        """At most `limit` hits. Where even the best is not near enough, none: the answer abstains."""
        hits = self._readable(asked, found)
        near = bool(hits) and max(hit.score for hit in hits) >= self._settings.abstain_below
        least = max(asked.query.min_score, self._settings.floor)
        kept = tuple(hit for hit in hits if hit.score >= least)[: asked.query.limit] if near else ()
        return Ranked(kept, None if kept else self._why_empty(asked, found, near=near))

    def _readable(self, asked: Question, found: Found) -> list[Hit]:
        """The best candidates that may be read, in order; read in two steps at most, the second only where the first had
        too many rows that were retired meanwhile."""
        order = fuse(found.candidates)
        step = asked.query.limit + SPARE_ROWS
        hits: list[Hit] = []
        for part in (order[:step], order[step : 2 * step]):
            if part and len(hits) < asked.query.limit:
                rows = self._rows(asked, part)
                hits += [
                    self._hit(one, rows[one.candidate.id], asked, found) for one in part if one.candidate.id in rows
                ]
        return hits

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

    def _hit(self, one: Fused, row: StoredMemory, asked: Question, found: Found) -> Hit:
        candidate = one.candidate
        similarity = None if candidate.cosine is None else self._embedder.similarity(candidate.cosine)
        covered = coverage(asked.words, row.counts, found.statistics)
        parts = scores(candidate, similarity, covered, one.score)
        return Hit(
            memory=row.memory.model_copy(update={"embedding": None, "history": (), "admission": None}),
            score=calibrated(parts),
            scores=parts,
            tier=_tier(candidate),
            why=why(parts, asked.words, row.counts),
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


def _tier(candidate: Candidate) -> TierName:
    if candidate.row is not None:
        return TierName.STORED_TEXT
    return TierName.HOT_TEXT if candidate.cosine is None else TierName.HOT_VECTORS
