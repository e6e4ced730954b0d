"""What the tiers of one recall found, and what of them was missing."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.domain import bm25
from chalicelib.domain.explanation import MOST_LEFT_OUT, CandidateRecord, LeftOut, LeftOutRule
from chalicelib.domain.query import (
    Candidate,
    Hit,
    Missing,
    MissingCode,
    StoredMemory,
    TermStatistics,
    TierName,
    TierReport,
)

_SEARCHED = frozenset(TierName) - {TierName.CACHE}


@dataclass
class Found:
    """Filled by one tier after another. `unindexed` where the hot index lacks a scope."""

    candidates: list[Candidate] = field(default_factory=list)
    statistics: TermStatistics = field(default_factory=lambda: TermStatistics(0, {}))
    reports: list[TierReport] = field(default_factory=list)
    degraded: list[Missing] = field(default_factory=list)
    unindexed: bool = False
    ranked: tuple[CandidateRecord, ...] = ()
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    def leave_out(self, id_: str, rule: LeftOutRule, score: float | None = None, **by: Any) -> None:
        """Note why a candidate is no hit; the latest reason holds."""
        self.left_out[id_] = LeftOut(id=id_, rule=rule, score=score, **by)

    def explained(self, hits: Sequence[Hit]) -> tuple[LeftOut, ...]:
        """What was left out and is not among `hits` either, as much of it as an audit keeps."""
        kept = {hit.memory.id for hit in hits}
        return tuple(one for id_, one in self.left_out.items() if id_ not in kept)[:MOST_LEFT_OUT]

    @property
    def store_down(self) -> bool:
        """Whether a store that was to be searched is away."""
        return any(
            missing.code is MissingCode.STORE_UNAVAILABLE and missing.part in _SEARCHED for missing in self.degraded
        )

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each term that stands anywhere."""
        known = self.statistics.frequencies.items()
        return {term: bm25.weight(self.statistics.rows, frequency) for term, frequency in known if frequency}

    def add(self, candidates: list[Candidate], tier: TierName) -> list[Candidate]:
        """Take in those that no tier before `tier` has found; which they are."""
        known = {candidate.id for candidate in self.candidates}
        fresh = [candidate for candidate in candidates if candidate.id not in known]
        for candidate in fresh:
            candidate.tier = tier
        self.candidates += fresh
        return fresh

    def replace(self, candidates: list[Candidate], tier: TierName) -> None:
        """Take these in, in place of what other tiers found of the same rows, but for the position that the index knows: a
        row has its place in its session whatever it said there."""
        known = {one.id: one.situation.position for one in self.candidates if one.situation}
        for candidate in candidates:
            candidate.tier = tier
            if candidate.situation:
                candidate.situation = replace(candidate.situation, position=known.get(candidate.id))
        ids = {candidate.id for candidate in candidates}
        self.candidates = [one for one in self.candidates if one.id not in ids] + candidates

    def learn(self, rows: Sequence[StoredMemory], terms: Sequence[str]) -> None:
        """Count terms that stand in these rows and in none that the index knows: they would weigh nothing."""
        seen = Counter(term for row in rows for term in set(terms) & row.counts.keys())
        known = self.statistics.frequencies
        frequencies = {term: max(known.get(term, 0), seen[term]) for term in terms}
        self.statistics = TermStatistics(max(self.statistics.rows, len(rows)), {**known, **frequencies})

    def absorb(self, other: "Found") -> None:
        """Take in what the search for another part of the query found out, but for its candidates."""
        mine = {report.tier: report for report in self.reports}
        for report in other.reports:
            before = mine.get(report.tier, TierReport(tier=report.tier, ms=0, skipped=report.skipped))
            together = {"ms": round(before.ms + report.ms, 3), "candidates": before.candidates + report.candidates}
            mine[report.tier] = before.model_copy(update=together)
        self.reports = list(mine.values())
        said = {(missing.part, missing.code) for missing in self.degraded}
        self.degraded += [missing for missing in other.degraded if (missing.part, missing.code) not in said]
        self.left_out = other.left_out | self.left_out
        self.unindexed |= other.unindexed

    def report(self, tier: TierName, began: float, *, candidates: int = 0, skipped: str | None = None) -> None:
        """Note what became of a tier that was asked at `began` (of `time.perf_counter`)."""
        self.reports.append(TierReport(tier=tier, ms=ms_since(began), candidates=candidates, skipped=skipped))

    def miss(self, part: str, code: MissingCode, message: str) -> None:
        """Note that the answer goes without a part."""
        self.degraded.append(Missing(part=part, code=code, message=message))

    def miss_vectors(self, tier: TierName, whose: str) -> None:
        """Note that rows have vectors that the query's cannot be compared with."""
        said = f"{whose} have vectors of another model or size; text still finds them; run: vitto reindex --embed"
        self.miss(tier, MissingCode.EMBEDDING_MISMATCH, said)


def ms_since(began: float) -> float:
    """Milliseconds since `began` of `time.perf_counter`."""
    return round((time.perf_counter() - began) * 1000, 3)
