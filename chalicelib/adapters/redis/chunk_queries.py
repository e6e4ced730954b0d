"""The search module's language: how a chunk is described, what its nearest are asked for with, and how the reply is read.

What is used is what valkey-search 1.0 (Valkey 8.2, ElastiCache) and RediSearch both document: FT.CREATE ON HASH PREFIX with
TAG split at commas, NUMERIC, and VECTOR FLAT with COSINE; FT.SEARCH with `(filter)=>[KNN k @v $q AS d]`, tags, ranges with
exclusive bounds, PARAMS, RETURN, LIMIT and DIALECT 2. Not used: SORTBY, and the order of a reply.

Scopes, models and tags go in as digests, because the modules fold case and differ in what has to be escaped. Each begins
with a letter, lest it be read as a number; a tag's is another one in every scope, so that no list of rows spans scopes.
"""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Arg, Attempt
from chalicelib.domain.query import Filter, IndexQuery
from chalicelib.domain.vector import dimensions
from chalicelib.ports import IndexEntry

MOST_NEIGHBOURS = 10_000  # valkey-search's default of `max-vector-knn`
MOST_TAGS = 5  # valkey-search 1.0 takes 16 nodes: scope, type, time and five tags are 8, and 7 that join them
_HEX_DIGITS = 32


def create_index(size: int) -> Attempt:
    """Make the index over the chunks of `size` dimensions."""
    covered = ("ON", "HASH", "PREFIX", 1, keys.chunks_of_size(size))
    fields = ("s", "TAG", "k", "TAG", "g", "TAG", "e", "NUMERIC")
    vector = ("TYPE", "FLOAT32", "DIM", size, "DISTANCE_METRIC", "COSINE")
    schema = ("SCHEMA", *fields, "v", "VECTOR", "FLAT", len(vector), *vector)
    return Attempt("FT.CREATE", keys.chunk_index(size), *covered, *schema)


def fields_of(change: IndexEntry, *, questions: bool = False) -> dict[str, str]:
    """The fields of a row's chunks besides the vector, or of its prospective questions: they count as a scope of their own,
    so that a search asks for one or the other."""
    return {
        "s": _scope_digest(change.scope_key, change.model, questions=questions),
        "k": change.type.value,
        "g": ",".join(_tag_digest(change.scope_key, tag) for tag in change.tags),
        "e": str(change.event_ms),
    }


def nearest(scope: str, query: IndexQuery, count: int, *, questions: bool = False) -> Attempt:
    """Ask for the `count` nearest chunks or questions, 10,000 at most, of a scope to the vector of `query`, of its model and
    size, that its filter admits; of many tags some are left for the reader of the reply to check."""
    vector, count = query.vector or b"", min(count, MOST_NEIGHBOURS)
    asked = f"({_conditions(scope, query, questions=questions)})=>[KNN {count} @v $q AS d]"
    options: tuple[Arg, ...] = ("PARAMS", 2, "q", vector, "RETURN", 1, "d", "LIMIT", 0, count, "DIALECT", 2)
    return Attempt("FT.SEARCH", keys.chunk_index(dimensions(vector)), asked, *options)


def cosines(scope: str, query: IndexQuery, reply: Sequence[Any]) -> dict[str, float]:
    """Each row of the reply with the cosine of its nearest chunk or question, the nearest row first. What is not of the
    scope, the model and the size asked, by the name of its key, is left out."""
    prefix = keys.chunks(dimensions(query.vector or b""), scope, query.model).encode()
    found: dict[str, float] = {}
    for name, returned in zip(reply[1::2], reply[2::2], strict=True):
        distance = float(dict(zip(returned[::2], returned[1::2], strict=True)).get(b"d", "nan"))
        if name.startswith(prefix) and math.isfinite(distance):
            id_ = name[len(prefix) :].rpartition(b"#")[0].decode()
            found[id_] = max(found.get(id_, -1.0), 1 - distance)
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _conditions(scope: str, query: IndexQuery, *, questions: bool) -> str:
    wanted = query.filter or Filter()
    parts = [f"@s:{{{_scope_digest(scope, query.model, questions=questions)}}}"]
    if wanted.types:
        parts.append(f"@k:{{{' | '.join(kind.value for kind in wanted.types)}}}")
    parts += [f"@g:{{{_tag_digest(scope, tag)}}}" for tag in wanted.tags[:MOST_TAGS]]
    if wanted.since is not None or wanted.before is not None:
        since = "-inf" if wanted.since is None else str(wanted.since)
        before = "+inf" if wanted.before is None else f"({wanted.before}"
        parts.append(f"@e:[{since} {before}]")
    return " ".join(parts)


def _scope_digest(scope: str, model: str, *, questions: bool) -> str:
    return ("q" if questions else "s") + _digest(scope, model)


def _tag_digest(scope: str, tag: str) -> str:
    return "t" + _digest(scope, tag)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_HEX_DIGITS]
