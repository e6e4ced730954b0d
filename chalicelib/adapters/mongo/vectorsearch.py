"""One `$vectorSearch`: the pipeline that asks for a chain's nearest rows, and its answer as candidates.

It relies on MongoDB's documentation of the stage ("Run Vector Search ANN and ENN Queries"): it is the first stage; `filter`
takes `$eq`, `$in`, the ranges, `$and`, `$nor` on fields that the index declares; `limit` is an int of at most
`numCandidates`, which is at most 10,000 and recommended to be 20 times `limit`, and `exact` stands in its place; the score
of cosine similarity is (1 + cosine) / 2. That a row without `expiresAt` passes rests on `$nor` selecting what fails its
conditions, "including documents that do not contain the field" (MongoDB manual, `$nor`): `$exists` and comparisons with
null are younger than the stage, and are left alone.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from bson.binary import VECTOR_SUBTYPE, Binary

from chalicelib.adapters.mongo.documents import FLOAT32_HEADER, from_document
from chalicelib.adapters.mongo.searchindex import INDEX_NAME, VECTOR_PATH, FilterField
from chalicelib.domain.memory import Status
from chalicelib.domain.query import EXACT_ROWS, Candidate, Filter, IndexQuery
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import Vector, best_cosine

MOST_CANDIDATES = 10_000  # the stage's own limit
FEWEST_CANDIDATES = 1_000  # few results asked of a large index need proportionally more candidates to be the right ones
CANDIDATES_A_RESULT = 20  # the documentation's recommendation
_SCORE = "vectorScore"
_CHUNKS = "embeddingChunks"
_SCORE_SLACK = 1e-6  # a score is computed in float32

Condition = dict[str, Any]


class NotAsked(ValueError):
    """The answer holds something that no server which understood the search would give."""


def pipeline(
    vector: Vector, query: IndexQuery, scopes: Sequence[str], *, limit: int, rows: int, now: datetime
) -> list[dict[str, Any]]:
    """The stages that ask for the `limit` nearest rows of `scopes`."""
    stage: dict[str, Any] = {
        "index": INDEX_NAME,
        "path": VECTOR_PATH,
        "queryVector": Binary(FLOAT32_HEADER + vector, VECTOR_SUBTYPE),
        "filter": {"$and": conditions(query, scopes, now)},
        "limit": limit,
    }
    if rows <= EXACT_ROWS:
        stage["exact"] = True
    else:
        stage["numCandidates"] = min(MOST_CANDIDATES, max(CANDIDATES_A_RESULT * limit, FEWEST_CANDIDATES))
    score = {"$set": {_SCORE: {"$meta": "vectorSearchScore"}}}
    return [{"$vectorSearch": stage}, score, {"$project": {VECTOR_PATH: 0}}]


def conditions(query: IndexQuery, scopes: Sequence[str], now: datetime) -> list[Condition]:
    """What a row must satisfy, all of it: its scope first, then what `admitted` checks again in the answer."""
    wanted = query.filter or Filter()
    found = [
        _on(FilterField.SCOPE, "$in", list(scopes)),
        _on(FilterField.STATUS, "$eq", Status.ACTIVE.value),
        _on(FilterField.MODEL, "$eq", query.model),
        {"$nor": [_on(FilterField.EXPIRES_AT, "$lte", now)]},
    ]
    if wanted.types:
        found.append(_on(FilterField.TYPE, "$in", [kind.value for kind in wanted.types]))
    found += [_on(FilterField.TAGS, "$eq", tag) for tag in wanted.tags]
    if wanted.since is not None:
        found.append(_on(FilterField.EVENT_TIME, "$gte", _time(wanted.since)))
    if wanted.before is not None:
        found.append(_on(FilterField.EVENT_TIME, "$lt", _time(wanted.before)))
    return found


def candidates(
    documents: Sequence[Any], vector: Vector, query: IndexQuery, chain: Chain, now: datetime
) -> list[Candidate]:
    """The answer, the nearest first. A row that was changed since the index saw it and no longer fits is left out.

    NotAsked where a row is of another scope than those asked, or is no memory with a score: then none of it is trusted."""
    found = [_candidate(document, vector, query, chain, now) for document in documents]
    once = {candidate.id: candidate for candidate in found if candidate is not None}
    return sorted(once.values(), key=lambda candidate: (-(candidate.cosine or 0), candidate.id))


def _candidate(document: Any, vector: Vector, query: IndexQuery, chain: Chain, now: datetime) -> Candidate | None:
    if not isinstance(document, Mapping) or not chain.holds(str(document.get(FilterField.SCOPE))):
        raise NotAsked("a row of another scope")
    try:
        row = from_document(dict(document))
        fits = document.get(FilterField.MODEL) == query.model
        cosine = _cosine(document, vector) if fits else None
    except (KeyError, TypeError, ValueError) as error:
        raise NotAsked("a row that is no memory") from error
    if row.memory.scope_ref.key != document[FilterField.SCOPE]:
        raise NotAsked("a row whose scope is not its own")
    admitted = (
        fits
        and row.memory.status is Status.ACTIVE
        and not row.memory.is_expired(now)
        and (query.filter is None or query.filter.admits(row.memory))
    )
    return Candidate(row.memory.id, row.memory.scope_ref.key, cosine, row=row) if admitted else None


def _cosine(document: Mapping[str, Any], vector: Vector) -> float:
    """The cosine of the best chunk where there are several: the index knows the direction of their mean."""
    if chunks := document.get(_CHUNKS):
        return best_cosine(vector, [bytes(chunk)[len(FLOAT32_HEADER) :] for chunk in chunks])
    score = float(document[_SCORE])
    if not math.isfinite(score) or not -_SCORE_SLACK <= score <= 1 + _SCORE_SLACK:
        raise ValueError(f"{score} is no score")
    return 2 * score - 1


def _on(field: FilterField, operator: str, value: Any) -> Condition:
    return {field.value: {operator: value}}


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
