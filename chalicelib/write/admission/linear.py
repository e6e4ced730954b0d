"""The one form that the learned factors share: a logistic curve over a few named features, which says what moved it."""

import math
from collections.abc import Mapping

from chalicelib.domain.admission import Factor, Signals
from chalicelib.domain.memory import MemoryType

BIAS = "bias"
MOST_REASONS = 4
WORTH_SAYING = 0.25  # of the curve's exponent; below, a feature moves a score by less than 0.06


def factor(features: Mapping[str, float], weights: Mapping[str, float], said: Mapping[str, str]) -> Factor:
    """The factor of `features`, each times its weight; `said` names them for the reasons, the strongest first."""
    parts = {name: value * weights[name] for name, value in features.items()}
    score = 0.5 * (1 + math.tanh((weights[BIAS] + math.fsum(parts.values())) / 2))
    strongest = sorted((name for name in parts if name in said), key=lambda name: -abs(parts[name]))[:MOST_REASONS]
    reasons = [f"{said[name]} ({parts[name]:+.1f})" for name in strongest if abs(parts[name]) >= WORTH_SAYING]
    return Factor(score=round(score, 4), reasons=tuple(reasons))


def grown(count: float) -> float:
    """A count on a scale where the first few matter most."""
    return math.log1p(count)


def is_declared(signals: Signals) -> bool:
    """Whether somebody decided that a statement is a memory; what was merely said is of type `conversation`."""
    return signals.type is not MemoryType.CONVERSATION and signals.stated > 0
