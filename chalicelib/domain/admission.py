"""The verdict on a memory that wants in: five factors, what they were computed from, and what was decided.

A verdict holds numbers about a text and never the text, so it may be stored, shown and replayed wherever ids may be.
"""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.wire import Wire

RULES = 1
"""The version of the factors' weights and rules; it rises with every change that could judge the same signals otherwise."""

ADMIT_FROM = 0.50  # spec/product.md "Admission"
QUARANTINE_FROM = 0.25  # the same


class Decision(StrEnum):
    """What becomes of a memory: recalled, kept for review, or not stored."""

    ADMIT = "admit"
    QUARANTINE = "quarantine"
    REJECT = "reject"


class FactorName(StrEnum):
    """The five questions that admission asks."""

    FUTURE_UTILITY = "futureUtility"
    FACTUAL_CONFIDENCE = "factualConfidence"
    SEMANTIC_NOVELTY = "semanticNovelty"
    TEMPORAL_RECENCY = "temporalRecency"
    CONTENT_TYPE_PRIOR = "contentTypePrior"


WEIGHTS: dict[FactorName, float] = {
    FactorName.FUTURE_UTILITY: 0.25,
    FactorName.FACTUAL_CONFIDENCE: 0.20,
    FactorName.SEMANTIC_NOVELTY: 0.25,
    FactorName.TEMPORAL_RECENCY: 0.10,
    FactorName.CONTENT_TYPE_PRIOR: 0.20,
}
"""Share of each factor in the score; spec/product.md "Admission"."""


class Signals(Wire):
    """What the factors are computed from. Counts are of terms where nothing else is said; shares are 0 to 1.

    A statement is a sentence that is no question. `None` stands for what could not be had or does not apply; `missing` names
    the stores that could not be asked.
    """

    type: MemoryType
    importance: float = Field(default=0.5, description="as the caller gave it")
    confidence: float | None = Field(default=None, description="as the caller gave it")
    age_days: float = Field(default=0.0, description="since the event, at the time of the verdict")
    stated: int = Field(default=0, description="in statements")
    information: float = Field(default=0.0, description="stated, each counted by how rare it is in the scope, 0 to 1")
    fresh: int = Field(default=0, description="stated, and in no other memory of the scope")
    questions: float = Field(default=0.0, description="share of the sentences")
    names: int = Field(default=0, description="words that look like names")
    numbers: int = 0
    dates: int = Field(default=0, description="words that say when")
    first_person: int = 0
    second_person: int = 0
    hedges: int = Field(default=0, description="words of doubt")
    pictured: int = Field(default=0, description="in the descriptions of the attachments")
    courtesy: bool = Field(
        default=False, description="nothing but a greeting, thanks, an acknowledgement or pictographs"
    )
    corrects: bool = Field(default=False, description="by its type, or in plain words")
    asked_before: bool = Field(default=False, description="the message before it asks something")
    words_before: int = Field(default=0, description="in the message before it")
    by_assistant: bool = Field(default=False, description="said by the assistant, or grounded in its words alone")
    grounded: float | None = Field(default=None, description="share of what is stated that the given messages hold")
    similarity: float | None = Field(default=None, description="calibrated, to the nearest memory of the scope")
    overlap: float = Field(default=0.0, description="of its words with the memory that shares most of them")
    missing: tuple[str, ...] = ()


class Factor(Wire):
    """One factor: its score, 0 to 1, and the reasons that moved it most."""

    score: float = Field(ge=0, le=1)
    reasons: tuple[str, ...] = ()


class Verdict(Wire):
    """What admission found. `decision` is what was done, `own_decision` what the score alone says.

    `by` is who decided where that was not the score: `injection`, `rule`, `trust`, or a plugin's name."""

    rules: int = RULES
    score: float
    decision: Decision
    own_decision: Decision
    by: str | None = None
    factors: dict[FactorName, Factor]
    weights: dict[FactorName, float]
    signals: Signals
    injection: tuple[str, ...] = Field(default=(), description="kinds of patterns that were found")
    trusted_by: str | None = None
    failed_plugins: tuple[str, ...] = ()


class VerdictReceipt(Wire):
    """The verdict as a receipt tells it: without the signals, which stand with the memory."""

    score: float
    decision: Decision
    by: str | None = None
    factors: dict[FactorName, float]
    reasons: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ruling:
    """What the plugins say of a candidate: the candidate, changed in nothing but what they may change, and cleaned, with the
    kinds of secrets that were in what they wrote; a decision they force, which of them did, and why; those that were cut
    off, raised or rest; and what is told of each that did something."""

    memory: Memory
    forced: Decision | None = None
    by: str | None = None
    reason: str | None = None
    redacted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    reports: tuple[PluginReport, ...] = ()


def decided(score: float) -> Decision:
    """What a score alone says."""
    if score >= ADMIT_FROM:
        return Decision.ADMIT
    return Decision.QUARANTINE if score >= QUARANTINE_FROM else Decision.REJECT
