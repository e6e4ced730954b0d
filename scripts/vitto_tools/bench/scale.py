"""`scripts/bench scale`: what a recall costs, and a memory weighs, where very many users share the stores.

The same questions by the same kind of user, who has 500 memories: among 20 users, and among all, each over stores of their
own, in turn. The rows are LoCoMo's
turns over and over, with made vectors: what is measured is size, not meaning. Loading is the long part; a run that was
killed goes on, and a second one finds everything there.
"""

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from bson import encode
from numpy.typing import NDArray
from pymongo import IndexModel, WriteConcern

from chalicelib.adapters.mongo.documents import row_id, to_document
from chalicelib.adapters.mongo.indexes import INDEXES, MEMORIES
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container, mongo_connection
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import key
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.vector import Vector
from chalicelib.settings import Settings
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.loading import Load, made_rows
from vitto_tools.bench.locomo import conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running
from vitto_tools.bench.timing import KnownTexts, StoreTime, timed_services

ORGANIZATION = "scale"
EACH = 500
FEW = 20
QUERIES = 200
ROUNDS = 3
LIMIT = 10
SIZE = 256
KEPT_INDEXES = ("one_live_row_per_content", "related", "pending")
"""Those that a recall with Redis and the promise of one row a content need. The embedded server takes 5 ms a row for all of
them, more than an hour a million rows; MongoDB has them all."""


def run(report: Report, memories: int) -> None:
    """Print and note the figures of so many memories, and of 10,000."""
    load = Load("scale", max(FEW, memories // EACH), EACH)
    texts = [turn.indexed_text for conversation in conversations() for turn in conversation.turns]
    questions = [question.text for conversation in conversations() for question in conversation.questions]
    asked = random.Random(1).sample(list(dict.fromkeys(questions)), QUERIES)  # noqa: S311 - a sample, no secret
    vectors, of_questions = _made(len(texts), 1), _made(QUERIES, 2)
    known = {text: v.tobytes() for text, v in zip(asked, of_questions, strict=True)}
    few = Load(load.name, FEW, EACH)
    stacks = (running(name, worker=False, make_indexes=_make_few_indexes) for name in ("small", "scale"))
    with next(stacks) as small, next(stacks) as large:
        for stack, users in ((small, few), (large, load)):
            _fill(report, stack, users, texts, vectors)
        _measure(report, {"10k": (small, few), "all": (large, load)}, known)
        of_redis = _redis_bytes(large) / (load.users * EACH)
        _weigh(report, of_redis, made_rows(_scope(load, 0), range(EACH), texts, vectors))
    report.note("scale.memories", load.users * EACH)
    report.note("scale.growth", report.figures["scale.all.p50_ms"] / report.figures["scale.10k.p50_ms"])


def _made(count: int, seed: int) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=(count, SIZE)).astype("<f4")
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), "<f4")


def _scope(load: Load, user: int) -> ScopeRef:
    return ScopeRef(ORGANIZATION, Scope.USER, load.user(user))


def _make_few_indexes(settings: Settings) -> None:
    connection = mongo_connection(settings)
    rows = connection.database.get_collection(MEMORIES)
    rows.create_indexes(
        [
            IndexModel(list(index.fields), name=index.name, **index.options)
            for index in INDEXES
            if index.collection == MEMORIES and index.name in KEPT_INDEXES
        ]
    )
    connection.client.close()


def _fill(report: Report, stack: Stack, load: Load, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Load the users that are not there yet: into Redis through the indexer, then into MongoDB beside the next one."""
    database = mongo_connection(Settings.from_environment(stack.environment)).database
    services = stack.services
    assert services.ports.hot is not None
    rows = database.get_collection(MEMORIES, write_concern=WriteConcern(w=1))
    stored: Future[Any] | None = None
    with ThreadPoolExecutor(1) as pool, report.progress(f"loading {load.users * EACH:,}", load.users * EACH) as advance:
        for user in range(load.users):
            places = range(user * EACH, (user + 1) * EACH)
            scope = _scope(load, user)
            made = made_rows(scope, places[-1:], texts, vectors)
            if rows.find_one({"_id": row_id(ORGANIZATION, made[0].memory.id)}, {"_id": 1}) is None:
                batch = made_rows(scope, places, texts, vectors)
                services.ports.hot.apply([services.indexer.change(row) for row in batch])
                services.ports.hot.complete(scope.key)
                if stored:
                    stored.result()
                stored = pool.submit(_store, rows, batch)
            advance(EACH)
        if stored:
            stored.result()
    services.ports.hot.complete(key(ORGANIZATION, Scope.ORGANIZATION.value, ORGANIZATION))


def _store(rows: Any, batch: Sequence[StoredMemory]) -> None:
    """The rows, the last of them last: where it is there, all are. What a killed run left is taken first."""
    ids = [row_id(ORGANIZATION, row.memory.id) for row in batch]
    rows.delete_many({"_id": {"$in": ids}})
    rows.insert_many([to_document(row) for row in batch], ordered=True)


def _measure(report: Report, stacks: Mapping[str, tuple[Stack, Load]], known: Mapping[str, Vector]) -> None:
    """Recalls of both in turn, so that both see the same machine; the first round is for what is made at first use."""
    services = {
        name: timed_services(stack.environment, KnownTexts(known, stack.embedding_url), StoreTime())
        for name, (stack, _) in stacks.items()
    }
    took: dict[str, list[float]] = {}
    for number in range(ROUNDS + 1):
        for name, (_, load) in stacks.items():
            times = list(_recalls(services[name], load, number, known))
            took.setdefault(name, []).extend(times if number else [])
    rows = []
    for name, (_, load) in stacks.items():
        p50, p95 = percentile(took[name], 0.5), percentile(took[name], 0.95)
        report.note(f"scale.{name}.p50_ms", p50)
        report.note(f"scale.{name}.p95_ms", p95)
        rows.append([f"{load.users:,}", f"{load.users * EACH:,}", p50, p95])
    report.table("recalls of random users", ["users", "memories", "p50 ms", "p95 ms"], rows)


def _recalls(services: Container, load: Load, seed: int, known: Mapping[str, Vector]) -> Iterator[float]:
    """Milliseconds of a recall by a user at random, a question each."""
    chosen, score = random.Random(seed), unlike_others()  # noqa: S311 - a sample, no secret
    for text in known:
        reader = Caller(ORGANIZATION, load.user(chosen.randrange(load.users)), frozenset({Role.MEMBER}))
        query = RecallQuery(query=text, limit=LIMIT, min_score=score, route="standard")
        began = time.perf_counter()
        answer = services.recall.recall(reader, query)
        yield (time.perf_counter() - began) * 1000
        if answer["cached"] or answer["degraded"]:
            raise RuntimeError(f"not what is to be measured: cached={answer['cached']}, {answer['degraded']}")


def _redis_bytes(stack: Stack) -> float:
    said = RedisConnection(Settings.from_environment(stack.environment).redis).command("INFO", "memory")
    values = (
        said
        if isinstance(said, dict)
        else dict(line.split(":", 1) for line in said.decode().splitlines() if ":" in line)
    )
    return float(values["used_memory"])


def _weigh(report: Report, of_redis: float, batch: Sequence[StoredMemory]) -> None:
    """Bytes a memory: of Redis by all that it holds, of MongoDB by its documents as they are sent."""
    documents = [to_document(row) for row in batch]
    of_mongo = sum(len(encode(document)) for document in documents) / len(documents)
    report.note("scale.redis_bytes_per_memory", of_redis)
    report.note("scale.mongo_bytes_per_memory", of_mongo)
    rows = [["Redis", of_redis], ["MongoDB, before compression and indexes", of_mongo]]
    report.table("bytes a memory", ["store", "bytes"], rows)
