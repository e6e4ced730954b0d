"""`scripts/bench sizes`: what a memory and a recall leave in MongoDB and Redis, the tokens that are embedded, and the time.

Sizes depend on texts and dimensions, not on what vectors say, so vectors are of the deterministic embedder, whose time is
left out.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

import bpe_openai
import bson
from pymongo.database import Database

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.indexes import QUESTIONS
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container, build_ports, mongo_connection
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.vector import Vector
from chalicelib.settings import Settings
from vitto_tools.bench.locomo import Conversation, conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running

MEMORIES, RECALLS, BATCH = 400, 100, 25
WARM = "what is there to be found here?"
TOKENIZER = "cl100k_base"  # of text-embedding-3-small
EXPECTED = "about 2 minutes"
Mongo = Database[dict[str, Any]]


class TimedEmbedder(TermEmbedder):
    """The deterministic embedder, and the seconds that it took, which are no part of any figure."""

    seconds = 0.0

    def embed_query(self, text: str) -> Vector:
        began = time.perf_counter()
        try:
            return super().embed_query(text)
        finally:
            self.seconds += time.perf_counter() - began


@dataclass(frozen=True)
class Measured:
    """The services that are measured, and a clock that stands still while they embed."""

    services: Container
    embedder: TimedEmbedder

    def milliseconds(self) -> float:
        """The time without embedding."""
        return 1000 * (time.perf_counter() - self.embedder.seconds)


def run(report: Report) -> None:
    """Print and note the figures."""
    report.say(f"sizes: {EXPECTED}")
    with running("sizes", worker=False) as stack:
        settings = Settings.from_environment(stack.environment)
        embedder = TimedEmbedder()
        services = Container(settings, build_ports(settings, embedder=embedder))
        _measure(stack, Measured(services, embedder), conversations(), report)


def _measure(stack: Stack, made: Measured, data: Sequence[Conversation], report: Report) -> None:
    settings = Settings.from_environment(stack.environment)
    mongo, redis = mongo_connection(settings).database, RedisConnection(settings.redis)
    caller = Caller(new_id("org"), "bench", frozenset({Role.ADMIN}), (), (), "bench")
    turns = [turn.indexed_text for one in data for turn in one.turns][:MEMORIES]
    before = _taken(mongo, redis)
    remembered = _remember(made, caller, turns, report)
    asked = _questions(made, report)
    after = _taken(mongo, redis)
    report.note("sizes.memory.mongo_bytes", (after[0] - before[0]) / MEMORIES)
    report.note("sizes.memory.redis_bytes", (after[1] - before[1]) / MEMORIES)
    report.note("sizes.memory.remember_ms", remembered)
    report.note("sizes.memory.questions_ms", asked)
    queries = [question.text for one in data for question in one.questions][:RECALLS]
    report.note("sizes.recall.ms", _recall(made, caller, queries))
    made.services.recall_audit.drain()
    report.note("sizes.recall.mongo_bytes", (_taken(mongo, redis)[0] - after[0]) / RECALLS)
    _tokens(mongo, caller.org_id, turns, queries, report)


def _taken(mongo: Mongo, redis: RedisConnection) -> tuple[int, int]:
    """Bytes of all documents, as BSON before compression, and of Redis."""
    names = mongo.list_collection_names()
    documents = sum(len(bson.encode(document)) for name in names for document in mongo[name].find())
    (info,) = redis.run([("INFO", "memory")])
    said = info if isinstance(info, dict) else _read(info)
    return documents, int(said["used_memory"])


def _read(info: str | bytes) -> dict[str, str]:
    text = info.decode() if isinstance(info, bytes) else info
    return dict(line.split(":", 1) for line in text.splitlines() if ":" in line)


def _remember(made: Measured, caller: Caller, turns: Sequence[str], report: Report) -> float:
    """Milliseconds a memory, in batches; none is turned away."""
    began = made.milliseconds()
    with report.progress("remember", len(turns)) as advance:
        for some in batched(turns, BATCH, strict=False):
            items: list[Mapping[str, Any]] = [{"content": text, "type": "observation"} for text in some]
            made.services.remember.remember(caller, items, key=None, single=False, trusted=True)
            advance(len(some))
    return (made.milliseconds() - began) / len(turns)


def _questions(made: Measured, report: Report) -> float:
    """Milliseconds a memory for what the queue does of it."""
    made.services.after_response.settle()
    queue = made.services.ports.queue
    assert queue is not None
    began = made.milliseconds()
    with report.progress("messages of the queue", queue.probe()["waiting"]) as advance:
        while drained := made.services.consumer.drain(BATCH).done:
            advance(drained)
    return (made.milliseconds() - began) / MEMORIES


def _recall(made: Measured, caller: Caller, queries: Sequence[str]) -> float:
    made.services.recall.recall(caller, RecallQuery(query=WARM))
    made.services.maintenance.rebuild_wanted()  # what the worker does once a search found that it is wanted
    taken: list[float] = []
    for query in queries:
        began = made.milliseconds()
        made.services.recall.recall(caller, RecallQuery(query=query))
        taken.append(made.milliseconds() - began)
    return percentile(taken, 0.5)


def _tokens(mongo: Mongo, org: str, turns: Sequence[str], queries: Sequence[str], report: Report) -> None:
    encoding = bpe_openai.get_encoding(TOKENIZER)

    def count(text: str) -> int:
        return len(encoding.encode(text))

    questions = [one["text"] for row in mongo[QUESTIONS].find({"orgId": org}) for one in row["questions"]]
    report.note("sizes.memory.tokens", sum(map(count, turns)) / len(turns))
    report.note("sizes.memory.questions", len(questions) / len(turns))
    report.note("sizes.memory.question_tokens", sum(map(count, questions)) / len(turns))
    report.note("sizes.recall.tokens", sum(map(count, queries)) / len(queries))
