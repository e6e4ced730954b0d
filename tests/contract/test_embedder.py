"""`ports.Embedder`: the deterministic twin, and the adapter of OpenAI's wire format against a small server of its own."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.openai_embedder import OpenAIEmbedder
from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.text.chunks import chunks
from chalicelib.domain.vector import Vector, cosine, dimensions, mean, pack, unit, unpack
from chalicelib.errors import EmbeddingFailed, EmbeddingMismatch, Misconfigured
from chalicelib.ports import Embedder
from chalicelib.settings import EmbeddingSettings
from tests.embedding_server import EmbeddingServer, Reply, embedding_server
from vitto_tools.local.servers import free_port

MODEL, SIZE = "e5-passage", 64
CHUNK = calibration_of(MODEL, {}).chunk_characters
LONG = " ".join(f"Sentence number {n} tells of something else." for n in range(60))


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    """A server of this test alone."""
    with embedding_server() as told:
        yield told


def over_http(server: EmbeddingServer, **settings: Any) -> OpenAIEmbedder:
    """The real adapter against `server`."""
    values = {"base_url": server.url, "passage_model": MODEL, "dimensions": SIZE, "retries": 0}
    return OpenAIEmbedder(EmbeddingSettings(**values | settings))


@dataclass(frozen=True)
class EmbedderUnderTest:
    """An embedder, and a way to make it fail from now on."""

    embedder: Embedder
    fail: Callable[[], None]


@pytest.fixture(params=["twin", "openai"])
def embedding(request: pytest.FixtureRequest) -> EmbedderUnderTest:
    """Every embedder."""
    if request.param == "twin":
        twin = TermEmbedder(size=SIZE)
        return EmbedderUnderTest(twin, lambda: setattr(twin, "fail", True))
    told: EmbeddingServer = request.getfixturevalue("server")
    return EmbedderUnderTest(over_http(told), lambda: setattr(told, "always", Reply(503)))


def is_unit(vector: Vector) -> bool:
    """Whether a vector has length 1 and the size wanted."""
    return dimensions(vector) == SIZE and cosine(vector, vector) == pytest.approx(1, abs=1e-5)


def near(vector: Vector) -> object:
    """The values of a vector up to rounding."""
    return pytest.approx(list(unpack(vector)), abs=1e-6)


def values(vector: Vector) -> list[float]:
    """The values of a vector."""
    return list(unpack(vector))


def test_the_model_is_named_with_its_size(embedding: EmbedderUnderTest) -> None:
    name, size = embedding.embedder.passage_model.split("@")
    assert (bool(name), int(size)) == (True, SIZE)
    assert embedding.embedder.probe()["model"] == embedding.embedder.passage_model


def test_each_text_has_its_unit_vectors_in_order(embedding: EmbedderUnderTest) -> None:
    texts = ["figs", "a plum", "名前は田中です", "😀", 'a\x01\n"b\\c"', "x" * 500, "figs"]
    groups = embedding.embedder.embed_passages(texts)
    assert len(groups) == len(texts)
    assert all(group and all(is_unit(vector) for vector in group) for group in groups)
    assert groups == [embedding.embedder.embed_passages([text])[0] for text in texts]
    assert groups[0] == groups[-1]
    assert len(set(groups)) == len(texts) - 1


def test_no_texts_have_no_vectors(embedding: EmbedderUnderTest) -> None:
    assert embedding.embedder.embed_passages([]) == []


def test_a_query_is_nearest_to_the_passage_that_says_the_same(embedding: EmbedderUnderTest) -> None:
    query = embedding.embedder.embed_query("ripe figs")
    assert is_unit(query)
    assert embedding.embedder.embed_query("ripe figs") == query
    (same,), (other,) = embedding.embedder.embed_passages(["the ripe figs", "a bicycle in Porto"])
    assert cosine(query, same) > cosine(query, other)


def test_queries_together_have_the_vectors_that_each_has_alone(embedding: EmbedderUnderTest) -> None:
    texts = ["ripe figs", "a bicycle in Porto", "ripe figs", "who? " * 300]
    assert embedding.embedder.embed_queries(texts) == [embedding.embedder.embed_query(text) for text in texts]


def test_what_cannot_be_embedded_raises_embedding_failed(embedding: EmbedderUnderTest) -> None:
    embedding.fail()
    calls: tuple[Callable[[], object], ...] = (
        lambda: embedding.embedder.embed_passages(["figs", "plums"]),
        lambda: embedding.embedder.embed_query("figs"),
        embedding.embedder.probe,
    )
    for call in calls:
        with pytest.raises(EmbeddingFailed):
            call()


def test_similarity_rises_with_the_cosine_from_0_to_1(embedding: EmbedderUnderTest) -> None:
    scale = [embedding.embedder.similarity(n / 100) for n in range(-100, 101)]
    assert all(0 <= value <= 1 for value in scale)
    assert scale == sorted(scale)
    assert scale[0] < 0.01
    assert scale[-1] > 0.99


def test_a_long_text_has_a_vector_a_chunk_in_order(server: EmbeddingServer) -> None:
    short, long, last = over_http(server).embed_passages(["figs", LONG, "plums"])
    pieces = chunks(LONG, CHUNK)
    assert (len(short), len(long), len(last)) == (1, len(pieces), 1)
    assert len(pieces) > 2
    assert server.inputs == [["figs", *pieces, "plums"]]
    assert [values(v) for v in long] == [near(unit(server.vector(piece, SIZE))) for piece in pieces]


def test_a_long_query_has_one_vector_of_all_of_it(server: EmbeddingServer) -> None:
    vector = over_http(server).embed_query(LONG)
    assert is_unit(vector)
    assert values(vector) == near(mean([unit(server.vector(piece, SIZE)) for piece in chunks(LONG, CHUNK)]))
    assert all(len(piece) <= CHUNK for texts in server.inputs for piece in texts)


def test_queries_go_together_in_one_request(server: EmbeddingServer) -> None:
    over_http(server).embed_queries(["figs", "plums", "pears"])
    assert server.inputs == [["figs", "plums", "pears"]]


def test_texts_go_in_batches_and_come_back_in_order(server: EmbeddingServer) -> None:
    texts = [*(f"text {n}" for n in range(4)), LONG, *(f"text {n}" for n in range(4, 9))]
    groups = over_http(server, batch=3).embed_passages(texts)
    assert all(len(batch) <= 3 for batch in server.inputs)
    assert [values(v) for group in groups for v in group] == [
        near(unit(server.vector(piece, SIZE))) for text in texts for piece in chunks(text, CHUNK)
    ]


def test_vectors_are_matched_to_texts_by_their_index(server: EmbeddingServer) -> None:
    server.backwards = True
    texts = ["figs", "plums", "pears"]
    groups = over_http(server).embed_passages(texts)
    assert [values(v) for (v,) in groups] == [near(unit(server.vector(text, SIZE))) for text in texts]


def test_passages_and_queries_go_to_their_models_with_the_key(server: EmbeddingServer) -> None:
    embedder = over_http(server, query_model="e5-query", api_key="secret")
    embedder.embed_passages(["figs"])
    embedder.embed_query("plums")
    assert [(r["model"], r["input"], r["dimensions"]) for r in server.requests] == [
        ("e5-passage", ["figs"], SIZE),
        ("e5-query", ["plums"], SIZE),
    ]
    assert server.keys == ["Bearer secret"] * 2
    assert embedder.passage_model == f"e5-passage@{SIZE}"


def test_a_server_that_gives_larger_vectors_is_cut_to_size(server: EmbeddingServer) -> None:
    server.size = SIZE + 32
    vector = over_http(server).embed_query("figs")
    assert is_unit(vector)
    assert values(vector) == near(unit(server.vector("figs", SIZE + 32), SIZE))


def test_a_server_that_gives_smaller_vectors_is_a_mismatch(server: EmbeddingServer) -> None:
    server.size = SIZE - 1
    with pytest.raises(EmbeddingMismatch) as raised:
        over_http(server).embed_passages(["figs"])
    assert raised.value.details == {"got": SIZE - 1, "wanted": SIZE}


def test_a_server_that_gives_plain_numbers_is_understood(server: EmbeddingServer) -> None:
    server.floats = True
    assert values(over_http(server).embed_query("figs")) == near(unit(server.vector("figs", SIZE)))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_passages_are_tried_again_as_often_as_set(server: EmbeddingServer, status: int) -> None:
    server.replies.extend([Reply(status), Reply(status)])
    assert len(over_http(server, retries=2).embed_passages(["figs"])) == 1
    assert len(server.requests) == 3
    server.always = Reply(status)
    with pytest.raises(EmbeddingFailed):
        over_http(server, retries=1).embed_passages(["figs"])
    assert len(server.requests) == 5


def test_a_query_is_tried_once_more(server: EmbeddingServer) -> None:
    server.replies.append(Reply(closes=True))
    assert is_unit(over_http(server).embed_query("figs"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again(server: EmbeddingServer, status: int) -> None:
    server.always = Reply(status)
    with pytest.raises(EmbeddingFailed):
        over_http(server, retries=2).embed_passages(["figs"])
    assert len(server.requests) == 1


def test_passages_fail_together_where_one_batch_fails(server: EmbeddingServer) -> None:
    embedder = over_http(server, batch=1)
    embedder.embed_passages(["figs"])
    server.replies.extend([Reply(body=json.dumps(server.answer(server.requests[0])).encode()), Reply(500)])
    with pytest.raises(EmbeddingFailed):
        embedder.embed_passages(["figs", "plums"])


def test_a_server_that_is_too_slow_fails(server: EmbeddingServer) -> None:
    server.always = Reply(seconds=0.5)
    embedder = over_http(server, query_seconds=0.05, passage_seconds=0.05)
    for call in (embedder.embed_query, lambda text: embedder.embed_passages([text])):
        with pytest.raises(EmbeddingFailed):
            call("figs")


def test_a_server_that_is_not_there_fails() -> None:
    nowhere = EmbeddingServer(url=f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(EmbeddingFailed):
        over_http(nowhere).embed_passages(["figs"])


def one(**fields: Any) -> bytes:
    """An answer with one vector."""
    return json.dumps({"object": "list", "model": MODEL, "data": [{"object": "embedding", **fields}]}).encode()


def packed(*numbers: float) -> str:
    """Numbers as OpenAI packs them."""
    return base64.b64encode(pack(numbers)).decode()


WHOLE = packed(*[1.0] * SIZE)
NO_ANSWERS = {
    "a page": Reply(body=b"<html>Welcome</html>", content_type="text/html"),
    "nothing": Reply(body=b""),
    "broken JSON": Reply(body=b'{"data": ['),
    "no object": Reply(body=b"null"),
    "a list": Reply(body=b"[]"),
    "a text": Reply(body=b'"ok"'),
    "an empty object": Reply(body=b"{}"),
    "an error with status 200": Reply(body=b'{"error": "overloaded"}'),
    "null for data": Reply(body=b'{"data": null}'),
    "a number for data": Reply(body=b'{"data": 5}'),
    "no vectors": Reply(body=b'{"data": []}'),
    "texts for rows": Reply(body=b'{"data": ["x"]}'),
    "null for a row": Reply(body=b'{"data": [null]}'),
    "a row without a vector": Reply(body=one(index=0)),
    "null for a vector": Reply(body=one(index=0, embedding=None)),
    "a number for a vector": Reply(body=one(index=0, embedding=1.5)),
    "a vector of texts": Reply(body=one(index=0, embedding=["x"] * SIZE)),
    "a vector of nulls": Reply(body=one(index=0, embedding=[None] * SIZE)),
    "an object for a vector": Reply(body=one(index=0, embedding={"a": 1})),
    "no base64": Reply(body=one(index=0, embedding="!" * 400)),
    "no base64 in ASCII": Reply(body=one(index=0, embedding="é" * 400)),
    "half a number": Reply(body=one(index=0, embedding=base64.b64encode(b"x" * (4 * SIZE + 2)).decode())),
    "not a number": Reply(body=one(index=0, embedding=packed(float("nan"), *[1.0] * (SIZE - 1)))),
    "infinity": Reply(body=one(index=0, embedding=packed(float("inf"), *[1.0] * (SIZE - 1)))),
    "zero": Reply(body=one(index=0, embedding=packed(*[0.0] * SIZE))),
    "a row without an index": Reply(body=one(embedding=WHOLE)),
    "a text for an index": Reply(body=one(index="x", embedding=WHOLE)),
    "another index": Reply(body=one(index=1, embedding=WHOLE)),
}


@pytest.mark.parametrize("reply", NO_ANSWERS.values(), ids=NO_ANSWERS.keys())
def test_what_is_no_answer_fails(server: EmbeddingServer, reply: Reply) -> None:
    server.always = reply
    embedder = over_http(server)
    for call in (embedder.embed_query, lambda text: embedder.embed_passages([text])):
        with pytest.raises(EmbeddingFailed):
            call("figs")


def test_too_few_and_too_many_vectors_fail(server: EmbeddingServer) -> None:
    server.always = Reply(body=one(index=0, embedding=WHOLE))
    with pytest.raises(EmbeddingFailed):
        over_http(server).embed_passages(["figs", "plums"])
    rows = [{"object": "embedding", "index": i, "embedding": WHOLE} for i in (0, 0)]
    server.always = Reply(body=json.dumps({"data": rows}).encode())
    for texts in (["figs"], ["figs", "plums"]):
        with pytest.raises(EmbeddingFailed):
            over_http(server).embed_passages(texts)


def test_the_key_stands_in_no_error(server: EmbeddingServer) -> None:
    server.always = Reply(401, body=b'{"error": {"message": "wrong key: sk-secret"}}')
    with pytest.raises(EmbeddingFailed) as raised:
        over_http(server, api_key="sk-secret").embed_query("figs")
    assert not re.search("secret", f"{raised.value} {raised.value.details}")


def test_the_middle_of_the_calibration_is_as_likely_related_as_not(server: EmbeddingServer) -> None:
    assert over_http(server).similarity(calibration_of(MODEL, {}).middle) == pytest.approx(0.5)


def test_a_model_without_a_calibration_is_refused_at_once(server: EmbeddingServer) -> None:
    with pytest.raises(Misconfigured, match="unheard-of"):
        over_http(server, passage_model="unheard-of")
