"""Sixteen callers at once: nobody gets an error, and nobody gets anything of another."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from chalicelib.adapters.telemetry import RecordedTelemetry
from tests.e2e.client import Api, Reply, User

THREADS = 16
REQUESTS = 50


def own(name: str, number: int) -> str:
    """What a caller stores: the same words for all, and its own mark."""
    return f"the number of the safe in the cellar is {number}, says {name}-mark"


class Session:
    """One caller at work: what it asked, and every answer it got."""

    def __init__(self, user: User, name: str) -> None:
        self.user, self.name = user, name
        self.random = random.Random(name)
        self.ids: list[str] = []
        self.said: list[tuple[str, Reply]] = []

    def work(self, barrier: Barrier) -> "Session":
        """Fifty requests, of every kind."""
        barrier.wait(timeout=30)
        for number in range(REQUESTS):
            kind = self.random.choices(("remember", "recall", "read", "browse", "edit"), (4, 8, 8, 1, 1))[0]
            if kind in {"read", "edit"} and not self.ids:
                kind = "remember"
            self.said.append((kind, getattr(self, kind)(number)))
        return self

    def remember(self, number: int) -> Reply:
        """Store one more."""
        reply = self.user.post("/engine/memories", {"content": own(self.name, number)})
        self.ids += [receipt["id"] for receipt in reply.json.get("receipts", ())]
        return reply

    def recall(self, number: int) -> Reply:
        """The very question that all others ask."""
        asked: dict[str, Any] = {"query": "what is the number of the safe in the cellar?", "limit": 50 + number % 2}
        return self.user.post("/engine/memories/recall", asked)

    def read(self, _: int) -> Reply:
        """One of its own."""
        return self.user.get(f"/engine/memories/{self.random.choice(self.ids)}")

    def browse(self, _: int) -> Reply:
        """Everything."""
        return self.user.get("/engine/memories", "limit=200")

    def edit(self, number: int) -> Reply:
        """One of its own; the revision is known, since nobody else changes it."""
        id_ = self.random.choice(self.ids)
        revision = self.user.read(id_)["revision"]
        return self.user.patch(id_, {"summary": f"{self.name}-mark {number}"}, revision)


def test_sixteen_callers_at_once_get_no_error_and_nothing_of_one_another(
    api: Api, telemetry: RecordedTelemetry
) -> None:
    names = [f"user{i:02}x" for i in range(THREADS)]
    sessions = [Session(api.user(name), name) for name in names]
    for session in sessions[::2]:  # the others are answered from MongoDB's text too
        api.index(session.user)
    barrier = Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda session: session.work(barrier), sessions))
    for session in sessions:
        assert Counter(reply.status for _, reply in session.said) == {200: REQUESTS}
        others = [other for other in names if other != session.name]
        for kind, reply in session.said:
            text = reply.body.decode()
            assert not [other for other in others if other in text], (session.name, kind)
        kept = {memory["id"] for memory in session.browse(0).json["memories"]}
        assert kept == set(session.ids)
        hits = session.recall(0).json["hits"]
        assert {hit["memory"]["id"] for hit in hits} == set(session.ids)
    ids = [id_ for session in sessions for id_ in session.ids]
    assert len(ids) == len(set(ids))
    failed = [event for event in telemetry.events if event[1]["level"] == "error"]
    assert failed == []


def test_two_writes_of_the_same_at_once_are_one_row_and_a_duplicate(api: Api) -> None:
    callers = [api.user(spaces=("red",)), api.user("bob", spaces=("red",))]
    item = {"scope": "space", "scopeId": "red"}
    for round_ in range(10):
        barrier, content = Barrier(2), f"the release {round_} is on Friday"

        def write(user: User, barrier: Barrier = barrier, content: str = content) -> dict[str, Any]:
            barrier.wait(timeout=20)
            return user.receipt(content, **item)

        with ThreadPoolExecutor(2) as pool:
            receipts = list(pool.map(write, callers))
        assert sorted(receipt["outcome"] for receipt in receipts) == ["duplicate", "stored"]
        assert len({receipt["id"] for receipt in receipts}) == 1
        assert callers[0].listed(f"q=release+{round_}") == [content]


def test_the_same_batch_sixteen_times_at_once_is_stored_once(api: Api) -> None:
    ana, barrier = api.user(), Barrier(THREADS)
    items = [{"content": f"fact number {i}"} for i in range(5)]

    def write(i: int) -> list[dict[str, Any]]:
        barrier.wait(timeout=20)
        reply = ana.post("/engine/memories", {"memories": items[i % 5 :] + items[: i % 5]})
        assert reply.status == 200, reply.body
        return list(reply.json["receipts"])

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = Counter(receipt["outcome"] for said in pool.map(write, range(THREADS)) for receipt in said)
    assert outcomes == {"stored": 5, "duplicate": 5 * (THREADS - 1)}
    assert sorted(ana.listed()) == [item["content"] for item in items]


def test_every_recall_can_be_explained_however_many_are_asked_for_at_once(api: Api) -> None:
    def work(i: int) -> list[int]:
        user = api.user(f"user{i}")
        barrier.wait(timeout=20)
        paths, statuses = [], []
        for n in range(4):
            paths.append(f"/engine/recalls/{user.answer(f'question {n} of {i}')['recallId']}")
            statuses.append(user.get(paths[-1]).status)
        return statuses + [user.get(path).status for path in paths]

    threads = 8
    barrier = Barrier(threads)
    with ThreadPoolExecutor(threads) as pool:
        statuses = Counter(status for said in pool.map(work, range(threads)) for status in said)
    assert statuses == {200: 2 * 4 * threads}
