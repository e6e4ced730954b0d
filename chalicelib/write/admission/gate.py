"""The gate that every candidate of a write passes: its signals are gathered, and its verdict is found.

Items of one batch are judged in their order, each as if those before it that were not rejected were stored already.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from chalicelib.domain.admission import Decision, Verdict
from chalicelib.domain.query import StoredMemory
from chalicelib.write.admission.judgement import judged
from chalicelib.write.admission.scope_view import ScopeView, Surroundings
from chalicelib.write.admission.signals import Incoming, signals_of
from chalicelib.write.guarding import injections
from chalicelib.write.lookup import NEAREST, Look


class AdmissionGate:
    """`judge` is all of it."""

    def __init__(self, view: ScopeView) -> None:
        self._view = view

    def judge(self, candidates: Sequence[Incoming], now: datetime, look: Look | None = None) -> list[Verdict]:
        """One verdict a candidate, in their order; `look` is the request's. Nothing is stored, counted or changed."""
        around = self._view.around([candidate.row for candidate in candidates], look)
        earlier: dict[str, _Earlier] = {}
        verdicts = []
        for candidate, seen in zip(candidates, around, strict=True):
            batch = earlier.setdefault(candidate.row.memory.scope_ref.key, _Earlier())
            self._compare_within(batch, candidate.row, seen)
            verdict = judged(signals_of(candidate, seen, now), injections(candidate.row.memory))
            if verdict.decision is not Decision.REJECT:
                batch.add(candidate.row)
            verdicts.append(verdict)
        return verdicts

    def _compare_within(self, batch: "_Earlier", row: StoredMemory, seen: Surroundings) -> None:
        seen.rows += len(batch.rows)
        for term in seen.counts:
            if term in batch.holders:
                seen.frequencies[term] = seen.frequencies.get(term, 0) + len(batch.holders[term])
        self._view.compare(row, seen, batch.sharing(row))


class _Earlier:
    """The rows of one scope that came earlier in the batch, and which of them hold a term."""

    def __init__(self) -> None:
        self.rows: list[StoredMemory] = []
        self.holders: dict[str, list[int]] = {}

    def add(self, row: StoredMemory) -> None:
        for term in row.counts:
            self.holders.setdefault(term, []).append(len(self.rows))
        self.rows.append(row)

    def sharing(self, row: StoredMemory) -> list[StoredMemory]:
        """Those that share most terms with `row`; what shares none repeats nothing."""
        shared = Counter(place for term in row.counts for place in self.holders.get(term, ()))
        return [self.rows[place] for place, _ in shared.most_common(NEAREST)]
