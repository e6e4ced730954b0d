"""`scripts/bench prospective`: what prospective questions, as the heuristic writes them, do to recall on LoCoMo.

The product's own recall in this process over the in-memory twins: the same rows once with their questions and once without,
so that the questions are all that differs. The share of a question was chosen on conversations 1 to 5; 6 to 10 stand apart.
"""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from chalicelib.adapters.memory.administration import (
    InMemoryAuditLog,
    InMemoryKeyStore,
    InMemoryRecallStore,
    InMemoryReceiptStore,
)
from chalicelib.adapters.memory.backfill import InMemoryBackfillStore
from chalicelib.adapters.memory.docs import InMemoryDocsLedger, InMemoryDocsSource
from chalicelib.adapters.memory.erasures import InMemoryErasureLedger
from chalicelib.adapters.memory.identity import InMemorySoulStore, InMemoryUserGenomeStore
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.personal import InMemoryPersonalRecords, Twins
from chalicelib.adapters.memory.plugins import InMemoryPluginSwitches
from chalicelib.adapters.memory.questions import InMemoryQuestionStore
from chalicelib.adapters.memory.sessions import InMemorySessionGenomeStore, InMemorySessionStore
from chalicelib.adapters.memory.upkeep import InMemoryOldRows, NoIndexes
from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container, Ports, system_clock
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import MAX_RESULTS, RecallQuery
from chalicelib.domain.tasks import WriteQuestions, to_text
from chalicelib.settings import EmbeddingSettings, RecallSettings, Settings
from vitto_tools.bench.locomo import Conversation, conversations
from vitto_tools.bench.metrics import CATEGORIES, CUTS, OVERALL, Scores
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import cached_embedding
from vitto_tools.local import servers

ORGANIZATION = "locomo"
TUNED = 5  # conversations that the share was chosen on
BATCH = 100
DEEPEST = max(CUTS)
EXPECTED = "about 5 minutes once the embeddings are cached; the first run embeds 17,000 questions, 10 minutes more"


@dataclass
class Halves:
    """The scores of one arrangement over the conversations that were tuned on, those that were not, and all."""

    tuned: Scores
    heldout: Scores
    all: Scores


def run(report: Report, most: int = 10) -> None:
    """Fill `report` from the first `most` conversations."""
    report.say(f"prospective questions on LoCoMo: {EXPECTED}")
    data = conversations()[:most]
    halves = {name: Halves(Scores(), Scores(), Scores()) for name in ("off", "on")}
    written = 0
    with (
        _embedder() as embedder,
        report.progress("conversations", sum(len(c.turns) + len(c.questions) for c in data)) as advance,
    ):
        for number, conversation in enumerate(data):
            made, caller = _services(embedder), _caller(conversation)
            written += _fill(made, caller, conversation)
            advance(len(conversation.turns))
            _ask(made, caller, conversation, halves, tuned=number < TUNED)
            advance(len(conversation.questions))
    report.note("prospective.questions_per_memory", written / sum(len(c.turns) for c in data))
    _print(report, halves)


@contextlib.contextmanager
def _embedder() -> Iterator[OpenAIEmbedder]:
    ports = [servers.free_port() for _ in range(2)]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for server in (servers.embedding(ports[0]), cached_embedding(ports[1], ports[0])):
            stack.callback(servers.start(server, folder / f"{server.name}.log").stop)
        yield OpenAIEmbedder(
            EmbeddingSettings(
                base_url=f"http://{servers.HOST}:{ports[1]}/v1",
                passage_model="e5-passage",
                query_model="e5-query",
                passage_seconds=120,
                query_seconds=20,
            )
        )


def _services(embedder: OpenAIEmbedder) -> Container:
    store = InMemoryMemoryStore()
    twins = Twins(
        store=store,
        keys=InMemoryKeyStore(),
        receipts=InMemoryReceiptStore(),
        audit=InMemoryAuditLog(),
        recalls=InMemoryRecallStore(),
        questions=InMemoryQuestionStore(),
        sessions=InMemorySessionStore(),
        genomes=InMemorySessionGenomeStore(),
        souls=InMemorySoulStore(),
        user_genomes=InMemoryUserGenomeStore(),
        erasures=InMemoryErasureLedger(),
        docs_ledger=InMemoryDocsLedger(),
    )
    ports = Ports(
        **{field.name: getattr(twins, field.name) for field in fields(twins)},
        people=InMemoryPersonalRecords(twins),
        hot=InMemoryHotIndex(),
        cache=None,
        embedder=embedder,
        telemetry=RecordedTelemetry(),
        clock=system_clock,
        switches=InMemoryPluginSwitches(),
        backfills=InMemoryBackfillStore(store),
        old_rows=InMemoryOldRows(store),
        indexes=NoIndexes(),
        docs_source=InMemoryDocsSource(store),
    )
    return Container(Settings(recall=RecallSettings(seconds=28)), ports)


def _caller(conversation: Conversation) -> Caller:
    return Caller(ORGANIZATION, conversation.name, frozenset({Role.ADMIN}), (), (), "bench")


def _fill(made: Container, caller: Caller, conversation: Conversation) -> int:
    """Remember every turn and have its questions written; how many questions."""
    turns = conversation.turns
    items: list[Mapping[str, Any]] = list(conversation.items())
    for start in range(0, len(items), BATCH):
        some = items[start : start + BATCH]
        for receipt in made.remember.remember(caller, some, key=None, single=False, trusted=True):
            task = WriteQuestions(scope_key=caller.chain.keys[-1], id=receipt["id"], revision=1)
            made.tasks.run(to_text(task))
    assert made.ports.hot is not None
    for scope_key in caller.chain.keys:
        made.ports.hot.complete(scope_key)
    rows = made.ports.store.rows_of_scope(caller.chain.keys[-1], limit=len(turns))
    sets = made.ports.questions.of(caller.chain, [row.memory.id for row in rows])
    return sum(len(one.questions) for one in sets.values())


def _ask(
    made: Container, caller: Caller, conversation: Conversation, halves: dict[str, Halves], *, tuned: bool
) -> None:
    for name, scores in halves.items():
        recall = made.settings.recall.model_copy(update={"prospective": name == "on"})
        asked = Container(made.settings.model_copy(update={"recall": recall}), made.ports)
        for question in conversation.questions:
            query = RecallQuery(query=question.text, limit=min(DEEPEST, MAX_RESULTS))
            answer = asked.recall.recall(caller, query)
            ranking = [hit["memory"]["origin"]["messageId"] for hit in answer["hits"]]
            for some in (scores.tuned if tuned else scores.heldout, scores.all):
                some.add(question, ranking)


def _print(report: Report, halves: dict[str, Halves]) -> None:
    heads = ["", *(f"recall@{cut}" for cut in CUTS), "MRR", *(f"{name} @10" for name in CATEGORIES.values())]
    parts = [("all", "conversations"), ("tuned", "conversations 1 to 5"), ("heldout", "conversations 6 to 10")]
    for part, title in parts:
        named: Sequence[tuple[str, Scores]] = [(name, getattr(one, part)) for name, one in halves.items()]
        if not named[0][1].reciprocal:
            continue
        rows = [
            [
                name,
                *(s.recall(cut, OVERALL) for cut in CUTS),
                s.mrr(OVERALL),
                *(s.recall(10, [category]) for category in CATEGORIES),
            ]
            for name, s in named
        ]
        report.table(f"LoCoMo, {title}, categories 1–4 overall, percent", heads, rows)
        for name, s in named:
            prefix = f"prospective.{name}" if part == "all" else f"prospective.{part}.{name}"
            report.note(f"{prefix}.recall_at_10", s.recall(10, OVERALL))
        changes = [named[1][1].recall(10, [c]) - named[0][1].recall(10, [c]) for c in CATEGORIES]
        prefix = "prospective" if part == "all" else f"prospective.{part}"
        report.note(f"{prefix}.worst_category_change", min(changes))
