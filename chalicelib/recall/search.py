"""From a question to its hits: the tiers and cold recall, ranked; on the deep route also part by part and along links; and
what holds for this reader where hits disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.budget import time_left
from chalicelib.domain.explanation import LeftOutRule
from chalicelib.domain.query import EmptyReason, Hit, Missing, MissingCode
from chalicelib.domain.routing.route import RouteName
from chalicelib.domain.vector import Vector
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Embedder
from chalicelib.recall.cold import ColdRecall
from chalicelib.recall.conflict import resolve
from chalicelib.recall.found import Found
from chalicelib.recall.links import LinkedMemories
from chalicelib.recall.merging import merged, with_parts
from chalicelib.recall.question import Question
from chalicelib.recall.ranking import Ranking
from chalicelib.recall.succession import newer_first
from chalicelib.recall.tiers import Tiers

SECONDS_A_PART = 0.3  # that must be left of the request, or the parts that are left are not searched for


@dataclass(frozen=True)
class Searched:
    """The hits, why there are none, and what was found on the way."""

    hits: tuple[Hit, ...]
    empty: EmptyReason | None
    found: Found


class Search:
    """Everything between the cache and the answer."""

    def __init__(
        self, tiers: Tiers, cold: ColdRecall, ranking: Ranking, linked: LinkedMemories, embedder: Embedder
    ) -> None:
        self._tiers = tiers
        self._cold = cold
        self._ranking = ranking
        self._linked = linked
        self._embedder = embedder

    def run(self, asked: Question, vectors: Mapping[str, Vector], problem: Missing | None) -> Searched:
        """At most `asked.limit` hits. `vectors` are those of its text and of its parts; where they could not be had it is
        empty, and `problem` says why."""
        vector = vectors.get(asked.text)
        found, hits, empty = self._found(asked, vector)
        if problem:
            found.degraded.insert(0, problem)
        if asked.route.name is RouteName.DEEP:
            hits = self._with_parts(asked, hits, found, vectors)
        if hits and asked.route.links:
            model = self._embedder.passage_model
            hits = merged(hits, self._linked.of(asked, hits, found, vector, model))
        hits = _settled(asked, hits, found)
        return Searched(hits, None if hits else empty, found)

    def _found(self, asked: Question, vector: Vector | None) -> tuple[Found, tuple[Hit, ...], EmptyReason | None]:
        model = self._embedder.passage_model
        found = self._tiers.find(asked, vector, model)
        self._cold.ask(asked, vector, model, found)
        ranked = self._ranking.rank(asked, found)
        return found, ranked.hits, ranked.empty

    def _with_parts(
        self, asked: Question, hits: Sequence[Hit], found: Found, vectors: Mapping[str, Vector]
    ) -> tuple[Hit, ...]:
        """The hits of the whole with those of its parts; a part that cannot be searched for is said."""
        parts: list[Sequence[Hit]] = []
        for text in asked.parts:
            if time_left() < SECONDS_A_PART:
                found.miss("parts", MissingCode.OUT_OF_TIME, "no time was left for every part of the query")
                break
            try:
                more, further, _ = self._found(asked.part(text), vectors.get(text))
            except StoreUnavailable as error:
                found.miss("parts", MissingCode.STORE_UNAVAILABLE, error.message)
                break
            found.absorb(more)
            parts.append(further)
        return with_parts(hits, parts)


def _settled(asked: Question, hits: Sequence[Hit], found: Found) -> tuple[Hit, ...]:
    """The hits that hold for this reader, as many as there may be; what is left out is noted."""
    resolved = resolve(hits)
    for hit in resolved.left_out:
        by = (hit.overridden_by or ())[0]
        found.leave_out(hit.memory.id, LeftOutRule.OVERRIDDEN, hit.score, by=by.id, override=by.rule)
    ordered = newer_first(resolved.hits)
    for hit in ordered[asked.limit :]:
        found.leave_out(hit.memory.id, LeftOutRule.BEYOND_LIMIT, hit.score)
    return ordered[: asked.limit]
