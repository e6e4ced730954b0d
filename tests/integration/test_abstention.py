"""Twenty questions that a full store has nothing on abstain and say why; twenty that it answers do not. On the local model
and on what people really said."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.query import RecallQuery
from chalicelib.settings import EmbeddingSettings
from tests.building import caller
from tests.integration.arrangements import rebuild_all, services
from vitto_tools.bench import locomo
from vitto_tools.bench.dialogues import DATA
from vitto_tools.local import servers

TURNS, ASKED = 150, 20
HELD_OUT = 7  # one of those that the benches hold out
SINGLE_HOP = 4  # what one message says
OFF_TOPIC = (
    "What is the melting point of tungsten?",
    "How do I revert a commit in git?",
    "Which enzyme unwinds the DNA double helix?",
    "Who won the Battle of Hastings?",
    "What does the HTTP status 418 mean?",
    "How many moons does Neptune have?",
    "What is the capital gains tax rate in Belgium?",
    "Which key does Beethoven's ninth symphony end in?",
    "How is the yield of a treasury bond computed?",
    "What is the difference between TCP and UDP?",
    "Who wrote the Critique of Pure Reason?",
    "What torque do the bolts of a cylinder head take?",
    "Which glacier feeds the river Rhone?",
    "What is the torque of an induction motor?",
    "What is the half-life of caesium 137?",
    "Wie hoch ist die Zugspitze?",
    "¿Cuál es la fórmula del ácido sulfúrico?",
    "Quel est le théorème de Pythagore ?",
    "How do I configure nginx as a reverse proxy?",
    "What is the exchange rate of the Swiss franc?",
)
pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not DATA.is_dir(), reason=f"LoCoMo is not in {DATA}"),
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIEmbedder]:
    """The local model behind OpenAI's wire format."""
    port = servers.free_port()
    process = servers.start(servers.embedding(port), Path(tmp_path_factory.mktemp("embedding")) / "log")
    yield OpenAIEmbedder(
        EmbeddingSettings(
            base_url=f"http://{servers.HOST}:{port}/v1",
            passage_model="e5-passage",
            query_model="e5-query",
            passage_seconds=120,
            query_seconds=20,
        )
    )
    process.stop()


@pytest.fixture(scope="module")
def conversation() -> locomo.Conversation:
    """The beginning of one, with the questions that it answers."""
    whole = locomo.conversations()[HELD_OUT]
    turns = whole.turns[:TURNS]
    here = {turn.id for turn in turns}
    questions = [one for one in whole.questions if one.category == SINGLE_HOP and set(one.evidence) <= here]
    return replace(whole, turns=turns, questions=tuple(questions[:ASKED]))


@pytest.fixture(scope="module")
def full(
    mongo: MongoConnection, redis: RedisConnection, embedder: OpenAIEmbedder, conversation: locomo.Conversation
) -> tuple[Container, Caller]:
    """The product with all of its turns in one user's scope."""
    made = services(mongo, redis, embedder=embedder)
    who = caller(new_id("org"), "ana", Role.ADMIN)
    items: list[Mapping[str, Any]] = list(conversation.items())
    receipts = [
        receipt
        for start in range(0, TURNS, 100)
        for receipt in made.remember.remember(who, items[start : start + 100], key=None, single=False, trusted=True)
    ]
    assert {receipt["outcome"] for receipt in receipts} <= {"stored", "duplicate", "merged", "superseded"}
    made.recall.recall(who, RecallQuery(query="hello"))
    made.after_response.settle()
    rebuild_all(made)
    return made, who


def test_questions_that_it_has_nothing_on_get_no_answer_and_the_reason(full: tuple[Container, Caller]) -> None:
    made, who = full
    answers = {query: made.recall.recall(who, RecallQuery(query=query)) for query in OFF_TOPIC}
    assert {query: [hit["memory"]["content"] for hit in answer["hits"]] for query, answer in answers.items()} == {
        query: [] for query in OFF_TOPIC
    }
    assert {answer["empty"]["reason"] for answer in answers.values()} == {"nothing_similar"}


def test_questions_that_it_answers_get_hits(full: tuple[Container, Caller], conversation: locomo.Conversation) -> None:
    made, who = full
    assert len(conversation.questions) == ASKED
    silent = [
        one.text for one in conversation.questions if not made.recall.recall(who, RecallQuery(query=one.text))["hits"]
    ]
    assert silent == []
