"""contentTypePrior: how often is this type worth keeping?"""

from chalicelib.domain.admission import Factor, Signals
from chalicelib.domain.memory import MemoryType

PRIORS: dict[MemoryType, float] = {
    MemoryType.CORRECTION: 1.0,
    MemoryType.DECISION: 0.95,
    MemoryType.PREFERENCE: 0.95,
    MemoryType.CONSTRAINT: 0.95,
    MemoryType.FACT: 0.9,
    MemoryType.GOAL: 0.9,
    MemoryType.PROCEDURE: 0.9,
    MemoryType.EVENT: 0.85,
    MemoryType.ISSUE: 0.85,
    MemoryType.REFERENCE: 0.85,
    MemoryType.TASK: 0.8,
    MemoryType.OBSERVATION: 0.75,
    MemoryType.CONVERSATION: 0.25,
}
"""Somebody chose all types but the last. Of what is said in conversations a quarter is asked for again (LoCoMo, 24 %)."""


def score(signals: Signals) -> Factor:
    """The prior of its type; what plainly corrects something counts as a correction."""
    kind = MemoryType.CORRECTION if signals.corrects else signals.type
    return Factor(
        score=PRIORS[kind], reasons=(f"of type {signals.type}", *(["a correction"] if signals.corrects else []))
    )
