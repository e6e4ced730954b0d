"""The gate that every candidate of a write passes: its signals are gathered, and its verdict is found.

Items of one batch are judged in their order, each as if those before it that were not rejected were stored already.
"""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.domain.admission import Decision, Verdict
from chalicelib.domain.query import StoredMemory
from chalicelib.write.admission.judgement import judged
from chalicelib.write.admission.scope_view import ScopeView, Surroundings
from chalicelib.write.admission.signals import Incoming, signals_of
from chalicelib.write.guarding import injections
from chalicelib.write.lookup import NEAREST, Look
from chalicelib.write.mates import Mates


class AdmissionGate:
    """`judge` is all of it."""

    def __init__(self, view: ScopeView) -> None:
        self._view = view

    def judge(self, candidates: Sequence[Incoming], now: datetime, look: Look | None = None) -> list[Verdict]:
        """One verdict a candidate, in their order; `look` is the request's. Nothing is stored, counted or changed."""
        around = self._view.around([candidate.row for candidate in candidates], look)
        earlier: dict[str, Mates] = {}
        verdicts = []
        for candidate, seen in zip(candidates, around, strict=True):
            batch = earlier.setdefault(candidate.row.memory.scope_ref.key, Mates())
            self._compare_within(batch, candidate.row, seen)
            verdict = judged(signals_of(candidate, seen, now), injections(candidate.row.memory))
            if verdict.decision is not Decision.REJECT:
                batch.add(candidate.row)
            verdicts.append(verdict)
        return verdicts

    def _compare_within(self, batch: Mates, row: StoredMemory, seen: Surroundings) -> None:
        """Take note of those of the batch that share most terms with the row; what shares none repeats nothing."""
        seen.rows += len(batch)
        for term in seen.counts:
            if held := batch.holding(term):
                seen.frequencies[term] = seen.frequencies.get(term, 0) + held
        nearest = sorted(batch.sharing(row.counts), key=lambda mate: -mate[1])[:NEAREST]
        self._view.compare(row, seen, [mate for mate, _ in nearest])
