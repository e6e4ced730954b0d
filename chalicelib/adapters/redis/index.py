"""The hot index on Redis: vector sets, postings as sorted sets, and the rows' registry that keeps both right.

One script a change and scope, so that a crash leaves no half of a row behind, and repeats and stale revisions change
nothing. One pipeline a search: the weights of the terms over all scopes first, then each scope by itself, so that no
script holds the server for longer than one scope takes.
"""

import json
import math
import secrets
import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection
from chalicelib.adapters.redis.filters import attribute_tag, filter_json, vector_filter
from chalicelib.domain import bm25
from chalicelib.domain.query import Candidate, IndexAnswer, IndexQuery, TermStatistics
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import Vector, unpack
from chalicelib.ports import IndexEntry, IndexRemoval

EXACT_ROWS = 20_000  # spec/product.md "Vectors"
UNITED_POSTINGS = 10_000  # entries a scope; a union of four scopes of 5,000 takes about 10 ms (facts.md)
FILTER_SCAN = 2_000
TOMBSTONE_SECONDS = 600
_RANDOM_START = 1 << 48
_ANY_REVISION = 1 << 52
_LARGEST_INT8 = 127
_CHANGES_A_CALL = 100
_QUICK_CHANGES = 10  # about 10 ms; a server that takes longer is not well


class RedisHotIndex:
    """`ports.HotIndex`. Without vector sets (a plain Valkey) it holds and searches text alone, and `probe` says so."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._has_vectors: bool | None = None

    @property
    def has_vectors(self) -> bool:
        """Whether the server knows vector sets; asked once, and again by every probe."""
        return self._ask_vectors() if self._has_vectors is None else self._has_vectors

    def _ask_vectors(self) -> bool:
        known = self._connection.command("COMMAND INFO", "VSIM")
        found = bool(known and known[0])
        self._has_vectors = found
        return found

    def probe(self) -> dict[str, Any]:
        said = self._connection.probe()
        return said | {"vectorDriver": "vector_sets" if self._ask_vectors() else "none"}

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        vector = query.vector if self.has_vectors else None
        token = uuid.uuid4().hex
        scopes = chain.keys
        calls = [self._weigh(scopes, token, query.terms)]
        calls += [self._search(scope, token, i, query, vector) for i, scope in enumerate(scopes)]
        (rows, incomplete, frequencies), *replies = self._connection.run(calls)
        statistics = TermStatistics(rows, dict(zip(query.terms, frequencies, strict=True)))
        return IndexAnswer(
            tuple(
                c for scope, reply in zip(scopes, replies, strict=True) for c in _candidates(scope, reply[1:], vector)
            ),
            statistics,
            frozenset(scope.decode() for scope in incomplete),
            frozenset(scope for scope, reply in zip(scopes, replies, strict=True) if reply[0]),
            vectors_searched=vector is not None,
        )

    def _weigh(self, scopes: Sequence[str], token: str, terms: Sequence[str]) -> Call:
        names = [keys.temporary(token), keys.WANTED]
        arguments: list[str | int] = [len(scopes)]
        for scope in scopes:
            names += [keys.rows(scope), keys.complete(scope)]
            arguments += [scope, keys.postings(scope)]
        return Call("weigh", names, [*arguments, *terms])

    def _search(self, scope: str, token: str, number: int, query: IndexQuery, vector: Vector | None) -> Call:
        model = query.model
        names = [
            keys.rows(scope),
            keys.vectors(scope, model),
            keys.models(scope),
            keys.temporary(token),
            keys.temporary(f"{token}:{number}"),
        ]
        limits = [query.limit, UNITED_POSTINGS, EXACT_ROWS, FILTER_SCAN]
        filters = [vector_filter(query.filter), filter_json(query.filter)]
        return Call("search", names, [keys.postings(scope), *limits, vector or b"", model, *filters])

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        for start in range(0, len(changes), _CHANGES_A_CALL):
            calls = [self._change(change) for change in changes[start : start + _CHANGES_A_CALL]]
            self._connection.run(calls, bulk=len(calls) > _QUICK_CHANGES)

    def _change(self, change: IndexEntry | IndexRemoval) -> Call:
        if isinstance(change, IndexRemoval):
            return self._removal(change.scope_key, change.id, change.revision, TOMBSTONE_SECONDS)
        vectors = change.vectors if self.has_vectors else ()
        impacts = {term: bm25.impact(count, change.length) for term, count in change.counts.items()}
        entry = {
            "r": change.revision,
            "t": list(change.counts),
            "n": len(vectors),
            "m": change.model,
            "mk": quote(change.model, safe=""),
            "k": change.type.value,
            "g": list(change.tags),
            "e": change.event_ms,
        }
        attributes = {"k": change.type.value, "g": [attribute_tag(tag) for tag in change.tags], "e": change.event_ms}
        start = secrets.randbelow(_RANDOM_START)
        documents: list[Arg] = [_json(entry), _json(impacts), start, _json(attributes)]
        names, shared = _of_row(change.scope_key, change.id)
        return Call("index", names, [*shared, *documents, *vectors])

    def _removal(self, scope_key: str, id_: str, revision: int, tombstone_seconds: int) -> Call:
        names, shared = _of_row(scope_key, id_)
        return Call("remove", names, [*shared, revision, tombstone_seconds, secrets.randbelow(_RANDOM_START)])

    def begin_rebuild(self, scope_key: str) -> str:
        generation, token = keys.generation(scope_key), uuid.uuid4().hex
        self._connection.run(
            [
                ("SET", keys.rebuild(scope_key), token),
                ("DEL", keys.complete(scope_key)),
                ("SETNX", generation, secrets.randbelow(_RANDOM_START)),
                ("INCR", generation),
            ]
        )
        cursor = 0
        while True:
            cursor, page = self._connection.command("HSCAN", keys.rows(scope_key), cursor, "COUNT", _CHANGES_A_CALL)
            if page:
                self._connection.run(
                    [self._removal(scope_key, id_.decode(), _ANY_REVISION, 0) for id_ in page], bulk=True
                )
            if int(cursor) == 0:
                return token

    def complete(self, scope_key: str, token: str = "") -> bool:
        names = [keys.complete(scope_key), keys.rebuild(scope_key), keys.WANTED]
        return bool(self._connection.run([Call("complete", names, [token, scope_key])])[0])

    def wanted(self, limit: int = 100) -> list[str]:
        return [name.decode() for name in self._connection.command("SPOP", keys.WANTED, limit)]

    def changed(self, limit: int = 100) -> list[tuple[str, int]]:
        scopes = [name.decode() for name in self._connection.command("SPOP", keys.CHANGED, limit)]
        counts = self._connection.run([("HLEN", keys.rows(scope)) for scope in scopes]) if scopes else []
        return list(zip(scopes, counts, strict=True))


def _of_row(scope: str, id_: str) -> tuple[list[str], list[Arg]]:
    """The keys and the first arguments of the scripts that change one row."""
    names = [keys.rows(scope), keys.generation(scope), keys.tombstone(scope, id_), keys.CHANGED, keys.models(scope)]
    names += [keys.complete(scope), keys.WANTED]
    return names, [id_, scope, keys.postings(scope), keys.vectors(scope, "")]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _candidates(scope: str, reply: Sequence[Any], vector: Vector | None) -> list[Candidate]:
    values = unpack(vector).tolist() if vector else []
    found = []
    for id_, score, vsim, chunks in reply:
        cosine = None
        if vsim:
            cosine = 2 * float(vsim) - 1  # VSIM scores (1 + cosine) / 2
        elif chunks and vector:
            cosine = max(_quantised_cosine(values, chunk) for chunk in chunks)
        found.append(Candidate(id_.decode(), scope, cosine, float(score)))
    return found


def _quantised_cosine(query: list[float], raw: Sequence[Any]) -> float:
    """The cosine of a unit vector with a stored chunk as VEMB RAW gives it: kind, int8 values, the length that it was scaled
    down from, and the value that 127 stands for."""
    return math.sumprod(query, memoryview(raw[1]).cast("b").tolist()) * float(raw[3]) / _LARGEST_INT8
