"""The hot index on Redis: vectors, postings as sorted sets, and the rows' registry that keeps both right.

One script a change and scope, so that a crash leaves no half of a row behind, and repeats and stale revisions change
nothing. Where vectors live, and how they are searched, is the driver's part.
"""

import json
import secrets
import uuid
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from chalicelib.adapters.redis import keys, placing
from chalicelib.adapters.redis.connection import Arg, Call, RedisConnection
from chalicelib.adapters.redis.drivers import StoredVectors, TextAlone, VectorDriver, VectorSets
from chalicelib.adapters.redis.search_module import SearchModule
from chalicelib.adapters.redis.searching import holder, in_step
from chalicelib.domain import bm25
from chalicelib.domain.query import IndexAnswer, IndexQuery
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import dimensions
from chalicelib.ports import IndexEntry, IndexRemoval

TOMBSTONE_SECONDS = 600
_RANDOM_START = 1 << 48
_ANY_REVISION = 1 << 52
_CHANGES_A_CALL = 100
_QUICK_SEARCHES = 10
_QUICK_CHANGES = 10  # about 10 ms; a server that takes longer is not well


class RedisHotIndex:
    """`ports.HotIndex`. Without vectors (a plain Valkey) it holds and searches text alone; `probe` names the driver."""

    def __init__(self, connection: RedisConnection) -> None:
        self._connection = connection
        self._known_driver: VectorDriver | None = None

    @property
    def _driver(self) -> VectorDriver:
        """The driver that the server calls for; asked once, and again by every probe."""
        return self._known_driver or self._ask_driver()

    def _ask_driver(self) -> VectorDriver:
        sets, module = self._connection.command("COMMAND INFO", "VSIM", "FT.SEARCH")
        kind = VectorSets if sets else SearchModule if module else TextAlone
        if not isinstance(self._known_driver, kind):
            fresh = VectorSets() if sets else SearchModule(self._connection) if module else TextAlone()
            self._known_driver = fresh
        return self._known_driver

    def probe(self) -> dict[str, Any]:
        return self._connection.probe() | {"vectorDriver": self._ask_driver().name}

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        (answer,) = self.search_many([(chain, query)])
        return answer

    def search_many(self, asked: Sequence[tuple[Chain, IndexQuery]]) -> list[IndexAnswer]:
        if not asked:
            return []
        steps = [self._driver.steps(chain.keys, query) for chain, query in asked]
        return in_step(self._connection, steps, bulk=len(steps) > _QUICK_SEARCHES)

    def apply(self, changes: Sequence[IndexEntry | IndexRemoval]) -> None:
        self._driver.prepare({dimensions(c.vectors[0]) for c in changes if isinstance(c, IndexEntry) and c.vectors})
        for start in range(0, len(changes), _CHANGES_A_CALL):
            calls = [self._change(change) for change in changes[start : start + _CHANGES_A_CALL]]
            self._connection.run(calls, bulk=len(calls) > _QUICK_CHANGES)

    def _change(self, change: IndexEntry | IndexRemoval) -> Call:
        if isinstance(change, IndexRemoval):
            return self._removal(change.scope_key, change.id, change.revision, TOMBSTONE_SECONDS)
        stored = self._driver.stored(change)
        impacts = {term: bm25.impact(count, change.length) for term, count in change.counts.items()}
        entry = {
            "r": change.revision,
            "t": list(change.counts),
            "n": len(stored.vectors),
            "m": change.model,
            "mk": quote(change.model, safe=""),
            "k": change.type.value,
            "g": list(change.tags),
            "e": change.event_ms,
            "p": placing.stored(change),
        } | stored.entry
        start = secrets.randbelow(_RANDOM_START)
        documents: list[Arg] = [_json(entry), _json(impacts), start, stored.attributes]
        asked: list[Arg] = [_questions(change, stored), bm25.question_impact(change.length), stored.question_attributes]
        names, shared = _of_row(change.scope_key, change.id)
        return Call("index", names, [*shared, *documents, *asked, *stored.vectors, *stored.questions])

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
        self._drop_vectors(scope_key)
        cursor = 0
        while True:
            cursor, page = self._connection.command("HSCAN", keys.rows(scope_key), cursor, "COUNT", _CHANGES_A_CALL)
            if page:
                self._connection.run(
                    [self._removal(scope_key, id_.decode(), _ANY_REVISION, 0) for id_ in page], bulk=True
                )
            if int(cursor) == 0:
                return token

    def _drop_vectors(self, scope_key: str) -> None:
        """Whole sets at once: taking all out of one by one is slow, and vectors that are nearly alike have crashed Redis
        8.10.2 in that (`VREM`, `select_neighbors`)."""
        models = [name.decode() for name in self._connection.command("HKEYS", keys.models(scope_key))]
        sets = [made(scope_key, model) for model in models for made in (keys.vectors, keys.question_vectors)]
        if sets:
            self._connection.command("UNLINK", *sets)

    def complete(self, scope_key: str, token: str = "") -> bool:
        names = [keys.complete(scope_key), keys.rebuild(scope_key), keys.WANTED]
        return bool(self._connection.run([Call("complete", names, [token, scope_key, holder(self._driver.name)])])[0])

    def wanted(self, limit: int = 100) -> list[str]:
        return [name.decode() for name in self._connection.command("SPOP", keys.WANTED, limit)]

    def changed(self, limit: int = 100) -> list[tuple[str, int]]:
        scopes = [name.decode() for name in self._connection.command("SPOP", keys.CHANGED, limit)]
        counts = self._connection.run([("HLEN", keys.rows(scope)) for scope in scopes]) if scopes else []
        return list(zip(scopes, counts, strict=True))


def _of_row(scope: str, id_: str) -> tuple[list[str], list[Arg]]:
    """The keys and the first arguments of the scripts that change one row."""
    names = [keys.rows(scope), keys.generation(scope), keys.tombstone(scope, id_), keys.CHANGED, keys.models(scope)]
    names += [keys.complete(scope), keys.WANTED, keys.questions(scope)]
    names += [keys.places(scope), keys.speakers(scope)]
    prefixes = [keys.postings(scope), keys.vectors(scope, ""), keys.CHUNKS]
    return names, [id_, scope, *prefixes, keys.question_vectors(scope, ""), keys.question_postings(scope)]


def _questions(change: IndexEntry, stored: StoredVectors) -> str:
    """The registry's entry of a row's questions; empty where the change says nothing of them."""
    if change.questions is None:
        return ""
    own = [term for term in change.question_terms if term not in change.counts]
    entry = {"r": change.revision, "m": change.model, "mk": quote(change.model, safe=""), "n": len(stored.questions)}
    return _json(entry | {"t": own} | stored.entry)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
