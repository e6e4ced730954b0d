"""Messages: read strictly, worked on within their scope alone, repeated without harm, and said when they fail."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.queue import InMemoryTaskQueue
from chalicelib.bootstrap import Container
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.tasks import (
    MAX_TEXT_BYTES,
    TASK_MODELS,
    IndexRows,
    RebuildScope,
    Task,
    from_text,
    kind_of,
    to_text,
)
from chalicelib.errors import EmbeddingFailed, InvalidInput, StoreUnavailable, TooLarge
from chalicelib.settings import QueueSettings
from chalicelib.write.tasks import FAILURES_IN_A_ROW, LONGEST_DELAY_SECONDS, TaskConsumer, TaskRunner, backoff
from tests.building import AWKWARD_IDS, TestClock, caller, container, no_questions, row
from tests.unit.fake_secrets import AWS_KEY

ANA = caller("acme", "ana")
SCOPE = "acme/user/ana"
QUERY = RecallQuery(query="where does Ana live?")


SETTLE = '{"kind": "settle_session", "scopeKey": "acme/organization/acme", "sessionKey": "%s", "ids": %s}'


def runner_of(made: Container, kind: type[TaskRunner] = TaskRunner) -> TaskRunner:
    """A runner over the services."""
    return kind(
        made.maintenance,
        made.prospective,
        made.backfill,
        made.preferences,
        made.ports.queue,
        settle_session=made.conversation.settler.settle,
        recompile_user=made.recompiles.user,
        recompile_session=made.recompiles.session,
        export_docs=made.docs_exporter.go_on,
    )


@pytest.mark.parametrize("user", AWKWARD_IDS)
def test_a_task_is_read_as_it_was_written_whatever_the_ids(user: str) -> None:
    scope_key = caller("acme", user).chain.keys[-1]
    for task in (IndexRows(scope_key=scope_key, ids=("mem_1", user)), RebuildScope(scope_key=scope_key)):
        text = to_text(task)
        assert from_text(text) == task
        assert text.isascii()
        assert task.chain.keys == (scope_key,)
        assert kind_of(text) == task.kind


def recompile_session(session_key: str) -> str:
    """A message about the genome of that session."""
    asked = {"kind": "recompile_session_genome", "scopeKey": SCOPE, "sessionKey": session_key, "version": 10}
    return json.dumps(asked)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("", "task"),
        ("{", "task"),
        ("[1]", "task"),
        ("[" * 100_000, "task"),
        ("{}", "kind"),
        ('{"kind": ["index_rows"]}', "kind"),
        ('{"kind": "drop_everything", "scopeKey": "acme/user/ana"}', "kind"),
        ('{"kind": "index_rows", "ids": ["mem_1"]}', "scopeKey"),
        ('{"kind": "index_rows", "scopeKey": "acme/user/ana"}', "ids"),
        ('{"kind": "index_rows", "scopeKey": "acme/user/ana", "ids": []}', "ids"),
        ('{"kind": "index_rows", "scopeKey": "acme/user/ana", "ids": [""]}', "ids.0"),
        (json.dumps({"kind": "index_rows", "scopeKey": "acme/user/ana", "ids": ["m"] * 101}), "ids"),
        ('{"kind": "index_rows", "scopeKey": "acme/user/ana", "ids": ["m"], "orgId": "other"}', "orgId"),
        ('{"kind": "learn_preferences", "scopeKey": "acme/user/ana", "ids": []}', "ids"),
        ('{"kind": "learn_preferences", "scopeKey": "acme/user/ana", "ids": ["m"], "userId": "bob"}', "userId"),
        ('{"kind": "backfill", "scopeKey": "acme/user/ana"}', "scopeKey"),
        ('{"kind": "recompile_user_genome", "scopeKey": "acme/user/ana"}', "version"),
        ('{"kind": "recompile_user_genome", "scopeKey": "acme/user/ana", "version": 0}', "version"),
        ('{"kind": "recompile_user_genome", "scopeKey": "acme/space/red", "version": 5}', "scopeKey"),
        (recompile_session("other/session/x"), "sessionKey"),
        (recompile_session("acme/user/ana"), "sessionKey"),
        (recompile_session("acme"), "sessionKey"),
        (recompile_session(""), "sessionKey"),
        ('{"kind": "backfill", "scopeKey": "acme/organization/other"}', "scopeKey"),
        (SETTLE % ("acme/session/ses_1", "[]"), "ids"),
        (SETTLE % ("other/session/ses_1", '["m"]'), "sessionKey"),
        (SETTLE % ("acme/user/ana", '["m"]'), "sessionKey"),
        (SETTLE % ("acme/session/", '["m"]'), "sessionKey"),
        (SETTLE % ("acme/session/ses_1/m", '["m"]'), "sessionKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/user"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/team/ana"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/user/"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "/user/ana"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/user/a b"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/user/ana/x"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": "acme/user/%0A"}', "scopeKey"),
        ('{"kind": "rebuild_scope", "scopeKey": 5}', "scopeKey"),
    ],
)
def test_what_is_no_task_is_refused_by_the_field_that_is_wrong(text: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_text(text)
    assert refused.value.field == field
    assert kind_of(text) == "unreadable"


def test_a_task_over_the_limit_of_a_message_is_refused() -> None:
    with pytest.raises(TooLarge, match=str(MAX_TEXT_BYTES)):
        to_text(RebuildScope.model_construct(scope_key="a" * MAX_TEXT_BYTES))


def test_every_kind_has_a_handler() -> None:
    assert set(container().tasks._handlers) == set(get_args(Task)) == set(TASK_MODELS.values())


def pending(*contents: str, **ports: Any) -> tuple[Container, TermEmbedder, list[str]]:
    """Services whose embedder was down while these were remembered, the embedder, which is well again, and the ids."""
    embedder = TermEmbedder()
    made = container(embedder=embedder, switches=no_questions(), **ports)
    embedder.fail = True
    items: list[Mapping[str, Any]] = [{"content": text} for text in contents]
    receipts = made.remember.remember(ANA, items, key=None, single=False)
    embedder.fail = False
    return made, embedder, [receipt["id"] for receipt in receipts]


def messages(made: Container) -> list[Task]:
    """Everything that waits on the queue, due or not."""
    queue = made.ports.queue
    assert isinstance(queue, InMemoryTaskQueue)
    return [from_text(message.text) for message in queue._live.values()]


def states(made: Container, ids: list[str]) -> set[str]:
    """The index states of ana's memories."""
    return {one.memory.index_state.value for one in made.ports.store.fetch(ANA.chain, ids)}


def told(made: Container, *names: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of these names."""
    events: list[tuple[str, dict[str, Any]]] = made.ports.telemetry.events  # type: ignore[attr-defined]
    return [(name, fields) for name, fields in events if name in names]


def drained(made: Container, clock: TestClock) -> tuple[int, int, int]:
    """What a consumer makes of the queue once everything on it is due."""
    clock.forward(seconds=LONGEST_DELAY_SECONDS + 1)
    found = made.consumer.drain()
    return found.done, found.failed, found.died


def test_rows_that_could_not_be_embedded_are_one_message_a_scope_and_indexed_by_it() -> None:
    clock = TestClock()
    made, _, ids = pending("Ana lives in Porto", "Ana plays the cello", clock=clock)
    assert messages(made) == [IndexRows(scope_key=SCOPE, ids=tuple(ids))]
    assert made.consumer.drain().done == 0  # the delay
    assert drained(made, clock) == (1, 0, 0)
    assert states(made, ids) == {"indexed"}
    assert made.recall.recall(ANA, QUERY)["hits"][0]["scores"]["cosine"] is not None
    assert messages(made) == []


def test_each_scope_has_a_message_of_its_own() -> None:
    embedder = TermEmbedder()
    made, ana = container(embedder=embedder, switches=no_questions()), caller("acme", "ana", spaces=("x",))
    embedder.fail = True
    items: list[Mapping[str, Any]] = [
        {"content": "for me"},
        {"content": "for us", "scope": "space", "scopeId": "x"},
        {"content": ""},
    ]
    receipts = made.remember.remember(ana, items, key="k", single=False)
    assert sorted(map(str, messages(made))) == sorted(
        map(
            str,
            (
                IndexRows(scope_key=SCOPE, ids=(receipts[0]["id"],)),
                IndexRows(scope_key="acme/space/x", ids=(receipts[1]["id"],)),
            ),
        )
    )
    made.remember.remember(ana, items, key="k", single=False)
    assert len(messages(made)) == 2, "a repeat sends nothing"


def test_nothing_is_sent_where_nothing_is_pending() -> None:
    made = container()
    (receipt,) = made.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    made.editor.edit(ANA, receipt["id"], {"tags": ["home"]}, 1)
    made.editor.forget(ANA, receipt["id"])
    assert [task for task in messages(made) if isinstance(task, IndexRows)] == []


def test_an_edit_that_could_not_be_embedded_is_a_message() -> None:
    embedder, clock = TermEmbedder(), TestClock()
    made = container(embedder=embedder, clock=clock)
    (receipt,) = made.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    embedder.fail = True
    made.editor.edit(ANA, receipt["id"], {"content": "Ana lives in Lisbon"}, 1)
    tasks = [task for task in messages(made) if isinstance(task, IndexRows)]
    assert tasks == [IndexRows(scope_key=SCOPE, ids=(receipt["id"],))]
    embedder.fail = False
    assert drained(made, clock)[1:] == (0, 0)
    assert states(made, [receipt["id"]]) == {"indexed"}


class FullQueue(InMemoryTaskQueue):
    """A queue that takes nothing."""

    def put(self, *_: Any) -> None:
        raise StoreUnavailable("redis", "its task queue is full")


def test_a_queue_that_takes_nothing_fails_no_request_and_is_said() -> None:
    made, _, ids = pending("Ana lives in Porto", queue=FullQueue(TestClock()))
    assert states(made, ids) == {"pending"}
    ((_, said),) = told(made, "tasks_not_queued")
    assert "full" in said["reason"]
    assert made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE) == 1


def test_without_a_queue_the_schedule_finds_what_is_pending() -> None:
    made, _, ids = pending("Ana lives in Porto", queue=None)
    assert (made.consumer.drain().done, made.consumer.report_dead_letters()) == (0, 0)
    assert made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE) == 1
    assert states(made, ids) == {"indexed"}


def test_upkeep_sends_no_messages() -> None:
    made, embedder, _ = pending("Ana lives in Porto", queue=InMemoryTaskQueue(TestClock()))
    before = messages(made)
    embedder.fail = True
    made.maintenance.retry_pending(grace=made.maintenance.NO_GRACE)
    with pytest.raises(EmbeddingFailed):
        made.tasks.run(to_text(before[0]))
    assert messages(made) == before


def test_a_repeat_changes_nothing_in_any_store_and_asks_the_embedder_for_nothing() -> None:
    made, embedder, ids = pending("Ana lives in Porto")
    text = to_text(IndexRows(scope_key=SCOPE, ids=tuple(ids)))
    made.tasks.run(text)
    after, calls = made.ports.store.fetch(ANA.chain, ids, with_vectors=True), embedder.calls
    assert made.ports.hot
    assert made.ports.hot.changed() == [(SCOPE, 1)]
    made.tasks.run(text)
    assert made.ports.hot.changed() == []
    assert made.ports.store.fetch(ANA.chain, ids, with_vectors=True) == after
    assert embedder.calls == calls


def test_rows_that_are_gone_or_never_were_are_nothing() -> None:
    made, embedder, ids = pending("Ana lives in Porto")
    made.ports.store.purge(ANA.chain, ids[0])
    calls = embedder.calls
    made.tasks.run(to_text(IndexRows(scope_key=SCOPE, ids=(*ids, "mem_none"))))
    assert embedder.calls == calls
    assert made.ports.store.fetch(ANA.chain, ids) == []


@pytest.mark.parametrize("scope_key", ["other/user/ana", "acme/user/bob", "acme/space/ana", "acme/organization/acme"])
def test_a_message_of_another_scope_reaches_no_row_by_naming_its_id(scope_key: str) -> None:
    made, embedder, ids = pending("Ana lives in Porto")
    before, calls = made.ports.store.fetch(ANA.chain, ids, with_vectors=True), embedder.calls
    made.tasks.run(to_text(IndexRows(scope_key=scope_key, ids=tuple(ids))))
    assert made.ports.store.fetch(ANA.chain, ids, with_vectors=True) == before
    assert embedder.calls == calls


def test_a_row_that_is_not_active_is_settled_without_a_vector() -> None:
    made, embedder, ids = pending("Ana lives in Porto")
    embedder.fail = True
    made.editor.forget(ANA, ids[0])
    made.tasks.run(to_text(IndexRows(scope_key=SCOPE, ids=tuple(ids))))
    assert states(made, ids) == {"indexed"}


class UnreachableIndex(InMemoryHotIndex):
    """An index that can be told nothing."""

    def apply(self, *_: Any) -> None:
        raise StoreUnavailable("redis", "no answer")


def test_a_message_fails_where_the_embedder_or_the_index_does() -> None:
    made, embedder, ids = pending("Ana lives in Porto")
    text = to_text(IndexRows(scope_key=SCOPE, ids=tuple(ids)))
    embedder.fail = True
    with pytest.raises(EmbeddingFailed, match="1 of 1"):
        made.tasks.run(text)
    made, _, ids = pending("Ana lives in Porto", hot=UnreachableIndex())
    with pytest.raises(StoreUnavailable, match="redis"):
        made.tasks.run(to_text(IndexRows(scope_key=SCOPE, ids=tuple(ids))))


def test_a_scope_is_rebuilt_by_its_message() -> None:
    made = container()
    made.ports.store.insert([row()])
    made.tasks.run(to_text(RebuildScope(scope_key=SCOPE)))
    answer = made.recall.recall(ANA, QUERY)
    assert answer["hits"][0]["tier"] == "redis_vectors"


def test_a_task_that_fails_comes_again_ever_later_and_dies_after_its_attempts_and_all_is_said() -> None:
    clock = TestClock()
    queue = InMemoryTaskQueue(clock, QueueSettings(attempts=3))
    made, embedder, ids = pending("Ana lives in Porto", clock=clock, queue=queue)
    embedder.fail = True
    assert [drained(made, clock) for _ in range(4)] == [(0, 1, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)]
    failed = [said for _, said in told(made, "task_failed")]
    assert [said["attempt"] for said in failed] == [1, 2, 3]
    assert {said["kind"] for said in failed} == {"index_rows"}
    assert all("could not be embedded" in said["reason"] for said in failed)
    ((_, died),) = told(made, "task_died")
    assert died["level"] == "error"
    assert died["message_id"] == queue.dead_letters(1)[0].id
    embedder.fail = False
    assert queue.redrive() == 1
    assert drained(made, clock) == (1, 0, 0)
    assert states(made, ids) == {"indexed"}


def test_the_wait_between_attempts_grows_to_a_quarter_of_an_hour() -> None:
    assert [backoff(attempt) for attempt in (1, 2, 3, 7, 1000)] == [5, 15, 45, 900, 900]


def test_messages_that_cannot_be_read_hold_up_no_other() -> None:
    clock = TestClock()
    queue = InMemoryTaskQueue(clock, QueueSettings(attempts=2))
    queue.put(["{", "nonsense", '{"kind": "other"}', "[]", ""])
    made, _, ids = pending("Ana lives in Porto", clock=clock, queue=queue)
    assert drained(made, clock) == (1, 5, 0)
    assert states(made, ids) == {"indexed"}
    assert drained(made, clock) == (0, 0, 5)
    assert {said["kind"] for _, said in told(made, "task_died")} == {"unreadable"}


def test_an_outage_costs_no_message_of_a_long_queue_more_than_a_try() -> None:
    clock = TestClock()
    made, embedder, ids = pending("Ana lives in Porto", clock=clock)
    assert made.ports.queue
    made.ports.queue.send([IndexRows(scope_key=SCOPE, ids=tuple(ids))] * 20)
    embedder.fail = True
    assert drained(made, clock) == (0, FAILURES_IN_A_ROW, 0)
    embedder.fail = False
    assert drained(made, clock) == (21, 0, 0)


def test_draining_ends_when_its_time_is_over() -> None:
    clock = TestClock()
    made, _, _ = pending("Ana lives in Porto", clock=clock)
    assert made.ports.queue
    made.ports.queue.send([RebuildScope(scope_key=SCOPE)] * 10)

    class Slow(TaskRunner):
        def run(self, *_: str) -> None:
            clock.forward(seconds=2)

    p = made.ports
    consumer = TaskConsumer(
        queue=p.queue,
        runner=runner_of(made, Slow),
        telemetry=p.telemetry,
        clock=clock,
    )
    assert consumer.drain(seconds=5).done == 3
    assert consumer.drain(limit=2, seconds=500).done == 2


def test_an_unexpected_failure_of_one_message_stops_no_other_and_its_text_is_not_logged() -> None:
    clock = TestClock()
    made, _, _ = pending("Ana lives in Porto", clock=clock)
    assert made.ports.queue
    made.ports.queue.send([RebuildScope(scope_key=SCOPE)] * 4)

    class Broken(TaskRunner):
        def run(self, *_: str) -> None:
            raise RuntimeError(AWS_KEY)

    clock.forward(minutes=1)
    p = made.ports
    consumer = TaskConsumer(
        queue=p.queue,
        runner=runner_of(made, Broken),
        telemetry=p.telemetry,
        clock=clock,
    )
    assert consumer.drain().failed == 5
    said = told(made, "task_failed")
    assert all(fields["reason"].startswith("RuntimeError at ") for _, fields in said)
    assert AWS_KEY not in str(said)


def test_dead_letters_of_consumers_that_died_are_said_once() -> None:
    clock = TestClock()
    queue = InMemoryTaskQueue(clock, QueueSettings(attempts=1))
    made = container(clock=clock, queue=queue)
    queue.send([RebuildScope(scope_key=SCOPE)])
    queue.receive(1)
    clock.now += timedelta(hours=1)
    assert made.consumer.drain().done == 0
    assert [made.consumer.report_dead_letters() for _ in range(2)] == [1, 0]
    ((_, said),) = told(made, "dead_letters")
    assert (said["dead"], said["level"]) == (1, "error")
