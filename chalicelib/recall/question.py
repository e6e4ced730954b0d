"""A recall as it is asked: checked, cleaned, and with everything derived from it that the tiers need."""

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.past import as_it_was
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.routing.route import Route, RouteCode, RouteName, RouteReason, route_of, unrouted
from chalicelib.domain.scope import Chain
from chalicelib.domain.text.cleaning import clean, is_blank
from chalicelib.domain.text.names import possible_names
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.text.terms import index_terms, query_words
from chalicelib.errors import InvalidInput

_FORMAT = 2
"""Of cached answers: one that another version of the product wrote in another form is not read."""


@dataclass(frozen=True)
class Question:
    """`text` is the redacted query. `words` are its words, each as the terms it may stand under. `chain` is what it may
    reach: the caller's, narrowed by what the query asks and, where it does not say, by the route."""

    caller: Caller
    query: RecallQuery
    chain: Chain
    text: str
    words: tuple[tuple[str, ...], ...]
    route: Route

    @property
    def limit(self) -> int:
        """How many hits there may be: as many as were asked for, else as the route gives."""
        return self.query.limit or self.route.max_results

    @property
    def terms(self) -> tuple[str, ...]:
        """All terms of all words, each once."""
        return tuple(dict.fromkeys(term for word in self.words for term in word))

    @property
    def names(self) -> tuple[str, ...]:
        """Its words that could be part of a name."""
        return possible_names(self.text)

    def seen(self, row: StoredMemory, now: datetime) -> StoredMemory | None:
        """The row as this question may be answered with it, at `now` or the time that it asks for; None where it may not."""
        memory = self._seen(row.memory, now)
        wanted = self.query.filter
        if memory is None or not (wanted is None or wanted.admits(memory)):
            return None
        if memory.content == row.memory.content:
            return replace(row, memory=memory)
        terms = index_terms(memory.indexed_text)
        return StoredMemory(memory, terms.counts, terms.length)

    def _seen(self, memory: Memory, now: datetime) -> Memory | None:
        at = self.query.as_of
        if memory.status is Status.ARCHIVED and memory.archived_reason in self.query.archived_reasons:
            is_known = at is None or memory.created_at <= at
            if is_known and not (at and memory.archived_at and memory.archived_at > at):
                return memory
        if at is not None:
            return as_it_was(memory, at)
        return memory if memory.status is Status.ACTIVE and not memory.is_expired(now) else None

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """What the deep route searches for one by one, besides the whole."""
        if self.route.name is not RouteName.DEEP:
            return ()
        from chalicelib.domain.routing.parts import parts  # noqa: PLC0415 - see `recall.dopamine_router`
        from chalicelib.domain.routing.reading import read  # noqa: PLC0415

        return parts(read(self.text))

    def part(self, text: str) -> "Question":
        """The question about a part of its text."""
        return replace(self, text=text, words=query_words(text))

    def answer_key(self, model: str) -> str:
        """Under what an answer to this is cached: everything that could change it, the organization first."""
        asked = self.query.model_dump(mode="json", exclude={"query"})
        route = self.route.model_dump(mode="json")
        reader = self.caller.user_id
        return key(self.chain.org_id, _hash([_FORMAT, reader, self.text, self.chain.keys, model, asked, route]))

    def vector_key(self, model: str) -> str:
        """Under what the vectors of the query and its parts are cached, per organization."""
        return key(self.chain.org_id, _hash([self.text, *self.parts, model]))


def question(caller: Caller, query: RecallQuery) -> Question:
    """The question of `caller`. InvalidInput for a blank query, NotFound for a scope outside the caller's chain."""
    cleaned = _cleaned(query.query, "query")
    if is_blank(cleaned):
        raise InvalidInput("query", "must not be empty")
    text, _ = redact(cleaned)
    query = query.model_copy(update={"tags": tuple(_cleaned(tag, f"tags.{i}") for i, tag in enumerate(query.tags))})
    route = _first_route(query)
    return Question(caller, query, reach(caller, query, route), text, query_words(text), route)


def _first_route(query: RecallQuery) -> Route:
    """The route before any plugin: the one that the query names, or the standard one."""
    if query.route:
        return route_of(query.route, [RouteReason(code=RouteCode.FORCED, text="the query names this route")])
    return unrouted(RouteCode.ROUTER_OFF, "the router is off in this organization")


def reach(caller: Caller, query: RecallQuery, route: Route) -> Chain:
    """The part of the caller's chain that a query reaches. NotFound for an id that the chain does not hold.

    A query that names scopes is not narrowed by its route."""
    chain = caller.chain.narrow(query.wanted_scopes, query.scope_ids)
    return chain if query.wanted_scopes or query.scope_ids else chain.narrow(route.scopes, None)


def _cleaned(text: str, field: str) -> str:
    try:
        return clean(text)
    except UnicodeEncodeError:
        raise InvalidInput(field, "is not valid Unicode") from None


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
