"""semanticNovelty: how far is it from what the scope already holds, and how much does it add?"""

from chalicelib.domain.admission import Factor, Signals
from chalicelib.write.admission.linear import factor, grown, is_declared

FITTED = {
    "bias": 0.1,
    "fresh": 0.75,
}
"""Fitted on LoCoMo conversations 1-5 by `scripts/bench admission --fit`, then rounded."""

SET = {"similarity": -0.5, "declared": 2.0, "repeats": -6.0, "courtesy": -9.0}
"""Set by hand: what was declared says one thing, new or not; what was said before, near in both senses, adds nothing."""

UNKNOWN_SIMILARITY = 1.0  # without vectors; the nearest of a filled scope is hardly ever farther (LoCoMo: median 1.00)

WEIGHTS = FITTED | SET
SAID = {
    "fresh": "words that are new to the scope",
    "similarity": "near to a memory of the scope",
    "declared": "declared as a memory",
    "repeats": "says what a memory of the scope says",
    "courtesy": "nothing but a greeting or thanks",
}


def features(signals: Signals) -> dict[str, float]:
    """What the factor weighs, by name."""
    return {
        "fresh": grown(signals.fresh),
        "similarity": UNKNOWN_SIMILARITY if signals.similarity is None else signals.similarity,
        "declared": float(is_declared(signals)),
        "repeats": repeats(signals),
        "courtesy": float(signals.courtesy),
    }


def repeats(signals: Signals) -> float:
    """How far one memory of the scope says the same already, 0 to 1: by its words, and by meaning where vectors tell.

    Vectors alone call "Ana lives in Porto" and "Ana lives in Faro" the same; words alone miss what was said in others."""
    near = 1.0 if signals.similarity is None else signals.similarity
    return near * signals.overlap**2


def score(signals: Signals) -> Factor:
    """The factor."""
    return factor(features(signals), WEIGHTS, SAID)
