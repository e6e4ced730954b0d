"""From signals to a verdict, and from a stored verdict to the same one again. Pure: no store, no clock."""

from collections.abc import Callable
from typing import Any

from chalicelib.domain.admission import (
    ADMIT_FROM,
    QUARANTINE_FROM,
    WEIGHTS,
    Decision,
    Factor,
    FactorName,
    Signals,
    Verdict,
    VerdictReceipt,
    decided,
)
from chalicelib.domain.memory import MemoryType, QuarantineReason
from chalicelib.write.admission import (
    content_type_prior,
    factual_confidence,
    future_utility,
    semantic_novelty,
    temporal_recency,
)

FACTORS: dict[FactorName, Callable[[Signals], Factor]] = {
    FactorName.FUTURE_UTILITY: future_utility.score,
    FactorName.FACTUAL_CONFIDENCE: factual_confidence.score,
    FactorName.SEMANTIC_NOVELTY: semantic_novelty.score,
    FactorName.TEMPORAL_RECENCY: temporal_recency.score,
    FactorName.CONTENT_TYPE_PRIOR: content_type_prior.score,
}
FACTS_OF_USERS = frozenset({MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.GOAL, MemoryType.CORRECTION})
"""What only its user can say of itself (faults.md 31)."""

INJECTION, RULE, TRUST = QuarantineReason.INJECTION.value, "rule", "trust"
"""Who decides beside the score and the plugins."""


def judged(signals: Signals, injection: tuple[str, ...] = ()) -> Verdict:
    """The verdict on `signals`. Text in which injection patterns were found is quarantined whatever its score."""
    factors = {name: score(signals) for name, score in FACTORS.items()}
    score = round(sum(WEIGHTS[name] * found.score for name, found in factors.items()), 4)
    own = decided(score)
    by = INJECTION if injection else RULE if own is Decision.ADMIT and barred(signals) else None
    return Verdict(
        score=score,
        decision=Decision.QUARANTINE if by else own,
        own_decision=own,
        by=by,
        factors=factors,
        weights=WEIGHTS,
        signals=signals,
        injection=injection,
    )


def barred(signals: Signals) -> str | None:
    """Why something may never be active by its score alone; None where it may."""
    if signals.courtesy:
        return "it is nothing but a greeting, thanks or an acknowledgement"
    if signals.by_assistant and signals.type in FACTS_OF_USERS:
        return f"the assistant's words are no {signals.type} of its user"
    return None


def replay(verdict: Verdict) -> Verdict:
    """The verdict that today's rules give for the signals stored with `verdict`; equal to it where the rules are the same.

    What trust or a plugin decided is no matter of signals, and is taken over as it was, save that nothing forces an
    injection in."""
    again = judged(verdict.signals, verdict.injection)
    of_the_rules = verdict.by in {None, INJECTION, RULE} or again.by == INJECTION
    taken: dict[str, Any] = {} if of_the_rules else {"decision": verdict.decision, "by": verdict.by}
    return again.model_copy(update=taken | {"trusted_by": verdict.trusted_by, "failed_plugins": verdict.failed_plugins})


def told(verdict: Verdict) -> VerdictReceipt:
    """What a receipt says of a verdict: its reasons, each under its factor."""
    reasons = [f"{name}: {reason}" for name, factor in verdict.factors.items() for reason in factor.reasons]
    return VerdictReceipt(
        score=verdict.score,
        decision=verdict.decision,
        by=verdict.by,
        factors={name: factor.score for name, factor in verdict.factors.items()},
        reasons=tuple(reasons),
        missing=verdict.signals.missing,
    )


def why(verdict: Verdict, given: str | None = None) -> str:
    """Why something is quarantined or rejected, for its receipt; `given` is what the plugin that decided so says."""
    if verdict.by == INJECTION:
        return f"it reads like an attempt to instruct the assistant: {', '.join(verdict.injection)}"
    if verdict.by == RULE:
        return f"{barred(verdict.signals)}; it waits for review"
    if verdict.failed_plugins:
        return f"a plugin could not judge it: {', '.join(verdict.failed_plugins)}"
    if verdict.by is not None:
        return f"the plugin {verdict.by} decided so{f': {given}' if given else ''}"
    bound = ADMIT_FROM if verdict.decision is Decision.QUARANTINE else QUARANTINE_FROM
    return f"it scored {verdict.score:.2f}, and {bound:.2f} is needed {_FOR[verdict.decision]}"


_FOR = {Decision.QUARANTINE: "to be recalled; it waits for review", Decision.REJECT: "to be kept"}
