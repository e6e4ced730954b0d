"""Whose words a candidate is: those of the one speaker whom the question names count more, an assistant's less than the
user's. Both are soft, so that what somebody else said is still found."""

from collections.abc import Sequence

from chalicelib.domain.query import Candidate
from chalicelib.domain.text.names import names_one, possible_names

NAMED = 1.5  # in units of a signal's deviation; docs/retrieval.md
ASSISTANT = -2.5


def of_the_named(candidates: Sequence[Candidate], question: str) -> list[float]:
    """What is added for being said by whom `question` names; nothing where it names nobody, or several."""
    words = frozenset(possible_names(question))
    speakers = [c.situation.place.names if c.situation else () for c in candidates]
    named = {speaker for speaker in speakers if names_one(words, speaker)}
    return [NAMED if len(named) == 1 and speaker in named else 0.0 for speaker in speakers]


def of_assistants(candidates: Sequence[Candidate]) -> list[float]:
    """What is added, less than nothing, for being said by an assistant."""
    return [ASSISTANT if c.situation and c.situation.place.is_assistants else 0.0 for c in candidates]
