"""futureUtility: will this be worth having in a later conversation?

What later conversations ask for are the specifics that people tell of themselves: rare words, times, answers, what a picture
shows. Talk about the other person, questions and courtesies are seldom asked for again.
"""

from chalicelib.domain.admission import Factor, Signals
from chalicelib.write.admission.linear import factor, grown, is_declared

FITTED = {
    "bias": -1.7,
    "information": 1.25,
    "dates": 1.0,
    "numbers": 0.25,
    "first_person": 0.75,
    "second_person": -0.25,
    "pictured": 1.0,
    "asked_before": 2.75,
    "words_before": -1.0,
}
"""Fitted on LoCoMo conversations 1-5 by `scripts/bench admission --fit`, then rounded."""

SET = {"declared": 2.5, "corrects": 4.0, "importance": 2.0, "courtesy": -9.0}
"""Set by hand: LoCoMo has no declared memories, and the rules on corrections and greetings are the product's."""

WEIGHTS = FITTED | SET
SAID = {
    "information": "specific, rare words",
    "dates": "says when",
    "numbers": "has numbers",
    "first_person": "told in the first person",
    "second_person": "about the person spoken to",
    "pictured": "shows a picture",
    "asked_before": "answers a question",
    "words_before": "follows another message, the longer the less",
    "declared": "declared as a memory",
    "corrects": "corrects something",
    "importance": "importance as given",
    "courtesy": "nothing but a greeting or thanks",
}


def features(signals: Signals) -> dict[str, float]:
    """What the factor weighs, by name."""
    return {
        "information": grown(signals.information),
        "dates": min(signals.dates, 3),
        "numbers": min(signals.numbers, 2),
        "first_person": float(signals.first_person > 0),
        "second_person": min(signals.second_person, 4),
        "pictured": grown(signals.pictured),
        "asked_before": float(signals.asked_before),
        "words_before": grown(signals.words_before),
        "declared": float(is_declared(signals)),
        "corrects": float(signals.corrects),
        "importance": signals.importance - 0.5,
        "courtesy": float(signals.courtesy),
    }


def score(signals: Signals) -> Factor:
    """The factor."""
    return factor(features(signals), WEIGHTS, SAID)
