"""What the benches count, and what they send to be embedded: figures that others are held to must themselves hold."""

import base64
import json
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chalicelib.bootstrap import Container
from chalicelib.domain.memory import MAX_CONTENT_BYTES, ArchivedReason, Status
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.settings import RecallSettings
from tests.building import caller, container, row
from vitto_tools.bench import ahead, beam, gains, ingredients, loading
from vitto_tools.bench.client import Written
from vitto_tools.bench.dialogues import Question
from vitto_tools.bench.embedding_cache import EmbeddingCache
from vitto_tools.bench.metrics import Scores, Shown
from vitto_tools.bench.report import Report

NOW = datetime(2024, 3, 15, tzinfo=UTC)


def update(*, original: str = "a", updated: str = "b") -> Question:
    """A question about something that was updated."""
    both = frozenset({original, updated})
    return Question("?", beam.UPDATE, both, frozenset({original}), frozenset({updated}))


@pytest.mark.parametrize(
    ("ranking", "above"),
    [(["x", "b", "a"], 100.0), (["b"], 100.0), (["a", "b"], 0.0), (["a"], 0.0), (["x"], 0.0), ([], 0.0)],
)
def test_an_update_counts_only_where_it_shows_before_every_original(ranking: list[str], above: float) -> None:
    scores = Scores()
    scores.add(update(), ranking)
    assert scores.updated_above_original == above


def test_an_update_in_the_same_hit_as_its_original_is_not_above_it() -> None:
    scores = Scores()
    both = frozenset({"a", "b"})
    scores.add_shown(update(), [Shown(both, both)])
    assert scores.updated_above_original == 0.0


def test_an_update_that_took_the_place_of_its_originals_words_is_above_it() -> None:
    written = Written()
    written.count("stored", "row", "a")
    written.count("updated", "row", "b")
    scores = Scores()
    scores.add_shown(update(), [written.shown({"id": "row"})])
    assert scores.updated_above_original == 100.0
    assert scores.recall(10, [beam.UPDATE]) == 100.0


def test_recall_counts_ranks_by_hits_and_not_by_the_messages_in_them() -> None:
    scores = Scores()
    many = frozenset(str(i) for i in range(30))
    scores.add_shown(Question("?", 1, frozenset({"z"})), [Shown(many, many), Shown.of("z")])
    assert (scores.recall(5, [1]), scores.mrr([1])) == (100.0, 50.0)


def test_what_was_learned_from_messages_stands_for_its_evidence() -> None:
    links = [{"kind": "evidence", "target": "12"}, {"kind": "relates", "target": "13"}]
    assert Written().shown({"id": "learned", "links": links}) == Shown.of("12")


def test_a_message_is_superseded_where_no_row_that_has_it_is_live() -> None:
    old = row("Ana lives in Porto", status=Status.ARCHIVED, archived_reason=ArchivedReason.SUPERSEDED)
    other, live = row("Ben likes tea", status=Status.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN), row("Ana")
    written = Written()
    for message, one in (("1", old), ("2", old), ("2", live), ("3", live), ("4", other)):
        written.count("stored", one.memory.id, message)
    assert written.superseded([old, other, live]) == {"1"}


def chat(text: str) -> beam.Chat:
    """A chat of one message."""
    return beam.Chat("chat", (beam.Message("7", "user", text, 1, NOW),), ())


@pytest.mark.parametrize("letter", ["a", "я", "漢", "😀"])
def test_a_message_longer_than_a_memory_comes_in_parts_that_fit_and_name_it(letter: str) -> None:
    items = list(chat(f"{letter * 9} " * 4000).items())
    assert len(items) > 1
    assert {item["origin"]["messageId"] for item in items} == {"7"}
    assert all(len(item["content"].encode()) <= MAX_CONTENT_BYTES for item in items)
    assert len({item["eventTime"] for item in items}) == len(items)
    assert len(ahead.memories(chat(f"{letter * 9} " * 4000))) == len(items)


def test_what_is_embedded_ahead_is_cleaned_dated_and_split_as_the_product_does() -> None:
    made = chat("Café at nine. " * 100)
    asked = ahead.of_messages(made, ahead.memories(made))
    assert len(asked) > 1
    assert asked[0][1].startswith("(15 March 2024) user: Café at nine.")
    assert all(model == ahead.PASSAGES for model, _ in asked)


def test_questions_are_embedded_ahead_whole_and_without_the_names_of_speakers() -> None:
    message = beam.Message("7", "Caroline", "I paint lakes", 1, NOW)
    asked = [Question(text, "temporal", frozenset()) for text in ("What does Caroline paint?", "Who paints?")]
    made = beam.Chat("chat", (message,), tuple(asked))
    queries = [text for model, text in ahead.of_messages(made, ahead.memories(made)) if model == ahead.QUERIES]
    assert queries == ["What does Caroline paint?", "Who paints?", "What does paint?"]


def test_a_load_that_was_killed_goes_on_and_holds_every_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    services, load, texts = container(), loading.Load("small", 2, 5), ["one", "two", "three"]
    vectors = np.eye(3, 256, dtype=np.float32)
    monkeypatch.setattr(loading, "BATCH", 2)
    put, limit = loading._put, 4
    done: list[Sequence[int]] = []

    def counted(services: Container, scope: ScopeRef, places: Sequence[int], *what: Any) -> None:
        if len(done) == limit:
            raise KeyboardInterrupt
        put(services, scope, places, *what)
        done.append(places)

    monkeypatch.setattr(loading, "_put", counted)
    with pytest.raises(KeyboardInterrupt):
        loading.fill(services, "org", load, texts, vectors, Report())
    limit = 100
    loading.fill(services, "org", load, texts, vectors, Report())
    assert sorted(place for places in done for place in places) == list(range(10))
    for user in range(2):
        scope = ScopeRef("org", Scope.USER, load.user(user))
        assert len(services.ports.store.rows_of_scope(scope.key)) == 5
        assert services.ports.store.statistics(Chain("org", (scope,))).rows == 5
    answer = services.recall.recall(caller("org", load.user(1)), RecallQuery(query="three"))
    assert {hit["memory"]["scopeId"] for hit in answer["hits"]} == {"small-1"}
    assert services.ports.hot is not None
    services.ports.hot.begin_rebuild(scope.key)  # a run that is killed while it builds the index anew
    loading.fill(services, "org", load, texts, vectors, Report())
    again = services.recall.recall(caller("org", load.user(1)), RecallQuery(query="three", min_score=0.001))
    assert [hit["memory"]["id"] for hit in again["hits"]] == [hit["memory"]["id"] for hit in answer["hits"]]
    assert again["degraded"] == answer["degraded"]


class _Upstream(BaseHTTPRequestHandler):
    """An embeddings server that counts what it is asked."""

    asked: list[str] = []  # noqa: RUF012 - one server a test

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked.extend(texts)
        vector = base64.b64encode(np.ones(2, dtype="<f4").tobytes()).decode()
        body = json.dumps({"data": [{"index": i, "embedding": vector} for i in range(len(texts))]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def upstream() -> Iterator[str]:
    """Where the counting server is."""
    _Upstream.asked = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Upstream)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_text_is_embedded_once_a_model_and_is_lacking_until_then(upstream: str, tmp_path: Path) -> None:
    file = tmp_path / "vectors.sqlite"
    cache = EmbeddingCache(file, upstream)
    wanted = [("m", "one"), ("m", "two"), ("m", "one"), ("other", "one")]
    assert cache.lacking(wanted) == [("m", "one"), ("m", "two"), ("other", "one")]
    cache.embed("m", ["one", "two", "one"])
    cache.embed("m", ["two"])
    assert _Upstream.asked == ["one", "two"]
    assert EmbeddingCache(file).lacking(wanted) == [("other", "one")]


def test_every_switch_of_recall_is_an_ingredient_that_is_measured_the_other_way_round() -> None:
    settings = RecallSettings()
    switches = {name for name, value in settings.model_dump().items() if isinstance(value, bool)}
    assert set(ingredients.ingredients()) == switches
    assert switches
    made = ingredients.arrangements(settings)
    assert [one.name for one in made[:2]] == [ingredients.ALL, ingredients.NONE]
    assert {one.ingredient: one.changes for one in made[2:]} == {n: {n: not getattr(settings, n)} for n in switches}


def measured(**shares: float) -> dict[str, Scores]:
    """Scores of systems by the share of a hundred questions that each found."""
    found = {}
    for name, share in shares.items():
        found[name] = Scores()
        for i in range(100):
            found[name].add(Question("?", 1, frozenset({"a"})), ["a"] if i < share else ["b"])
    return found


def test_a_gain_is_what_is_found_with_an_ingredient_less_what_is_found_without_it() -> None:
    on, off = RecallSettings(prospective=True), RecallSettings(prospective=False)
    others = dict.fromkeys((one.name for one in ingredients.arrangements(on)), 50.0)
    systems = measured(**others | {"all": 50.0, "without prospective": 40.0, gains.PLAIN: 30.0})
    assert "| `prospective` | +10.0 | +10.0 | +0.0 |" in gains.Gains({"locomo": (systems, {})}, on).lines()
    systems = measured(**others | {"all": 50.0, "with prospective": 40.0, gains.PLAIN: 30.0})
    assert "| `prospective` | -10.0 | -10.0 | +0.0 |" in gains.Gains({"locomo": (systems, {})}, off).lines()


def test_the_table_takes_the_place_of_the_one_before_and_leaves_the_rest(tmp_path: Path) -> None:
    document = tmp_path / "retrieval.md"
    document.write_text("# Retrieval\n\nBefore.\n")
    gains.write_table(["| old |"], document)
    document.write_text(document.read_text() + "\nAfter.\n")
    gains.write_table(["| new |"], document)
    text = document.read_text()
    assert text.startswith("# Retrieval\n\nBefore.\n")
    assert text.endswith(f"| new |\n{gains.END}\n\nAfter.\n")
    assert "old" not in text
