"""`scripts/bench latency`: what a recall costs beside the bare store calls it needs, on the same data in the same run."""

import gc
import random
import time
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import requests
from numpy.typing import NDArray

from chalicelib.adapters.mongo.documents import row_id
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.redis import keys
from chalicelib.bootstrap import Container, mongo_connection
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import EXACT_ROWS, RecallQuery
from chalicelib.domain.text.terms import query_words
from chalicelib.domain.vector import Vector
from chalicelib.recall.ranking import SPARE_ROWS
from chalicelib.settings import RecallSettings, Settings
from vitto_tools.bench import rebuilt, throughput
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.loading import MODEL, Load, fill
from vitto_tools.bench.locomo import conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running
from vitto_tools.bench.timing import KnownTexts, StoreTime, timed_services

ORGANIZATION = "latency"
QUERIES = 200
LIMIT = 20
CANDIDATES = RecallSettings().candidates
BLOCK = 20
FETCHED = LIMIT + SPARE_ROWS
EXPECTED = "about 20 minutes, most of it loading 160,000 memories; a second run finds them there"


class Part(StrEnum):
    """A load by its name, many clients at once over the small one, or both one-user loads with their index built anew."""

    SMALL = "10k"
    USERS = "100x500"
    LARGE = "100k"
    CLIENTS = "clients"
    REBUILT = "rebuilt"


SMALL, LARGE = Load(Part.SMALL, 1, 10_000), Load(Part.LARGE, 1, 100_000)
LOADS = (SMALL, Load(Part.USERS, 100, 500), LARGE)


def run(report: Report, parts: Collection[Part] = tuple(Part)) -> None:
    """Print and note the figures of `parts`."""
    report.say(f"latency: {EXPECTED}")
    with running("latency", worker=False) as stack:
        texts, passages, questions, queries = _data(stack)
        vectors = {q: v.astype("<f4").tobytes() for q, v in zip(questions, queries, strict=True)}
        services = stack.services
        for load in LOADS:
            if Part(load.name) in parts:
                fill(services, ORGANIZATION, load, texts, passages, report)
                measured = _measure(stack, load, vectors)
                measured["cached over HTTP"] = _over_http(stack, load, questions)
                _print(report, load, measured)
        if Part.CLIENTS in parts:
            fill(services, ORGANIZATION, SMALL, texts, passages, report)
            throughput.measure(report, stack, stack.key(ORGANIZATION), SMALL.user(0), questions)
        of_one_user = [load for load in (SMALL, LARGE) if Part(load.name) in parts] or [SMALL, LARGE]
        for load in of_one_user if Part.REBUILT in parts else ():
            fill(services, ORGANIZATION, load, texts, passages, report)
            rebuilt.measure(report, _knowing(stack, vectors), _reader(load, 0), load.name, load.each, questions)
    _compare(report)


def _data(stack: Stack) -> tuple[list[str], NDArray[np.float32], list[str], NDArray[np.float32]]:
    data = conversations()
    texts = [turn.indexed_text for conversation in data for turn in conversation.turns]
    questions = list(dict.fromkeys(q.text for conversation in data for q in conversation.questions))
    questions = random.Random(1).sample(questions, QUERIES)  # noqa: S311 - a sample, no secret
    passages = embed(stack.embedding_url, "e5-passage", texts)
    return texts, passages, questions, embed(stack.embedding_url, "e5-query", questions)


def _measure(stack: Stack, load: Load, vectors: dict[str, Vector]) -> dict[str, list[float]]:
    """Milliseconds by what was measured, a value a query; recalls and floor alternate by blocks, so that both see the same
    machine."""
    spent = StoreTime()
    services = _knowing(stack, vectors, spent)
    floor = Floor(stack, load)
    measured: dict[str, list[float]] = {name: [] for name in ("uncached", "overhead", "floor", "cached")}
    score = unlike_others()
    asked = [(_reader(load, i), text) for i, text in enumerate(vectors)]
    for reader, text in asked:  # parts of questions are embedded beforehand
        services.recall.recall(reader, RecallQuery(query=text, limit=LIMIT, min_score=unlike_others()))
    gc.freeze()  # the texts and vectors of this bench are no garbage that a recall should look through
    for start in range(0, len(asked), BLOCK):
        block = asked[start : start + BLOCK]
        found = []
        for reader, text in block:
            spent.reset()
            query = RecallQuery(query=text, limit=LIMIT, min_score=score)
            took, answer = _timed_recall(services, reader, query, cached=False)
            measured["uncached"].append(took * 1000)
            measured["overhead"].append((took - spent.seconds) * 1000)
            found.append([hit["memory"]["id"] for hit in answer["hits"]])
        for reader, text in block:
            took, _ = _timed_recall(
                services, reader, RecallQuery(query=text, limit=LIMIT, min_score=score), cached=True
            )
            measured["cached"].append(took * 1000)
        for (reader, text), ids in zip(block, found, strict=True):
            measured["floor"].append(floor.seconds(reader, text, vectors[text], ids) * 1000)
    return measured


def _knowing(stack: Stack, vectors: dict[str, Vector], spent: StoreTime | None = None) -> Container:
    return timed_services(stack.environment, KnownTexts(vectors, stack.embedding_url), spent or StoreTime())


def _reader(load: Load, number: int) -> Caller:
    return Caller(ORGANIZATION, load.user(number), frozenset({Role.MEMBER}))


def _timed_recall(
    services: Container, reader: Caller, query: RecallQuery, *, cached: bool
) -> tuple[float, dict[str, Any]]:
    began = time.perf_counter()
    answer = services.recall.recall(reader, query)
    took = time.perf_counter() - began
    _check(answer, cached=cached)
    return took, answer


def _check(answer: dict[str, Any], *, cached: bool) -> None:
    if answer["cached"] is not cached or answer["degraded"]:
        raise RuntimeError(f"not what is to be measured: cached={answer['cached']}, degraded={answer['degraded']}")


class Floor:
    """The bare calls that a recall needs: VSIM and the postings' union of each scope in one pipeline, then find by ids."""

    def __init__(self, stack: Stack, load: Load) -> None:
        self._exactly = ("TRUTH",) if load.each <= EXACT_ROWS else ()
        settings = Settings.from_environment(stack.environment)
        import redis  # noqa: PLC0415 - beside the product's own connection, bare

        self._redis = redis.Redis.from_url(settings.redis.url, protocol=2)
        self._rows = mongo_connection(settings).database.get_collection(MEMORIES)

    def seconds(self, reader: Caller, question: str, vector: Vector, ids: Sequence[str]) -> float:
        """The time of those calls for one query."""
        terms = [term for word in query_words(question) for term in word]
        found = [row_id(ORGANIZATION, id_) for id_ in ids]
        filler = [row_id(ORGANIZATION, f"{id_}0") for id_ in ids[: FETCHED - len(ids)]]
        pipeline = self._redis.pipeline(transaction=False)
        for scope in reader.chain.keys:
            near = ("VSIM", keys.vectors(scope, MODEL), "FP32", vector, "WITHSCORES", "COUNT", CANDIDATES)
            pipeline.execute_command(*near, *self._exactly)  # type: ignore[no-untyped-call]
            postings = [keys.postings(scope) + term for term in terms]
            pipeline.zunionstore("floor", postings)
            pipeline.zrange("floor", 0, CANDIDATES - 1, desc=True, withscores=True)
        began = time.perf_counter()
        pipeline.execute()
        list(self._rows.find({"_id": {"$in": found + filler}}, {"embedding_256": 0, "embeddingChunks": 0}))
        return time.perf_counter() - began


def _over_http(stack: Stack, load: Load, questions: Sequence[str]) -> list[float]:
    """Milliseconds of recalls that are answered from the cache, as a client of the API sees them."""
    session = requests.Session()
    session.headers.update({"Authorization": f"Bearer {stack.key(ORGANIZATION)}", "Vitto-User": load.user(0)})
    took = []
    for question in questions[: QUERIES // 4]:
        for attempt in range(3):
            began = time.perf_counter()
            reply = session.post(
                f"{stack.url}/engine/memories/recall", json={"query": question, "limit": LIMIT}, timeout=30
            )
            if attempt and reply.json()["cached"]:
                took.append((time.perf_counter() - began) * 1000)
    return took


def _print(report: Report, load: Load, measured: dict[str, list[float]]) -> None:
    heads = ["milliseconds", "p50", "p95", "times the floor"]
    base = percentile(measured["floor"], 0.5)
    rows = []
    for name, values in measured.items():
        p50 = percentile(values, 0.5)
        rows.append([name, p50, percentile(values, 0.95), p50 / base])
        prefix = "floor" if name == "floor" else f"recall.{name.replace(' over HTTP', '.http')}"
        suffix = "" if load is SMALL else f".{load.name}"
        report.note(f"{prefix}{suffix}.p50_ms", p50)
    report.note(
        f"recall.over_floor{'' if load is SMALL else '.' + load.name}",
        percentile(measured["uncached"], 0.5) / base,
    )
    report.table(f"{load.users} user(s) with {load.each:,} memories each, {LIMIT} hits", heads, rows)


def _compare(report: Report) -> None:
    """Note how a recall grows from the small scope to the large one, where both were measured."""
    names = {SMALL: "recall.uncached.p50_ms", LARGE: f"recall.uncached.{LARGE.name}.p50_ms"}
    found = {load: report.figures[name] for load, name in names.items() if name in report.figures}
    for load, value in found.items():
        report.note(f"latency.{load.name}.p50_ms", value)
    if len(found) == len(names):
        report.note("latency.growth", found[LARGE] / found[SMALL])
