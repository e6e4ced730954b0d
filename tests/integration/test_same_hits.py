"""The same recall, wherever the index lives: on Vector Sets, in the search module, as text on a plain Valkey, or nowhere."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.bootstrap import Container
from chalicelib.domain.calibration import Calibration
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import IndexAnswer, IndexQuery, RecallQuery
from chalicelib.domain.scope import Chain, Scope
from chalicelib.domain.vector import Vector
from tests.building import TestClock, caller, container
from tests.conftest import SEARCH_MODULE
from tests.integration.arrangements import contents, rebuild_all, remember, services, skipped, uncached

WITH_VECTORS = ("redis", *SEARCH_MODULE)
SCORE_ERROR = 0.03  # vector sets keep 8 bits a value
EARLY, LATE = "2026-01-05T08:00:00Z", "2026-02-20T08:00:00Z"
SYNONYM, MEANT = "wharf", "quay"


class Synonyms(TermEmbedder):
    """A model that knows one word by another name, so that a query can mean what it does not say."""

    def embed_query(self, text: str) -> Vector:
        """The vector of what is meant."""
        return super().embed_query(text.replace(SYNONYM, MEANT))

    def similarity(self, cosine: float) -> float:
        """One word of ten in common is surely related, and what has none never comes near that."""
        return Calibration(middle=0.2, width=0.02, chunk_characters=800).similarity(cosine)


@pytest.fixture(params=[*WITH_VECTORS, "valkey", "no redis"])
def arrangement(request: pytest.FixtureRequest) -> str:
    """Where the index lives."""
    return str(request.param)


@pytest.fixture
def made(request: pytest.FixtureRequest, mongo: MongoConnection, arrangement: str) -> Container:
    """The product over it."""
    redis = None if arrangement == "no redis" else request.getfixturevalue(arrangement)
    return uncached(services(mongo, redis, embedder=Synonyms(), clock=TestClock()))


class TextTwin(InMemoryHotIndex):
    """The twin of an index on a server without vectors."""

    def search(self, chain: Chain, query: IndexQuery) -> IndexAnswer:
        return super().search(chain, replace(query, vector=None))


@pytest.fixture
def exact() -> Container:
    """The product over its twins, whose answers are the right ones."""
    return uncached(container(embedder=Synonyms()))


@pytest.fixture
def exact_by_text() -> Container:
    """The same, where the index holds no vectors."""
    return uncached(container(embedder=Synonyms(), hot=TextTwin()))


def ana(org: str) -> Caller:
    """The reader."""
    return caller(org, "ana", spaces=("red",))


PLANS = (
    ("The harbour crane was repaired", {"type": "event", "eventTime": EARLY}),
    ("The harbour master wants a second crane by the east quay", {"type": "decision", "tags": ["budget", "crane"]}),
    ("Harbour lights are green on starboard", {"type": "fact", "tags": ["light"]}),
    (
        "We never unload at the harbour after dark",
        {"type": "constraint", "eventTime": LATE, "tags": ["light", "night"]},
    ),
    ("The harbour office opens at seven", {"type": "fact", "eventTime": EARLY}),
    ("A long night in the harbour, with a storm, two tugs and a broken crane on the quay", {"type": "event"}),
)
TEAM = (
    ("The team pays the harbour fee in March", {"type": "task", "tags": ["budget"], "eventTime": LATE}),
    ("The harbour crane belongs to the team", {"type": "fact", "tags": ["crane"]}),
)


def tell(made: Container, org: str) -> None:
    """What ana and her team know, and as much that is none of hers and nearer to every question."""
    for text, fields in PLANS:
        remember(made, ana(org), text, **fields)
    for text, fields in TEAM:
        remember(made, ana(org), text, scope="space", scopeId="red", **fields)
    bob = caller(org, "bob", spaces=("blue",))
    foreign = [text for _, query in CASES for text in (query.query, f"{query.query} Crane budget, harbour light")]
    fields = {"tags": ["budget", "crane", "light", "night"], "eventTime": LATE}
    for stranger in (bob, caller(org + "x", "ana", spaces=("red",))):
        remember(made, stranger, *foreign, **fields)
    remember(made, bob, *foreign, scope="space", scopeId="blue", **fields)


def asked(text: str, **fields: Any) -> RecallQuery:
    """A question."""
    return RecallQuery(query=text, **fields)


CASES: tuple[tuple[str, RecallQuery], ...] = (
    ("plain", asked("What of the harbour crane?")),
    ("one word", asked("harbour")),
    ("by type", asked("What happened to the harbour crane?", types=(MemoryType.EVENT, MemoryType.DECISION))),
    ("by tag", asked("What does the harbour cost?", tags=("budget",))),
    ("by two tags", asked("What of the harbour after dark?", tags=("night", "light"))),
    ("since", asked("What is new in the harbour?", since="2026-02-01T00:00:00Z")),
    ("before", asked("What was old in the harbour?", before=EARLY.replace("08:00", "08:01"))),
    ("one scope", asked("Whose is the harbour crane?", scopes=(Scope.SPACE,))),
    (
        "all of it",
        asked("harbour crane of the team", scopes=(Scope.USER, Scope.SPACE), types=(MemoryType.FACT,), limit=2),
    ),
)


def settled(made: Container, org: str) -> None:
    """Tell it all, and let the worker complete the index."""
    tell(made, org)
    made.recall.recall(ana(org), CASES[0][1])
    rebuild_all(made)


def scored(answer: dict[str, Any]) -> list[Any]:
    """The hits in order with their scores, as near as every arrangement has to get them."""
    return [(hit["memory"]["content"], pytest.approx(hit["score"], abs=SCORE_ERROR)) for hit in answer["hits"]]


def test_every_arrangement_gives_the_same_hits(made: Container, exact: Container, org: str) -> None:
    settled(made, org)
    settled(exact, org)
    for name, query in CASES:
        everything = query.model_copy(update={"limit": 100})
        answer, expected = (contents(each.recall.recall(ana(org), everything)) for each in (made, exact))
        assert expected, name
        assert sorted(answer) == sorted(expected), name


def test_every_arrangement_gives_them_in_the_same_order_with_the_same_scores_but_by_words_alone_without_vectors(
    made: Container, exact: Container, exact_by_text: Container, arrangement: str, org: str
) -> None:
    right = exact_by_text if arrangement == "valkey" else exact
    settled(made, org)
    settled(right, org)
    for name, query in CASES:
        answer, expected = (each.recall.recall(ana(org), query) for each in (made, right))
        assert [(hit["memory"]["content"], hit["score"]) for hit in answer["hits"]] == scored(expected), name


def test_no_arrangement_gives_what_is_foreign(made: Container, org: str) -> None:
    settled(made, org)
    mine = {text for text, _ in (*PLANS, *TEAM)}
    for name, query in CASES:
        everything = query.model_copy(update={"limit": 100})
        assert set(contents(made.recall.recall(ana(org), everything))) <= mine, name


def test_what_shares_no_word_is_found_by_meaning_where_there_are_vectors_and_missed_aloud_elsewhere(
    made: Container, arrangement: str, org: str
) -> None:
    settled(made, org)
    answer = made.recall.recall(ana(org), asked(f"{SYNONYM}?"))
    meant = {text for text, _ in PLANS if MEANT in text}
    assert set(contents(answer)) == (meant if arrangement in WITH_VECTORS else set())
    assert ("redis_vectors" in skipped(answer)) == (arrangement not in WITH_VECTORS)
