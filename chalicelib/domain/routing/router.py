"""The router: which route a query takes, by its form alone. No model is asked, and nothing is stored."""

from functools import lru_cache

from chalicelib.domain.routing.comparisons import compares
from chalicelib.domain.routing.entities import count, side_by_side
from chalicelib.domain.routing.parts import alternatives, questions
from chalicelib.domain.routing.reading import Reading, phrases_in, read
from chalicelib.domain.routing.route import Route, RouteCode, RouteName, RouteReason, route_of
from chalicelib.domain.routing.words import (
    COURTESIES,
    COURTESIES_UNSPACED,
    QUESTION_UNSPACED,
    word_set,
)

VERY_SHORT = 2  # words
FOLLOW_UP = 4  # words, once a conversation is under way: "in the other one", "yes, do that"
LONG = 40  # words: more than one question has
SEVERAL = 3  # names


@lru_cache(maxsize=2048)
def route(text: str, position: int | None = None, *, past: bool = False) -> Route:
    """The route of a query. `position` is how many messages came before it in its conversation, None where nobody says;
    `past` is whether it asks for what is no longer active, which a fast recall does not look at."""
    reading = read(text)
    if deep := _deep(reading):
        return route_of(RouteName.DEEP, deep)
    if past:
        return route_of(RouteName.STANDARD, [_because(RouteCode.PAST_ASKED, "asks for what is no longer active")])
    if fast := _fast(reading, position):
        return route_of(RouteName.FAST, [fast])
    return route_of(RouteName.STANDARD, [_because(RouteCode.PLAIN, f"one thing, in {reading.length:.0f} words")])


def _because(code: RouteCode, text: str) -> RouteReason:
    return RouteReason(code=code, text=text)


def _deep(reading: Reading) -> list[RouteReason]:
    reasons = []
    if (asked := len(questions(reading))) > 1:
        reasons.append(_because(RouteCode.SEVERAL_QUESTIONS, f"asks {asked} questions"))
    if compares(reading):
        reasons.append(_because(RouteCode.COMPARISON, "compares things"))
    if alternatives(reading):
        reasons.append(_because(RouteCode.ALTERNATIVES, "names alternatives"))
    if side_by_side(reading):
        reasons.append(_because(RouteCode.SEVERAL_ENTITIES, "has names side by side"))
    elif (named := count(reading)) >= SEVERAL:
        reasons.append(_because(RouteCode.SEVERAL_ENTITIES, f"has {named} names"))
    if reading.length >= LONG:
        reasons.append(_because(RouteCode.LONG, f"has {reading.length:.0f} words"))
    return [] if is_courtesy(reading) else reasons


def _fast(reading: Reading, position: int | None) -> RouteReason | None:
    if is_courtesy(reading):
        return _because(RouteCode.GREETING, "greets, thanks or agrees, and asks for nothing")
    asks = bool(reading.question_words) or bool(phrases_in(reading.text, QUESTION_UNSPACED))
    if asks:
        return None
    if reading.length <= VERY_SHORT:
        return _because(RouteCode.VERY_SHORT, f"has {reading.length:.0f} words and no question word")
    under_way = position is not None and position > 0
    if under_way and reading.length <= FOLLOW_UP and not reading.asks and not count(reading):
        return _because(RouteCode.FOLLOW_UP, f"goes on with a conversation, in {reading.length:.0f} words")
    return None


def is_courtesy(reading: Reading) -> bool:
    """Whether it is made of greetings, thanks and acknowledgements alone."""
    if not all(word.plain in word_set(COURTESIES) for word in reading.words):
        return False
    left = reading.unspaced
    for phrase in sorted(word_set(COURTESIES_UNSPACED), key=len, reverse=True):
        left = left.replace(phrase, " ")
    return not left.strip() and bool(reading.words or reading.unspaced.strip())
