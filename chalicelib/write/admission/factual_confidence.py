"""factualConfidence: is it stated as fact, by whom, grounded in the given messages?"""

from chalicelib.domain.admission import Factor, Signals
from chalicelib.write.admission.linear import factor, is_declared

FITTED = {
    "bias": -3.0,
    "questions": -1.0,
    "names": 1.25,
    "dates": 1.0,
    "first_person": 0.5,
    "second_person": -0.5,
}
"""Fitted on LoCoMo conversations 1-5 by `scripts/bench admission --fit`, then rounded."""

SET = {
    "declared": 4.5,
    "corrects": 5.0,
    "hedges": -1.5,
    "by_assistant": -4.0,
    "ungrounded": -2.0,
    "confidence": 4.0,
    "courtesy": -9.0,
}
"""Set by hand: in LoCoMo two people talk, none of them an assistant, and doubt says nothing about what is asked later."""

WEIGHTS = FITTED | SET
SAID = {
    "questions": "asks rather than tells",
    "names": "names someone or something",
    "dates": "says when",
    "first_person": "told in the first person",
    "second_person": "about the person spoken to",
    "declared": "declared as a memory",
    "corrects": "corrects something",
    "hedges": "in doubt",
    "by_assistant": "the assistant's words, not the user's",
    "ungrounded": "not in the given messages",
    "confidence": "confidence as given",
    "courtesy": "nothing but a greeting or thanks",
}


def features(signals: Signals) -> dict[str, float]:
    """What the factor weighs, by name."""
    return {
        "questions": signals.questions,
        "names": min(signals.names, 4),
        "dates": min(signals.dates, 3),
        "first_person": float(signals.first_person > 0),
        "second_person": min(signals.second_person, 4),
        "declared": float(is_declared(signals)),
        "corrects": float(signals.corrects),
        "hedges": min(signals.hedges, 2),
        "by_assistant": float(signals.by_assistant),
        "ungrounded": 0.0 if signals.grounded is None else 1 - signals.grounded,
        "confidence": 0.0 if signals.confidence is None else min(signals.confidence - 0.5, 0.0),
        "courtesy": float(signals.courtesy),
    }


def score(signals: Signals) -> Factor:
    """The factor."""
    return factor(features(signals), WEIGHTS, SAID)
