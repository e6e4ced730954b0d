"""An erasure from its first moment to its receipt: what is refused, what is dropped, what may be cut off where."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.adapters.memory.personal import InMemoryPersonalTraces
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.docs import DocsExportRequest
from chalicelib.domain.erasure import Erasure, ErasureRecord, ErasureState, Person, Step
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.tasks import LearnPreferences, RebuildScope, to_text
from chalicelib.entrypoints.jobs import JOBS, Rota
from chalicelib.errors import BeingErased, Conflict, NotFound, StoreUnavailable
from chalicelib.export.tombstones import REFRESH_SECONDS, Tombstones
from chalicelib.ports import Browse
from tests.building import TestClock, caller, container
from tests.personal import fill

ANA = Person("acme", "ana")
ROOT = caller("acme", "root", Role.ADMIN)
GRACE = timedelta(seconds=120)


@pytest.fixture
def clock() -> TestClock:
    """The clock of `made`."""
    return TestClock()


@pytest.fixture
def made(clock: TestClock) -> Container:
    """The product over the twins."""
    return container(clock=clock)


def left(made: Container, person: Person = ANA) -> int:
    """How much is kept of a person now."""
    return made.personal.check.left(person, None, lambda: False).total


def finish(made: Container, clock: TestClock) -> Erasure:
    """Have the worker take the second look; the receipt then."""
    made.after_response.settle()
    clock.forward(seconds=GRACE.total_seconds())
    made.personal.erasing.work_on_all(lambda: False)
    record = made.personal.check.record(ANA)
    assert record.is_finished
    return record.receipt


def test_another_organizations_user_of_the_same_id_and_other_users_lose_nothing(
    made: Container, clock: TestClock
) -> None:
    fill(made.ports, "acme")
    fill(made.ports, "other")
    before = left(made, Person("other", "ana")), left(made, Person("acme", "bob"))
    made.personal.erasing.start(ROOT, "ana")
    finish(made, clock)
    assert left(made) == 0
    assert (left(made, Person("other", "ana")), left(made, Person("acme", "bob"))) == before


@pytest.mark.parametrize(
    "who", [caller("acme", "bob"), caller("other", "ana", Role.ADMIN), caller("acme", "bo", Role.REVIEWER)]
)
def test_for_everybody_else_there_is_no_such_user(made: Container, who: Any) -> None:
    fill(made.ports, "acme")
    before = left(made)
    if who.org_id == "acme":
        with pytest.raises(NotFound):
            made.personal.erasing.start(who, "ana")
    else:
        made.personal.erasing.start(who, "ana")
    with pytest.raises(NotFound):
        made.personal.erasing.start(ROOT, "nobody")
    assert left(made) == before
    assert made.ports.erasures.of(Person("acme", "nobody")) is None


def test_the_receipt_counts_names_nobody_and_a_second_one_says_zeros(made: Container, clock: TestClock) -> None:
    fill(made.ports, "acme")
    begun = made.personal.erasing.start(caller("acme", "ana"), "ana")
    assert begun.state is ErasureState.SETTLING
    assert begun.requested_by == begun.pseudonym
    done = finish(made, clock)
    assert (done.counts["memories"].removed, done.counts["shared_memories"].changed) == (3, 3)
    assert (done.counts["sessions"].removed, done.counts["messages"].removed) == (1, 3)
    assert done.counts["audit"].changed == 2
    assert "ana" not in made.personal.check.record(ANA).model_dump_json().replace("organ", "")
    again = made.personal.erasing.start(ROOT, "ana")
    assert (again.total, again.state) == (0, ErasureState.SETTLING)
    finish(made, clock)
    record = made.personal.check.record(ANA)
    assert (record.receipt.total, record.earlier) == (0, (done,))
    assert record.receipt.pseudonym != done.pseudonym
    events = [e for e in made.ports.audit.list("acme", None, 50).items if e.action == "erase_user"]
    assert [(e.actor, e.target) for e in events][-1] == (done.pseudonym, done.pseudonym)


def test_what_they_wrote_for_others_stays_without_them(made: Container) -> None:
    fill(made.ports, "acme")
    receipt = made.personal.erasing.start(ROOT, "ana")
    space = caller("acme", "bob", spaces=("red",)).chain
    rows = {m.content: m for m in made.ports.store.browse(space, Browse()).items}
    assert sorted(rows) == ["I live in Porto", "bob alone", "bob is here", "the team meets at noon"]
    theirs = rows["the team meets at noon"]
    named = (theirs.user_id, theirs.edited_by, theirs.promoted_by, theirs.history[0].edited_by)
    assert set(named) == {receipt.pseudonym}
    said = rows["I live in Porto"]
    assert said.origin
    assert said.origin.speaker == receipt.pseudonym
    assert said.admission == {"trustedBy": receipt.pseudonym}
    assert rows["bob is here"].claims[0].subject != "ana"
    assert "ana" not in str(rows.values())


def test_with_delete_what_they_wrote_goes_and_what_they_only_touched_stays(made: Container) -> None:
    fill(made.ports, "acme")
    made.personal.erasing.start(ROOT, "ana", "delete")
    space = caller("acme", "bob", spaces=("red",)).chain
    rows = [m.content for m in made.ports.store.browse(space, Browse()).items]
    assert sorted(rows) == ["I live in Porto", "bob alone", "bob is here"]
    with pytest.raises(Conflict):
        made.personal.erasing.start(ROOT, "ana", "keep")


def test_a_session_of_theirs_alone_goes_and_one_with_others_passes_on_and_loses_its_genome(made: Container) -> None:
    alone, together = fill(made.ports, "acme")
    made.personal.erasing.start(ROOT, "ana")
    assert made.ports.sessions.get("acme", alone.id) is None
    stays = made.ports.sessions.get("acme", together.id)
    assert stays
    assert stays.owner == "bob"
    assert made.ports.genomes.load(together.key) is None
    assert made.ports.user_genomes.load("acme", "bob")


def test_from_the_first_moment_on_nothing_is_taken_for_them_and_afterwards_they_may_come_back(
    made: Container, clock: TestClock
) -> None:
    fill(made.ports, "acme")
    ana = caller("acme", "ana")
    made.tombstones.refuse(ana)
    made.personal.erasing.start(ROOT, "ana")
    with pytest.raises(BeingErased):
        made.tombstones.refuse(ana)
    made.tombstones.refuse(caller("acme", "bob"))
    made.tombstones.refuse(caller("other", "ana"))
    finish(made, clock)
    made.tombstones.refuse(ana)
    made.remember.remember(ana, [{"content": "Ana is back in Porto"}], key=None, single=True)
    assert left(made) > 0


def test_another_process_knows_within_seconds_and_asks_no_more_often_than_that(
    made: Container, clock: TestClock
) -> None:
    asked: list[int] = []
    seconds = [0.0]

    class Counting:
        def tombstones(self, since: Any) -> Any:
            asked.append(1)
            return made.ports.erasures.tombstones(since)

    elsewhere = Tombstones(Counting(), clock, made.ports.telemetry, lambda: seconds[0])  # type: ignore[arg-type]
    elsewhere.refuse(caller("acme", "ana"))
    fill(made.ports, "acme")
    made.personal.erasing.start(ROOT, "ana")
    for _ in range(100):
        elsewhere.refuse(caller("acme", "ana"))
    assert len(asked) == 1
    seconds[0] += REFRESH_SECONDS
    with pytest.raises(BeingErased):
        elsewhere.refuse(caller("acme", "ana"))
    assert len(asked) == 2


def test_what_was_on_its_way_goes_with_the_second_look_and_is_counted(made: Container, clock: TestClock) -> None:
    fill(made.ports, "acme")
    first = made.personal.erasing.start(ROOT, "ana")
    made.remember.remember(caller("acme", "ana"), [{"content": "Ana was a second late"}], key="k2", single=True)
    assert left(made) > 0
    done = finish(made, clock)
    assert left(made) == 0
    assert done.counts["memories"].removed == first.counts["memories"].removed + 1
    assert done.counts["receipts"].removed == first.counts["receipts"].removed + 1


def test_work_that_was_queued_before_is_dropped_and_work_of_one_who_came_back_is_done(
    made: Container, clock: TestClock
) -> None:
    fill(made.ports, "acme")
    late = to_text(RebuildScope(scope_key=ANA.scope_key))
    learn = to_text(LearnPreferences(scope_key=ANA.scope_key, ids=("mem_1",)))
    made.personal.erasing.start(ROOT, "ana")
    finish(made, clock)
    for text in (late, learn):
        made.tasks.run(text)
    assert left(made) == 0
    assert made.ports.hot
    assert ANA.scope_key not in str(vars(made.ports.hot))
    made.remember.remember(caller("acme", "ana"), [{"content": "Ana is back in Porto"}], key=None, single=True)
    made.tasks.run(late)
    assert made.recall.recall(caller("acme", "ana"), RecallQuery(query="where is Ana?"))["hits"]


def one_step() -> Callable[[], bool]:
    """Time for a single step."""
    asked = iter((False,))
    return lambda: next(asked, True)


def test_it_may_be_cut_off_after_any_step_and_comes_to_the_same_receipt(clock: TestClock) -> None:
    whole, cut = container(clock=clock), container(clock=clock)
    for made in (whole, cut):
        fill(made.ports, "acme")
    expected = whole.personal.erasing.start(ROOT, "ana")
    expected = finish(whole, clock)
    record = cut.personal.erasing.begin(ANA, "root", "keep")
    steps = 0
    while not (record := found(cut)).is_finished:
        again = Container(cut.settings, cut.ports)  # another process
        clock.forward(minutes=3)
        steps += again.personal.erasing.work_on_all(one_step())
    assert steps == 2 * len(expected.counts) + record.receipt.counts["recall_audit"].removed
    assert record.receipt.counts == expected.counts
    assert left(cut) == 0


def found(made: Container) -> ErasureRecord:
    """The record of ana's erasure."""
    return made.personal.check.record(ANA)


class Away(InMemoryPersonalTraces):
    """A fast store that is down until it is told to be there."""

    is_down = True

    def erase(self, person: Person, kind: str, after: str | None, limit: int) -> Step:
        """As the twin, once it is there."""
        if self.is_down:
            raise StoreUnavailable("redis", "down")
        return super().erase(person, kind, after, limit)


def test_a_store_that_is_down_keeps_it_from_ending_and_hinders_no_other(clock: TestClock) -> None:
    made = container(clock=clock)
    ports = made.ports
    away = Away(ports.hot, ports.queue, ports.cache)  # type: ignore[arg-type]
    made = container(**vars(ports) | {"traces": away})
    fill(made.ports, "acme")
    assert made.personal.erasing.start(ROOT, "ana").state is ErasureState.ERASING
    assert made.personal.erasing.work_on_all(lambda: False) == 0
    assert "erasure_paused" in [name for name, _ in made.ports.telemetry.events]  # type: ignore[attr-defined]
    away.is_down = False
    clock.forward(minutes=2)
    assert Rota(made, tuple(job for job in JOBS if job.name == "erase")).once()["erase"] > 0
    assert left(made) == 0


class AwayDocs(InMemoryDocsTarget):
    """A docs service that may be down."""

    is_down = False

    def exists(self, org_id: str) -> bool:
        if self.is_down:
            raise StoreUnavailable("docs", "down")
        return super().exists(org_id)


def test_what_was_exported_of_their_scope_is_taken_back_and_an_erasure_waits_for_that(clock: TestClock) -> None:
    docs = AwayDocs()
    made = container(clock=clock, docs_target=docs)
    for user in ("ana", "bob"):
        made.remember.remember(caller("acme", user), [{"content": f"{user} lives in Porto"}], key=None, single=True)
    made.docs_exporter.start("acme", DocsExportRequest(users=True))
    assert {path.split("/")[1] for path in docs.files["acme"] if path.startswith("users/")} == {"ana", "bob"}
    docs.is_down = True
    assert made.personal.erasing.start(ROOT, "ana").state is ErasureState.ERASING
    docs.is_down = False
    clock.forward(minutes=2)
    made.personal.erasing.work_on_all(lambda: False)
    receipt = finish(made, clock)
    assert receipt.counts["docs_files"].removed > 0
    assert {path.split("/")[1] for path in docs.files["acme"] if path.startswith("users/")} == {"bob"}
    assert left(made) == 0


def test_a_check_may_be_gone_on_with_from_its_cursor(made: Container) -> None:
    fill(made.ports, "acme")
    whole = made.personal.check.left(ANA, None, lambda: False)
    total, cursor, calls = 0, None, 0
    while True:
        part = made.personal.check.left(ANA, cursor, one_step())
        total, cursor, calls = total + part.total, part.cursor, calls + 1
        if cursor is None:
            break
    assert (total, calls) == (whole.total, len(whole.counts))


def test_a_shared_memory_whose_speaker_was_erased_is_embedded_anew(made: Container, clock: TestClock) -> None:
    bob = caller("acme", "bob", spaces=("red",))
    item = {
        "content": "the gate code changes on Monday",
        "scope": "space",
        "scopeId": "red",
        "origin": {"speaker": "ana"},
    }
    made.remember.remember(bob, [item], key=None, single=True)
    receipt = made.personal.erasing.start(ROOT, "ana")
    (hit,) = made.recall.recall(bob, RecallQuery(query="when does the gate code change?"))["hits"]
    assert hit["memory"]["origin"]["speaker"] == receipt.pseudonym
    clock.forward(minutes=5)
    made.maintenance.retry_pending()
    (row,) = made.ports.store.fetch(bob.chain, [hit["memory"]["id"]], with_vectors=True)
    assert row.memory.embedding
