"""temporalRecency: how fresh is it, by event time?"""

from chalicelib.domain.admission import Factor, Signals

HALF_LIFE_DAYS = 365.0  # what was true a year ago is still more often true than not


def score(signals: Signals) -> Factor:
    """1 for what is now or ahead, half of it for each year since."""
    age = max(signals.age_days, 0.0)
    reasons = (f"{age:.0f} days old",) if age >= 1 else ()
    return Factor(score=round(0.5 ** (age / HALF_LIFE_DAYS), 4), reasons=reasons)
