"""`/health`: real probes, little for anyone, all of it for admins, and never a secret."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from chalicelib import bootstrap
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.memories import MongoMemoryStore
from chalicelib.adapters.redis.cache import RedisRecallCache
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.settings import MongoSettings, QueueSettings, RedisSettings
from tests.e2e.client import Api
from vitto_tools.local import servers

PUBLIC = {"status": "ok", "stores": {name: {"up": True} for name in ("mongo", "redis", "embedding", "queue")}}


def over(api: Api, **ports: Any) -> None:
    """Serve over other ports."""
    bootstrap.use(Container(api.services.settings, replace(api.services.ports, **ports)))


def test_anyone_sees_which_store_is_up_and_nothing_else(api: Api) -> None:
    callers = [api.user("ana", role) for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER)]
    callers.append(api.user("ana", Role.ADMIN, Role.OBSERVER))
    for reply in [api.send("GET", "/health"), *(caller.get("/health") for caller in callers)]:
        assert (reply.status, reply.json) == (200, PUBLIC)


def test_an_admin_sees_versions_latencies_and_rows_pending(api: Api) -> None:
    said = api.user("root", Role.ADMIN).get("/health").json
    assert said["status"] == "ok"
    assert isinstance(said["pending"], int)
    assert said["stores"]["mongo"]["version"]
    assert said["stores"]["redis"]["vectorDriver"] == "vector_sets"
    assert int(said["stores"]["redis"]["version"].split(".")[0]) >= 8
    assert said["stores"]["embedding"]["model"] == "terms@256"
    assert said["stores"]["queue"].keys() == {"up", "latencyMs", "driver", "waiting", "taken", "dead"}
    assert all(store["latencyMs"] >= 0 for store in said["stores"].values())


@pytest.mark.parametrize("credential", ["Bearer vk_1_2", "Bearer x", "Basic YTpi", "Bearer ", "x", ""])
def test_a_credential_that_does_not_hold_is_refused_where_none_is_needed(api: Api, credential: str) -> None:
    refused = api.send("GET", "/health", headers={"Authorization": credential})
    assert refused.refusal == (401, "unauthenticated")


def test_the_embedder_is_probed_for_real(api: Api, embedder: TermEmbedder) -> None:
    embedder.fail = True
    assert api.send("GET", "/health").json["status"] == "degraded"
    assert api.send("GET", "/health").json["stores"]["embedding"] == {"up": False}
    reply = api.user("root", Role.ADMIN).get("/health")
    assert reply.status == 200
    assert reply.json["stores"]["embedding"]["reason"]


def test_a_redis_that_is_not_there_is_said_and_answers_go_on_without_it(api: Api) -> None:
    gone = RedisConnection(RedisSettings(url=f"redis://:hunter2@127.0.0.1:{servers.free_port()}/0"))
    over(api, hot=RedisHotIndex(gone), cache=RedisRecallCache(gone, 60))
    health = api.user("root", Role.ADMIN).get("/health")
    assert (health.status, health.json["status"]) == (200, "degraded")
    assert health.json["stores"]["redis"]["up"] is False
    assert "hunter2" not in health.body.decode()
    ana = api.user()
    assert ana.receipt("Ana lives in Porto")["index"]["state"] == "pending"
    answer = ana.answer("where does Ana live?")
    assert [hit["memory"]["content"] for hit in answer["hits"]] == ["Ana lives in Porto"]
    assert answer["hits"][0]["tier"] == "mongo_text"
    assert answer["degraded"]
    assert ana.get(f"/engine/recalls/{answer['recallId']}").json["query"] == "where does Ana live?"


def test_a_mongo_that_is_not_there_is_a_503_that_says_when_to_come_back(api: Api) -> None:
    uri = f"mongodb://ana:hunter2@127.0.0.1:{servers.free_port()}/?directConnection=true"
    gone = MongoConnection(MongoSettings(uri=uri, select_seconds=0.05))
    ana, root = api.user(), api.user("root", Role.ADMIN)
    over(api, store=MongoMemoryStore(gone))
    with ThreadPoolExecutor(4) as pool:  # each waits for a server that does not come
        asked = [pool.submit(root.get, "/health"), pool.submit(ana.get, "/engine/memories")]
        asked += [pool.submit(ana.post, "/engine/memories", {"content": "x"})]
        asked += [pool.submit(ana.post, "/engine/memories/recall", {"query": "x"})]
    health, *replies = (each.result() for each in asked)
    assert (health.status, health.json["status"]) == (503, "down")
    assert "hunter2" not in health.body.decode()
    for reply in replies:
        assert reply.refusal == (503, "store_unavailable")
        assert reply.error["details"]["store"] == "mongo"
        assert not any(word in reply.body.decode() for word in ("hunter2", "127.0.0.1", "Traceback", "pymongo"))
    gone.client.close()


def test_rows_that_could_not_be_embedded_are_counted(api: Api, embedder: TermEmbedder) -> None:
    embedder.fail = True
    api.user().remember("Ana lives in Porto")
    embedder.fail = False
    assert api.user("root", Role.ADMIN).get("/health").json["pending"] >= 1


def test_a_queue_that_is_not_there_is_said_and_fails_no_request(api: Api, embedder: TermEmbedder) -> None:
    gone = RedisConnection(RedisSettings(url=f"redis://:hunter2@127.0.0.1:{servers.free_port()}/0"))
    over(api, queue=RedisTaskQueue(gone, QueueSettings()))
    embedder.fail = True
    assert api.user().receipt("Ana lives in Porto")["index"]["state"] == "pending"
    embedder.fail = False
    health = api.user("root", Role.ADMIN).get("/health")
    assert (health.status, health.json["status"]) == (200, "degraded")
    assert health.json["stores"]["queue"]["up"] is False
    assert "hunter2" not in health.body.decode()
