"""Prospective questions over real MongoDB and Redis: a worker that is killed at any moment and started again leaves every
set exactly once, in every store; and batches of the queue's function fail one message at a time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import app
from chalicelib import bootstrap
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import QUESTIONS
from chalicelib.adapters.mongo.questions import MongoQuestionStore
from chalicelib.adapters.redis import keys
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.adapters.redis.queue import RedisTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.memory import Memory
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.questions import MOST_QUESTIONS
from chalicelib.domain.tasks import WriteQuestions, to_text
from chalicelib.settings import QueueSettings
from chalicelib.write.prospective.writer import FEWEST_QUESTIONS
from tests.building import caller
from tests.integration.arrangements import remember, services
from tests.lambda_context import LambdaContext, sqs_event

ROOT = Path(__file__).parents[2]
MEMORIES, KILLS, WAIT_SECONDS = 24, 2, 60
WORKER = """
import sys, time
from tests.integration.arrangements import services
from tests.integration.test_prospective import with_questions
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.redis.connection import RedisConnection
from chalicelib.settings import MongoSettings, RedisSettings
mongo = MongoConnection(MongoSettings(uri=sys.argv[1], database=sys.argv[3], read_seconds=20, write_seconds=30))
redis = RedisConnection(RedisSettings(url=sys.argv[2], seconds=5, bulk_seconds=20))
made = with_questions(mongo, redis)
while True:
    made.consumer.drain(limit=5)
    time.sleep(0.01)
"""


def with_questions(mongo: MongoConnection, redis: RedisConnection) -> Container:
    """The services with questions in MongoDB and the queue in Redis, from which a message comes back after a second."""
    made = services(mongo, redis)
    queue = RedisTaskQueue(redis, QueueSettings(visibility_seconds=1, attempts=1000))
    return Container(made.settings, replace(made.ports, questions=MongoQuestionStore(mongo), queue=queue))


def stored(made: Container, org: str, count: int) -> list[Memory]:
    """Memories of ana's that the heuristic has questions for."""
    ana = caller(org, "ana", Role.ADMIN)
    texts = [f"My sister moved to the harbour of Lisbon with parrot number {n} in the spring." for n in range(count)]
    ids = [receipt["id"] for receipt in remember(made, ana, *texts)]
    return [row.memory for row in made.ports.store.fetch(ana.chain, ids)]


def sets(mongo: MongoConnection, org: str) -> list[dict[str, Any]]:
    """What MongoDB holds of an organization's questions."""
    return list(mongo.database.get_collection(QUESTIONS).find({"orgId": org}))


def until(condition: Callable[[], bool]) -> None:
    """Wait for it."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def has_more(mongo: MongoConnection, org: str, seen: int) -> bool:
    """Whether there are more sets than were seen."""
    return len(sets(mongo, org)) > seen


def undone(made: Container) -> int:
    """How many messages wait or are being worked on."""
    assert made.ports.queue
    said = made.ports.queue.probe()
    return int(said["waiting"]) + int(said["taken"])


def in_index(redis: RedisConnection, scope: str) -> dict[str, int]:
    """How many questions the index's registry says that each row has."""
    registry = redis.command("HGETALL", keys.questions(scope))
    return {id_.decode(): json.loads(entry)["n"] for id_, entry in registry.items()}


def test_a_worker_that_is_killed_again_and_again_leaves_every_set_exactly_once(
    mongo: MongoConnection, mongo_url: str, redis: RedisConnection, redis_url: str, org: str
) -> None:
    redis.command("FLUSHDB")
    made = with_questions(mongo, redis)
    memories = stored(made, org, MEMORIES)
    made.deferral.write_questions_later(memories)
    made.deferral.write_questions_later(memories)  # everything comes twice
    gone, scope = memories[-1], memories[0].scope_ref.key
    made.editor.purge(caller(org, "ana", Role.ADMIN), gone.id)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"}
    for kill in range(KILLS + 1):
        seen = len(sets(mongo, org))
        worker = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", WORKER, mongo_url, redis_url, mongo.database.name],
            cwd=ROOT,
            env=environment,
        )
        if kill < KILLS:
            until(partial(has_more, mongo, org, seen))
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            assert undone(made) > 0, "it was killed with work left"
        else:
            until(lambda: undone(made) == 0)
            worker.kill()
            worker.wait()
    left = sets(mongo, org)
    found = {one["memoryId"]: one for one in left}
    assert found.keys() == {memory.id for memory in memories} - {gone.id}
    assert len(left) == len(found)
    assert {one["revision"] for one in left} == {1}
    assert {
        FEWEST_QUESTIONS <= len({question["text"] for question in one["questions"]}) <= MOST_QUESTIONS for one in left
    } == {True}
    assert in_index(redis, scope) == {id_: len(one["questions"]) for id_, one in found.items()}
    vectors = redis.command("VCARD", keys.question_vectors(scope, made.ports.embedder.passage_model))
    assert vectors == sum(len(one["questions"]) for one in found.values())


def test_forget_purge_and_erasure_leave_no_question_in_any_store(
    mongo: MongoConnection, redis: RedisConnection, org: str
) -> None:
    redis.command("FLUSHDB")
    made, ana = with_questions(mongo, redis), caller(org, "ana", Role.ADMIN)
    memories = stored(made, org, 3)
    for memory in memories:
        made.tasks.run(to_text(WriteQuestions(scope_key=memory.scope_ref.key, id=memory.id, revision=1)))
    scope = memories[0].scope_ref.key
    assert len(sets(mongo, org)) == len(in_index(redis, scope)) == 3
    made.editor.forget(ana, memories[0].id)
    made.editor.purge(ana, memories[1].id)
    assert {one["memoryId"] for one in sets(mongo, org)} == in_index(redis, scope).keys() == {memories[2].id}
    assert made.ports.questions.erase(scope) == 1
    made.maintenance.rebuild(scope)
    named = [name.decode() for name in redis.command("KEYS", "*") if scope in name.decode()]
    assert [name for name in named if name.split(":")[1] in {"u", "w", "o"}] == []


def test_a_rebuild_brings_questions_back_and_they_find_their_memory(
    mongo: MongoConnection, redis: RedisConnection, org: str
) -> None:
    redis.command("FLUSHDB")
    made, ana = with_questions(mongo, redis), caller(org, "ana")
    (memory,) = stored(made, org, 1)
    scope = memory.scope_ref.key
    made.tasks.run(to_text(WriteQuestions(scope_key=scope, id=memory.id, revision=1)))
    redis.command("FLUSHDB")
    made.maintenance.rebuild(scope)
    assert in_index(redis, scope).keys() == {memory.id}
    (text, *_) = (question.text for question in made.ports.questions.of(ana.chain, [memory.id])[memory.id].questions)
    (hit,) = made.recall.recall(ana, RecallQuery(query=text))["hits"]
    assert "question" in hit["why"]


def test_one_message_of_a_batch_that_fails_comes_back_alone(
    mongo: MongoConnection, redis: RedisConnection, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.command("FLUSHDB")
    made = with_questions(mongo, redis)
    memories = stored(made, org, 3)
    texts = [to_text(WriteQuestions(scope_key=m.scope_ref.key, id=m.id, revision=1)) for m in memories]
    refused = made.prospective.write

    def writes(chain: Any, id_: str, revision: int) -> None:
        if id_ == memories[1].id:
            raise RuntimeError("told to fail")
        refused(chain, id_, revision)

    monkeypatch.setattr(made.prospective, "write", writes)
    bootstrap.use(made)
    try:
        answer = app.work_queue(sqs_event(**dict(zip("abc", texts, strict=True))), LambdaContext())
    finally:
        bootstrap.use(None)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "b"}]}
    assert {one["memoryId"] for one in sets(mongo, org)} == {memories[0].id, memories[2].id}
