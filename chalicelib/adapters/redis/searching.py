"""One search of the hot index as the calls of a pipeline: the weights of the terms over all scopes first, then each scope
by itself, so that no script holds the server for longer than one scope takes."""

import uuid
from collections.abc import Generator, Iterable, Sequence
from itertools import islice
from typing import Any

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection, Sent
from chalicelib.adapters.redis.filters import filter_json, vector_filter
from chalicelib.domain.query import Candidate, IndexAnswer, IndexQuery, TermStatistics
from chalicelib.domain.vector import Vector

UNITED_POSTINGS = 10_000  # entries a scope; a union of four scopes of 5,000 takes about 10 ms (facts.md)
FILTER_SCAN = 2_000
Steps = Generator[Sequence[Sent], list[Any], IndexAnswer]
"""A search as what it sends: it yields the calls of one round trip, is given their replies, and returns its answer."""


def in_step(connection: RedisConnection, searches: Sequence[Steps], *, bulk: bool = False) -> list[IndexAnswer]:
    """The answers of `searches`, which share their round trips: the first calls of all go out together, and so on."""
    answers: dict[int, IndexAnswer] = {}
    replies: dict[int, list[Any] | None] = dict.fromkeys(range(len(searches)))
    while replies:
        calls: dict[int, Sequence[Sent]] = {}
        for number, given in replies.items():
            try:
                calls[number] = searches[number].send(given)  # type: ignore[arg-type]  # None begins a generator
            except StopIteration as done:
                answers[number] = done.value
        came = iter(connection.run([call for some in calls.values() for call in some], bulk=bulk) if calls else ())
        replies = {number: list(islice(came, len(some))) for number, some in calls.items()}
    return [answers[number] for number in range(len(searches))]


FORMAT = 2  # of what the index holds of a row; one that was filled in another counts as incomplete and is rebuilt


def holder(driver: str) -> str:
    """What marks a scope complete: the driver under which it was filled, and the format."""
    return f"{driver}/{FORMAT}"


class Searching:
    """One search for the vector driver of that name. `calls` are to be sent as they are; `answer` reads their replies."""

    def __init__(self, scopes: Sequence[str], query: IndexQuery, driver: str) -> None:
        self.scopes = scopes
        self.query = query
        self._driver = driver
        self._token = uuid.uuid4().hex

    @property
    def weights(self) -> str:
        """The key under which the weights of the terms are left for 5 seconds."""
        return keys.temporary(self._token)

    def calls(self, vector: Vector | None, model: str) -> list[Call]:
        """The weighing, and a search of each scope: by text, and in vector sets where a vector is given. Rows with vectors
        of another model than `model` are counted unless it is empty."""
        return [self._weigh(), *(self._search(number, vector, model) for number in range(len(self.scopes)))]

    def _weigh(self) -> Call:
        names = [self.weights, keys.WANTED]
        arguments: list[str | int] = [len(self.scopes), holder(self._driver)]
        for scope in self.scopes:
            names += [keys.rows(scope), keys.complete(scope)]
            arguments += [scope, keys.postings(scope), self._question_postings(scope)]
        return Call("weigh", names, [*arguments, *self.query.terms])

    def _search(self, number: int, vector: Vector | None, model: str) -> Call:
        scope, wanted = self.scopes[number], self.query.filter
        names = [
            keys.rows(scope),
            keys.vectors(scope, model),
            keys.models(scope),
            self.weights,
            keys.temporary(f"{self._token}:{number}"),
            keys.question_vectors(scope, model),
            keys.places(scope),
        ]
        limits = [self.query.limit, UNITED_POSTINGS, self.query.exact_rows, FILTER_SCAN]
        filters = [vector_filter(wanted), filter_json(wanted)]
        asked: list[Arg] = [vector or b"", model, *filters, self._question_postings(scope)]
        return Call("search", names, [keys.postings(scope), *limits, *asked])

    def _question_postings(self, scope: str) -> str:
        return keys.question_postings(scope) if self.query.prospective else ""

    def answer(self, replies: Sequence[Any], found: Iterable[Candidate], *, vectors_searched: bool) -> IndexAnswer:
        """What `found` amounts to, with what the replies to `calls` say of the scopes."""
        (rows, incomplete, frequencies), *others = replies
        return IndexAnswer(
            tuple(found),
            TermStatistics(rows, dict(zip(self.query.terms, frequencies, strict=True))),
            frozenset(scope.decode() for scope in incomplete),
            frozenset(scope for scope, reply in zip(self.scopes, others, strict=True) if reply[0]),
            vectors_searched=vectors_searched,
        )
