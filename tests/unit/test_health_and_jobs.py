"""Health asks every store for real (faults.md 39), and one job that fails stops no other."""

from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.query import RecallQuery
from chalicelib.entrypoints.health import Health, public
from chalicelib.entrypoints.jobs import JOBS, Job, Rota
from chalicelib.errors import NotSupported, StoreUnavailable
from chalicelib.ports import Delivery
from tests.building import TestClock, caller, container
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana")


class DownStore(InMemoryMemoryStore):
    """A store that does not answer."""

    def probe(self) -> dict[str, Any]:
        raise StoreUnavailable("mongo", "no answer")

    def count_pending(self, *_: Any, **__: Any) -> int:
        raise StoreUnavailable("mongo", "no answer")


class DownIndex(InMemoryHotIndex):
    """An index that fails in a way of its own."""

    def probe(self) -> dict[str, Any]:
        raise RuntimeError(AWS_KEY)


class DownQueue(InMemoryTaskQueue):
    """A queue that does not answer."""

    def probe(self) -> dict[str, Any]:
        raise StoreUnavailable("sqs", "no answer")

    def receive(self, *_: Any) -> list[Delivery]:
        raise StoreUnavailable("sqs", "no answer")


def report(**ports: Any) -> dict[str, Any]:
    """What health says over these ports."""
    return Health(container(**ports)).report()


def test_a_service_whose_stores_all_answer_is_well() -> None:
    said = report()
    assert said["status"] == "ok"
    assert {name: store["up"] for name, store in said["stores"].items()} == {
        "mongo": True,
        "redis": True,
        "embedding": True,
        "queue": True,
    }
    assert all(store["latencyMs"] >= 0 for store in said["stores"].values())
    assert said["pending"] == 0


def test_a_service_without_its_truth_is_down() -> None:
    said = report(store=DownStore())
    assert said["status"] == "down"
    assert "no answer" in said["stores"]["mongo"]["reason"]
    assert said["pending"] is None


@pytest.mark.parametrize("missing", ["redis", "embedding"])
def test_a_service_that_goes_on_with_less_says_so(missing: str) -> None:
    embedder = TermEmbedder()
    embedder.fail = missing == "embedding"
    said = report(embedder=embedder, hot=DownIndex() if missing == "redis" else InMemoryHotIndex())
    assert said["status"] == "degraded"
    assert [name for name, store in said["stores"].items() if not store["up"]] == [missing]
    assert AWS_KEY not in str(said)


def test_a_service_without_redis_says_that_none_is_configured() -> None:
    assert report(hot=None)["stores"]["redis"] == {"up": False, "reason": "not configured"}


def test_a_queue_that_is_down_is_said_and_one_that_is_not_configured_is_not_listed() -> None:
    said = report(queue=DownQueue(TestClock()))
    assert (said["status"], said["stores"]["queue"]["up"]) == ("degraded", False)
    assert "no answer" in said["stores"]["queue"]["reason"]
    said = report(queue=None)
    assert (said["status"], "queue" in said["stores"]) == ("ok", False)


def test_rows_that_are_pending_are_counted() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    embedder.fail = True
    services.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    assert Health(services).report()["pending"] == 1


def test_stores_are_asked_at_most_once_in_five_seconds() -> None:
    embedder = TermEmbedder()
    health = Health(container(embedder=embedder))
    for _ in range(3):
        health.report()
    assert embedder.calls == 1


def test_anyone_sees_which_store_is_up_and_nothing_else() -> None:
    assert public(report(store=DownStore())) == {
        "status": "down",
        "stores": {"mongo": {"up": False}, "redis": {"up": True}, "embedding": {"up": True}, "queue": {"up": True}},
    }


def rota(services: Container, *jobs: Job) -> Rota:
    """A rota of these jobs."""
    return Rota(services, jobs)


def events(services: Container) -> list[str]:
    """What telemetry was told."""
    return [name for name, _ in services.ports.telemetry.events]  # type: ignore[attr-defined]


def test_a_job_that_fails_stops_no_other_and_is_said_once_and_once_more_when_it_is_back() -> None:
    services = container()
    broken = [True]

    def unsteady(_: Container) -> int:
        if broken[0]:
            raise StoreUnavailable("mongo", "no answer")
        return 1

    turns = rota(services, Job("unsteady", 0, unsteady), Job("steady", 0, lambda _: 2))
    assert [turns.turn() for _ in range(3)] == [2, 2, 2]
    assert events(services) == ["job_failing"]
    broken[0] = False
    assert turns.turn() == 3
    assert events(services) == ["job_failing", "job_recovered"]


def test_a_job_is_run_when_it_is_due() -> None:
    ran: list[str] = []

    def job(name: str, every: float) -> Job:
        def run(_: Container) -> int:
            ran.append(name)
            return 1

        return Job(name, every, run)

    turns = rota(container(), job("often", 0), job("seldom", 60))
    assert [turns.turn() for _ in range(3)] == [2, 1, 1]
    assert ran == ["often", "seldom", "often", "often"]


def test_the_jobs_of_the_worker_bring_everything_up_to_date() -> None:
    embedder, clock = TermEmbedder(), TestClock()
    services = container(embedder=embedder, clock=clock)
    embedder.fail = True
    services.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    first = services.recall.recall(ANA, RecallQuery(query="where does Ana live?"))
    embedder.fail = False
    clock.forward(minutes=1)
    Rota(services).turn()
    assert services.ports.store.count_pending() == 0
    assert services.ports.recalls.get("acme", first["recallId"]) is not None
    (hit,) = services.recall.recall(ANA, RecallQuery(query="where does Ana live?"))["hits"]
    assert hit["tier"] == "redis_vectors"
    assert len({job.name for job in JOBS}) == len(JOBS)


def test_health_says_whether_mongodb_searches_vectors_and_is_no_worse_for_it() -> None:
    class Search:
        problem: StoreUnavailable | None = None

        def probe(self) -> dict[str, Any]:
            if self.problem:
                raise self.problem
            return {}

    search = Search()
    assert Health(container(vectors=search)).report()["stores"]["mongo"]["vectorSearch"] == "ready"
    search.problem = NotSupported("atlas", "this server has no vector search")
    report = Health(container(vectors=search)).report()
    assert "no vector search" in report["stores"]["mongo"]["vectorSearch"]
    assert report["status"] == "ok"
