"""What moves candidates beside the two signals, each switched by a setting and measured in docs/retrieval.md."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from chalicelib.domain.query import Candidate
from chalicelib.recall.speakers import of_assistants, of_the_named
from chalicelib.recall.surroundings import lent
from chalicelib.recall.times import at_the_named
from chalicelib.settings import RecallSettings

AROUND = "what was said around it matches too"
Ingredient = Callable[[Sequence[Candidate], Sequence[float]], list[float]]
"""What is added to the score of each candidate, given all of them with the sums of their signals."""


def ingredients(question: str, now: datetime, settings: RecallSettings) -> Iterator[tuple[str, Ingredient]]:
    """Those that are switched on, each with the reason that a hit is given which it raised."""
    if settings.use_surroundings:
        yield AROUND, lent
    if settings.use_speakers:
        yield "said by whom the query names", lambda candidates, _: of_the_named(candidates, question)
    if settings.use_times:
        yield "of the time that the query names", lambda candidates, _: at_the_named(candidates, question, now)
    if settings.use_user_over_assistant:
        yield "", lambda candidates, _: of_assistants(candidates)
