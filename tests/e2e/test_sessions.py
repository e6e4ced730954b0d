"""Sessions over HTTP and real stores, with the worker at its work: nothing that was said is lost, doubled, or another's."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.domain.caller import Caller
from chalicelib.domain.genome.hydration import rendered
from chalicelib.entrypoints.http import authenticator
from chalicelib.ports import IndexRemoval
from tests.e2e.client import Api, User
from tests.e2e.stores import Stores
from tests.e2e.test_secrets import core, secret_texts
from vitto_tools.local import servers

pytestmark = pytest.mark.timeout(240)
BUDGET = 500
WORK_SECONDS = 90.0


@pytest.fixture(autouse=True)
def empty_queue(redis: RedisConnection) -> None:
    """No message of another test."""
    for part in ("waiting", "taken", "dead", "texts", "attempts", "receipts"):
        redis.command("DEL", keys.queue(part))


@contextmanager
def worker(api: Api) -> Iterator[None]:
    """The worker, draining the queue until the block ends."""
    stop = threading.Event()

    def turn() -> None:
        while not stop.wait(0.02):
            api.services.consumer.drain()

    thread = threading.Thread(target=turn)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def eventually(check: Callable[[], bool]) -> None:
    """Wait until it holds."""
    until = time.monotonic() + WORK_SECONDS
    while not check():
        assert time.monotonic() < until, "it never came to hold"
        time.sleep(0.05)


def append(
    user: User, session: str, *texts: str, start: int = 0, prefix: str = "m", at: str | None = None, **fields: Any
) -> list[dict[str, Any]]:
    """The receipts of messages of a user, with ids by their number."""
    when = {"at": at} if at else {}
    messages = [{"id": f"{prefix}{n}", "role": "user", "text": text, **when} for n, text in enumerate(texts, start)]
    reply = user.post(f"/engine/session/{session}/messages", {"messages": messages, **fields})
    assert reply.status == 200, reply.body
    return list(reply.json["receipts"])


def messages(user: User, session: str) -> list[dict[str, Any]]:
    """All messages, page by page."""
    found, query = [], "limit=40"
    while True:
        reply = user.get(f"/engine/session/{session}/messages", query)
        assert reply.status == 200, reply.body
        found += reply.json["messages"]
        if reply.json["cursor"] is None:
            return found
        query = f"limit=40&cursor={reply.json['cursor']}"


def genome(user: User, session: str) -> dict[str, Any]:
    """The genome with what is told of it."""
    reply = user.get(f"/engine/session/{session}/genome")
    assert reply.status == 200, reply.body
    return dict(reply.json)


def context(user: User, session: str, query: str, budget: int = BUDGET, **asked: Any) -> dict[str, Any]:
    """A context, which keeps its budget."""
    reply = user.post(f"/engine/session/{session}/context", {"query": query, "totalBudget": budget, **asked})
    assert reply.status == 200, reply.body
    found = dict(reply.json)
    assert sum(block["tokens"] for block in found["blocks"]) == found["tokens"] <= budget
    return found


def caller_of(api: Api, user: User) -> Caller:
    """Who a user is to the services."""
    return authenticator(api.services).caller({"authorization": user.headers["Authorization"]})


def settled(api: Api, user: User, session: str) -> Callable[[], bool]:
    """Whether the worker has seen to all messages."""
    kept = api.services.ports.sessions

    def is_settled() -> bool:
        found = kept.kept_from(api.services.conversation.sessions.visible(caller_of(api, user), session), 0, 500)
        return all(one.pending_since is None and one.embedding for one in found)

    return is_settled


CONVERSATIONS = {
    "english": (
        "The garden of the Lindqvist house gets {} rose bushes from Aarhus next to the old well",
        "For the trip to Kyoto we book train {} and a room at the Nakamura inn",
        "We decided that the greenhouse costs 7340 euros and Lindqvist pays in March.",
        "How much does the greenhouse cost?",
        "7340",
        "Lindqvist",
    ),
    "german": (
        "Der Garten am Haus Lindqvist bekommt {} Rosensträucher aus Aarhus neben dem alten Brunnen",
        "Für die Reise nach Kyoto buchen wir Zug {} und ein Zimmer im Gasthof Nakamura",
        "Wir haben beschlossen, dass das Gewächshaus 7340 Euro kostet und Lindqvist im März bezahlt.",
        "Wie viel kostet das Gewächshaus?",
        "7340",
        "Lindqvist",
    ),
    "chinese": (
        "林奎斯特家的花园要在老井旁边种{}株奥胡斯的玫瑰",
        "去京都的旅行我们订第{}次列车和中村旅馆的房间",
        "我们决定温室的价格是7340欧元，林奎斯特三月付款。",
        "温室的价格是多少？",
        "7340",
        "玫瑰",
    ),
    "arabic": (
        "حديقة منزل ليندكفست ستحصل على {} شجيرة ورد من آرهوس بجانب البئر القديمة",
        "لرحلة كيوتو نحجز القطار رقم {} وغرفة في نزل ناكامورا",
        "قررنا أن البيت الزجاجي يكلف 7340 يورو وأن ليندكفست يدفع في مارس.",
        "كم يكلف البيت الزجاجي؟",
        "7340",
        "ليندكفست",
    ),
}


@pytest.mark.parametrize("language", CONVERSATIONS)
def test_thirty_messages_of_two_topics_lose_nothing(api: Api, language: str) -> None:
    first, second, told, question, number, name = CONVERSATIONS[language]
    ana = api.user("ana")
    texts = [first.format(n) for n in range(10)] + [second.format(n) for n in range(10, 20)]
    texts += [first.format(n) for n in range(20, 30)]
    texts[5] = told
    with worker(api):
        for n in range(0, 30, 3):
            append(ana, "talk", *texts[n : n + 3], start=n, totalBudget=BUDGET)
        eventually(settled(api, ana, "talk"))
    assert [said["text"] for said in messages(ana, "talk")] == texts
    kept = genome(ana, "talk")
    assert kept["genome"]["messageRange"]["to"] > 20
    assert kept["tokenCount"] <= 800
    assert kept["compressionRatio"] > 0
    session = api.services.conversation.sessions.visible(caller_of(api, ana), "talk")
    stored = api.services.ports.genomes.load(session.key)
    assert stored
    assert name in rendered(stored), "the topic of the first ten is not in the genome"
    assert number in rendered(stored), "the decision did not survive"
    found = context(ana, "talk", question)
    assert "m5" in found["inContext"]
    assert found["trigger"] == "implicit"
    (recalled,) = [block for block in found["blocks"] if block["name"] == "recalled"]
    assert number in recalled["text"]
    back = context(ana, "talk", second.format(14))
    assert {f"m{n}" for n in range(10, 20)} & set(back["inContext"]), "the topic that was left is lost"


def test_two_clients_at_once_and_the_same_batch_twice_lose_and_double_nothing(api: Api) -> None:
    ana = api.user("ana")
    append(ana, "talk", totalBudget=BUDGET, extract="off")
    batches = [
        (f"c{client}-{n}-", [f"client {client} says {n}.{i} of Porto" for i in range(3)])
        for n in range(6)
        for client in (1, 2)
    ]

    def send(batch: tuple[str, Sequence[str]]) -> list[dict[str, Any]]:
        return append(ana, "talk", *batch[1], prefix=batch[0])

    with worker(api), ThreadPoolExecutor(4) as pool:
        first = list(pool.map(send, batches))
        again = list(pool.map(send, batches))
        eventually(settled(api, ana, "talk"))
    assert again == first
    said = messages(ana, "talk")
    assert [each["position"] for each in said] == list(range(36))
    assert sorted(each["text"] for each in said) == sorted(text for _, texts in batches for text in texts)
    kept = genome(ana, "talk")
    reached = kept["genome"]["messageRange"]["to"]
    assert reached + kept["outside"] == 36
    assert kept["genome"]["sourceTokens"] == expected_tokens(said[:reached])
    other = {"messages": [{"id": "c1-0-0", "role": "user", "text": "x"}]}
    assert ana.post("/engine/session/talk/messages", other).refusal == (409, "conflict")


def expected_tokens(said: Sequence[dict[str, Any]]) -> int:
    """What the genome must have counted: each message once."""
    from chalicelib.domain.text.tokens import estimate

    return sum(estimate(each["text"]) for each in said)


KILLED_WORKER = """
import os, signal, sys
from chalicelib.adapters.mongo import session_genomes
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
session_genomes.MongoSessionGenomeStore.put = die
from chalicelib.bootstrap import container
container().conversation.settler.settle(sys.argv[1], [])
"""


def test_a_worker_killed_between_eviction_and_store_loses_nothing(
    api: Api, mongo: MongoConnection, mongo_url: str, redis_url: str
) -> None:
    ana = api.user("ana")
    texts = [f"Message {n}: Lindqvist meets Nakamura in Aarhus at {n} o'clock about the greenhouse" for n in range(30)]
    for session_id in ("cut", "whole"):
        append(ana, session_id, *texts, at="2026-03-01T12:00:00Z", totalBudget=BUDGET, extract="off")
    session = api.services.conversation.sessions.visible(caller_of(api, ana), "cut")
    settings = {
        "PYTHONPATH": str(servers.ROOT),
        "VITTO_MONGO_URI": mongo_url,
        "VITTO_MONGO_DATABASE": mongo.database.name,
        "VITTO_MONGO_READ_SECONDS": "20",
        "VITTO_REDIS_URL": redis_url,
        "VITTO_REDIS_SECONDS": "5",
        "VITTO_EMBEDDING_BASE_URL": f"http://{servers.HOST}:{servers.free_port()}/v1",
        "PATH": os.environ.get("PATH", ""),
    }
    command = [sys.executable, "-c", KILLED_WORKER, session.key]
    ended = subprocess.run(command, env=settings, cwd=servers.ROOT, capture_output=True, timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert genome(ana, "cut")["genome"]["version"] == 0
    assert context(ana, "cut", "when do they meet in Aarhus?")["genome"]["messageRange"]["to"] > 0
    with worker(api):
        eventually(settled(api, ana, "cut"))
        eventually(settled(api, ana, "whole"))
    assert [said["text"] for said in messages(ana, "cut")] == texts
    whole, undisturbed = (genome(ana, session_id)["genome"] for session_id in ("cut", "whole"))
    assert whole | {"sessionId": ""} == undisturbed | {"sessionId": ""}


FACT = "I moved to {} last May and work at the Serralves museum now"


def test_two_users_in_one_session_have_only_their_own_memories(api: Api) -> None:
    ana, bob = api.user("ana", spaces=("red",)), api.user("bob", spaces=("red",))
    eve = api.user("eve", spaces=("red",))
    with worker(api):
        append(ana, "talk", FACT.format("Porto"), spaceId="red")
        append(bob, "talk", FACT.format("Braga"), start=1)
        eventually(settled(api, ana, "talk"))
    assert ana.listed() == [FACT.format("Porto")]
    assert bob.listed() == [FACT.format("Braga")]
    assert [each["author"] for each in messages(bob, "talk")] == ["ana", "bob"]
    assert eve.get("/engine/session/talk/messages").refusal == (404, "not_found")
    assert eve.listed() == []
    found = context(bob, "talk", "where did I move?")
    assert "Porto" not in str(found["recall"]["hits"])
    assert bob.send("DELETE", "/engine/session/talk").refusal == (403, "forbidden")


def test_a_deleted_session_is_in_no_store(api: Api, stores: Stores) -> None:
    ana = api.user("ana")
    town = f"Zyx{core(api.org)[:12].lower()}"
    with worker(api):
        append(ana, "talk", *(f"The house of {town} has {n} rooms" for n in range(30)), totalBudget=300, extract="off")
        eventually(settled(api, ana, "talk"))
    assert genome(ana, "talk")["genome"]["version"] > 0
    assert stores.places_of(town) != []
    assert ana.send("DELETE", "/engine/session/talk").json == {"id": "talk", "deleted": True, "messages": 30}
    assert stores.places_of(town) == []
    assert ana.get("/engine/session/talk/messages").refusal == (404, "not_found")


def test_a_secret_in_a_message_reaches_no_store(api: Api, stores: Stores) -> None:
    ana, needle = api.user("ana"), core(api.org)[:14].lower()
    with worker(api):
        for n, (kind, secret) in enumerate(secret_texts(api.org).items()):
            (receipt,) = append(ana, "talk", f"The {kind} is {secret}", start=n, totalBudget=300)
            assert kind in receipt["redacted"]
        eventually(settled(api, ana, "talk"))
    assert needle not in str(context(ana, "talk", "what is the key?")).lower()
    assert stores.places_of(needle) == []


def test_a_session_is_searched_without_redis(api: Api, redis: RedisConnection) -> None:
    ana = api.user("ana")
    texts = [f"we spoke about matter {n}" if n != 5 else "the greenhouse costs 7340 euros" for n in range(60)]
    with worker(api):
        append(ana, "talk", *texts, totalBudget=300, extract="off")
        eventually(settled(api, ana, "talk"))
    for name in redis.command("KEYS", "vm:[dpvc]:*session*"):
        redis.command("DEL", name)
    assert "m5" in context(ana, "talk", "what does the greenhouse cost?")["inContext"]
    session = api.services.conversation.sessions.visible(caller_of(api, ana), "talk")
    assert api.services.maintenance.rebuild(session.key) == 60
    assert redis.command("HLEN", keys.rows(session.key)) == 60


def test_what_redis_lost_of_a_session_is_found_all_the_same_and_mended(api: Api, redis: RedisConnection) -> None:
    ana = api.user("ana")
    texts = [f"we spoke about matter {n}" if n != 5 else "the greenhouse costs 7340 euros" for n in range(60)]
    with worker(api):
        append(ana, "talk", *texts, totalBudget=300, extract="off")
        eventually(settled(api, ana, "talk"))
    session = api.services.conversation.sessions.visible(caller_of(api, ana), "talk")
    api.services.ports.hot.apply([IndexRemoval(session.key, "5", 2)])  # type: ignore[union-attr]
    redis.command("DEL", keys.tombstone(session.key, "5"))
    assert redis.command("HLEN", keys.rows(session.key)) == 59
    assert "m5" in context(ana, "talk", "what does the greenhouse cost?")["inContext"]
    with worker(api):
        append(ana, "talk", "one more", start=60)
        eventually(settled(api, ana, "talk"))
    assert redis.command("HLEN", keys.rows(session.key)) == 61
