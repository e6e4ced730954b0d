"""What the audit keeps of how a recall came to its hits: candidates by their parts, and what was left out, by which rule.
Ids and numbers alone; a text is in neither."""

from enum import StrEnum

from chalicelib.domain.conflicts import OverrideRule
from chalicelib.domain.wire import Wire

MOST_CANDIDATES = 25
MOST_LEFT_OUT = 50


class LeftOutRule(StrEnum):
    """Why a candidate is no hit."""

    GONE = "gone"
    NOT_ACTIVE = "not_active"
    FILTERED = "filtered"
    BELOW_FLOOR = "below_floor"
    BELOW_MIN_SCORE = "below_min_score"
    NOTHING_NEAR = "nothing_near"
    OVERRIDDEN = "overridden"
    BEYOND_LIMIT = "beyond_limit"


class LeftOut(Wire):
    """One candidate that is no hit. `by` is the memory that holds over it, `override` the rule by which it does."""

    id: str
    rule: LeftOutRule
    score: float | None = None
    by: str | None = None
    override: OverrideRule | None = None


class CandidateRecord(Wire):
    """One candidate as it was ranked: its signals, and the sum that it was ordered by; `moved` is the part of that which
    does not come from the signals."""

    id: str
    tier: str
    cosine: float | None = None
    bm25: float | None = None
    question: float | None = None
    fused: float
    moved: float | None = None
