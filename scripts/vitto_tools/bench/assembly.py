"""`scripts/bench assembly`: what the context of a turn costs, embedding left out, in a session of a thousand messages and in
one five times as long, over real stores.

The messages are LoCoMo's turns, appended, embedded and compressed as the worker does it; the user has a thousand memories
besides. Vectors of queries are known, answers are not.
"""

import gc
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from chalicelib.adapters.mongo.session_genomes import MongoSessionGenomeStore
from chalicelib.adapters.mongo.sessions import MongoSessionStore
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.session_input import AppendRequest, ContextRequest
from chalicelib.domain.vector import Vector
from chalicelib.settings import Settings
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.loading import Load, fill
from vitto_tools.bench.locomo import Turn, conversations
from vitto_tools.bench.metrics import percentile
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running
from vitto_tools.bench.timing import KnownTexts, StoreTime, TimedMongo, timed_services

ORGANIZATION = "assembly"
SIZES = (1_000, 5_000)
MEMORIES = Load("remembering", 1, 1_000)
QUERIES, WARM = 120, 20
BUDGET = 4_000
APPENDED = 50
EXPECTED = "about 2 minutes once LoCoMo is embedded, most of it appending 6,000 messages"


@dataclass
class Measured:
    """Milliseconds by turn: the whole, waiting for each store, the processor time of this process, and the recall alone."""

    whole: list[float] = field(default_factory=list)
    mongo: list[float] = field(default_factory=list)
    redis: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)


class KnownTurns(KnownTexts):
    """An embedder that has the vectors of turns, under their words, as well: a message is dated by when it was appended."""

    def __init__(self, turns: Mapping[str, Vector], queries: Mapping[str, Vector], url: str) -> None:
        super().__init__(queries, url)
        self._turns = turns

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        return [(self._turns[text.partition(": ")[2]],) for text in texts]


def run(report: Report) -> None:
    """Print and note the figures."""
    report.say(f"assembly: {EXPECTED}")
    data = conversations()
    turns = [turn for conversation in data for turn in conversation.turns]
    asked = [question.text for conversation in data[:1] for question in conversation.questions]
    queries = random.Random(1).sample(list(dict.fromkeys(asked)), QUERIES + WARM)  # noqa: S311 - a sample, no secret
    with running("assembly", worker=False) as stack:
        passages = embed(stack.embedding_url, "e5-passage", [turn.indexed_text for turn in turns])
        known = {_words(turn): one.astype("<f4").tobytes() for turn, one in zip(turns, passages, strict=True)}
        vectors = embed(stack.embedding_url, "e5-query", queries)
        asked_for = {text: one.astype("<f4").tobytes() for text, one in zip(queries, vectors, strict=True)}
        spent = StoreTime()
        services = _services(stack, KnownTurns(known, asked_for, stack.embedding_url), spent)
        texts = [turn.indexed_text for turn in turns[: MEMORIES.each]]
        fill(services, ORGANIZATION, MEMORIES, texts, passages[: MEMORIES.each], report)
        for size in SIZES:
            _converse(services, size, turns[:size], report)
        _note(report, {size: _measure(services, size, queries, spent) for size in SIZES})


def _services(stack: Stack, embedder: KnownTexts, spent: StoreTime) -> Container:
    """The services with timed stores, those of sessions included."""
    made = timed_services(stack.environment, embedder, spent)
    mongo = TimedMongo(Settings.from_environment(stack.environment), spent)
    ports = replace(made.ports, sessions=MongoSessionStore(mongo), genomes=MongoSessionGenomeStore(mongo))
    return Container(made.settings, ports, marks_later=True)


def _user() -> Caller:
    return Caller(ORGANIZATION, MEMORIES.user(0), frozenset({Role.MEMBER}))


def _words(turn: Turn) -> str:
    return turn.text or "…"


def _converse(services: Container, size: int, turns: Sequence[Turn], report: Report) -> None:
    """A session of these turns, settled as the worker does; what a run before said is not said again."""
    sessions, first = services.conversation, turns[0].speaker
    with report.progress(f"a session of {size:,}", size) as advance:
        for start in range(0, size, APPENDED):
            said = [
                {"id": f"m{start + i}", "role": "user" if turn.speaker == first else "assistant", "text": _words(turn)}
                for i, turn in enumerate(turns[start : start + APPENDED])
            ]
            request = AppendRequest.model_validate({"messages": said, "extract": "off", "totalBudget": BUDGET})
            session = sessions.sessions.append(_user(), _name(size), request).session
            sessions.settler.settle(session.key, [one["id"] for one in said])
            advance(len(said))


def _name(size: int) -> str:
    return f"of-{size}"


def _measure(services: Container, size: int, queries: Sequence[str], spent: StoreTime) -> Measured:
    measured, caller = Measured(), _user()
    for place, text in enumerate(queries):
        services.after_response.settle()
        gc.collect()
        spent.reset()
        began, cpu = time.perf_counter(), time.process_time()
        found = services.conversation.context.assemble(
            caller, _name(size), ContextRequest(query=text, total_budget=BUDGET)
        )
        took = time.perf_counter() - began
        if found.degraded or found.recall["degraded"] or found.recall["cached"]:
            raise RuntimeError(f"not what is to be measured: {found.degraded}, {found.recall['degraded']}")
        if place < WARM:
            continue
        measured.whole.append(took * 1000)
        measured.cpu.append((time.process_time() - cpu) * 1000)
        measured.mongo.append(spent.mongo * 1000)
        measured.redis.append(spent.redis * 1000)
        began = time.perf_counter()
        services.recall.recall(caller, RecallQuery(query=text, min_score=unlike_others()))
        measured.recall.append((time.perf_counter() - began) * 1000)
    return measured


def _note(report: Report, measured: dict[int, Measured]) -> None:
    rows: list[list[object]] = []
    for size, found in measured.items():
        for name, values in vars(found).items():
            label = "" if name == "whole" else f".{name}"
            report.note(f"assembly.{size}{label}.p50_ms", percentile(values, 0.5))
            rows.append([f"{size:,} messages", name, percentile(values, 0.5), percentile(values, 0.95)])
    small, large = (percentile(measured[size].whole, 0.5) for size in SIZES)
    report.note("assembly.growth", large / small)
    report.table(f"The context of a turn within {BUDGET:,} tokens", ["session", "milliseconds", "p50", "p95"], rows)
