"""The quarantine sweep against a clock, on every store: the days and the similarity of the spec, twice the same."""

from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import Memory, Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import cosine
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import MemoryStore
from tests.building import EMBEDDER, NOW, TestClock, caller, row
from tests.contract.retention_steps import (
    CLAIM,
    HELD,
    SAME_IN_OTHER_WORDS,
    UNRELATED,
    Killed,
    admitted,
    after_times,
    days_ago,
    events,
    held,
    killed_at,
    over,
    present,
    told,
)

FATES = {"promoted": Status.ACTIVE, "kept": Status.QUARANTINED, "deleted": None}
HOUR = 1 / 24


def fate(store: MemoryStore, stored: StoredMemory) -> Status | None:
    """What a row is now; None where it is gone."""
    memory = present(store, stored)
    return memory.status if memory else None


def test_the_texts_of_these_tests_are_as_near_as_they_claim() -> None:
    def similarity(text: str) -> float:
        ((vector,),) = EMBEDDER.embed_passages([text])
        return EMBEDDER.similarity(cosine(vector, EMBEDDER.embed_query(CLAIM)))

    assert similarity(SAME_IN_OTHER_WORDS) > 0.8 > similarity(UNRELATED)


@pytest.mark.parametrize(
    ("days", "matched", "unmatched"),
    [
        (29, "kept", "kept"),
        (30 - HOUR, "kept", "kept"),
        (30, "promoted", "kept"),
        (31, "promoted", "kept"),
        (89, "promoted", "kept"),
        (90, "promoted", "kept"),
        (90 + HOUR, "promoted", "deleted"),
        (91, "promoted", "deleted"),
    ],
)
def test_days_and_a_match_decide_and_a_second_run_changes_nothing(
    empty_store: MemoryStore, org: str, days: float, matched: str, unmatched: str
) -> None:
    services = over(empty_store)
    other = new_id("org")
    with_match, without = held(org, days), held(other, days)
    empty_store.insert([with_match, without, admitted(org, 10), admitted(other, 10, UNRELATED)])
    report = services.sweep.run()
    assert (fate(empty_store, with_match), fate(empty_store, without)) == (FATES[matched], FATES[unmatched])
    looked_at = [matched, unmatched] if days >= 30 else []
    counts = report.body()
    assert {name: counts[name] for name in FATES} == {name: looked_at.count(name) for name in FATES}
    assert (report.finished, report.undecided, report.overtaken) == (True, 0, 0)
    before = [present(empty_store, each) for each in (with_match, without)], told(services, org), told(services, other)
    again = services.sweep.run()
    after = [present(empty_store, each) for each in (with_match, without)], told(services, org), told(services, other)
    assert after == before
    assert again.done == 0


@pytest.mark.parametrize(
    "evidence",
    [
        {"admitted_at": days_ago(31)},
        {"admitted_at": days_ago(30 + HOUR)},
        {"admitted_at": None},
        {"status": Status.ARCHIVED},
        {"status": Status.QUARANTINED, "quarantined_at": days_ago(2)},
        {"scope_id": "bob"},
        {"scope": Scope.SPACE},
        {"expires_at": days_ago(1)},
        {"org_id": "another"},
        {"content": UNRELATED},
        {"promoted_by": "system"},
    ],
    ids=str,
)
def test_what_is_no_match_promotes_nothing(empty_store: MemoryStore, org: str, evidence: dict[str, Any]) -> None:
    services = over(empty_store)
    young, old = held(org, 60), held(org, 91, f"{CLAIM} again")
    fields: dict[str, Any] = {"content": SAME_IN_OTHER_WORDS, "admitted_at": days_ago(10), "org_id": org} | evidence
    empty_store.insert([young, old, row(**fields)])
    report = services.sweep.run()
    assert (report.promoted, report.kept, report.deleted) == (0, 1, 1)
    assert fate(empty_store, young) is Status.QUARANTINED
    assert fate(empty_store, old) is None


def test_a_match_of_exactly_30_days_ago_counts(empty_store: MemoryStore, org: str) -> None:
    services, waiting = over(empty_store), held(org, 31)
    empty_store.insert([waiting, admitted(org, 30)])
    assert services.sweep.run().promoted == 1


@pytest.mark.parametrize(("days", "expected"), [(31, "kept"), (90, "kept"), (91, "deleted")])
def test_what_was_held_for_injection_is_never_promoted(
    empty_store: MemoryStore, org: str, days: int, expected: str
) -> None:
    services, waiting = over(empty_store), held(org, days, quarantine_reason="injection")
    empty_store.insert([waiting, admitted(org, 1)])
    services.sweep.run()
    assert fate(empty_store, waiting) is FATES[expected]


def test_a_row_without_a_time_of_quarantine_waits_since_it_was_stored(empty_store: MemoryStore, org: str) -> None:
    rows = [row(f"{UNRELATED} {days}", org_id=org, created_at=days_ago(days), **HELD) for days in (29, 31, 91)]
    empty_store.insert(rows)
    report = over(empty_store).sweep.run()
    assert [fate(empty_store, each) for each in rows] == [Status.QUARANTINED, Status.QUARANTINED, None]
    assert (report.kept, report.deleted) == (1, 1)


def test_a_row_that_was_edited_waits_since_then_unless_it_says_since_when(empty_store: MemoryStore, org: str) -> None:
    edits = [
        row("edited lately", org_id=org, created_at=days_ago(300), edited_at=days_ago(29), **HELD),
        row("edited long ago", org_id=org, created_at=days_ago(300), edited_at=days_ago(91), **HELD),
        held(org, 91, "held long ago", edited_at=days_ago(1)),
    ]
    empty_store.insert(edits)
    assert over(empty_store).sweep.run().deleted == 2
    assert [fate(empty_store, each) for each in edits] == [Status.QUARANTINED, None, None]


def test_a_promoted_row_is_active_found_and_says_why(empty_store: MemoryStore, org: str) -> None:
    services, waiting, match = over(empty_store), held(org, 31), admitted(org, 1)
    empty_store.insert([waiting, match])
    services.sweep.run()
    memory = present(empty_store, waiting)
    assert memory is not None
    assert (memory.status, memory.admitted_at, memory.promoted_by) == (Status.ACTIVE, NOW, "system")
    assert (memory.quarantine_reason, memory.quarantined_at) == ("score", None)
    hot: Any = services.ports.hot
    assert waiting.memory.id in hot._rows[waiting.memory.scope_ref.key]
    (event,) = events(services, org)
    assert (event.action, event.actor, event.target) == ("sweep_promoted", "system", waiting.memory.id)
    assert event.details["match"] == match.memory.id
    assert 0.8 < event.details["similarity"] <= 1


def test_events_hold_no_content(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    empty_store.insert([held(org, 31), held(org, 91, UNRELATED), admitted(org, 1)])
    services.sweep.run()
    said = str([event.model_dump() for event in events(services, org)])
    assert [event.action for event in events(services, org)].count("sweep_deleted") == 1
    assert not any(word in said for word in ("Porto", "deployments", "Fridays"))


def test_rows_bear_each_other_out_in_no_chain(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    near, far = held(org, 31, "Ana lives in Porto near the old market"), held(org, 31, "an old market in Braga opens")
    empty_store.insert([near, far, admitted(org, 1, "Ana lives in Porto near the river")])
    reports = [services.sweep.run(), services.sweep.run()]
    assert [report.promoted for report in reports] == [1, 0]
    assert fate(empty_store, far) is Status.QUARANTINED


def test_a_person_undoes_what_the_sweep_promoted_and_the_wait_begins_anew(empty_store: MemoryStore, org: str) -> None:
    clock = TestClock()
    services, waiting = over(empty_store, clock=clock), held(org, 91)
    empty_store.insert([waiting, admitted(org, 1)])
    services.sweep.run()
    services.reviewer.undo_promote(caller(org, "ana", Role.ADMIN), waiting.memory.id)
    assert services.sweep.run().done == 0
    clock.forward(days=29)
    assert services.sweep.run().done == 0
    assert fate(empty_store, waiting) is Status.QUARANTINED


def test_a_dry_run_says_what_a_run_would_do_and_changes_nothing(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    rows = [held(org, 31), held(org, 91, UNRELATED), held(org, 40, "tea at four")]
    empty_store.insert([*rows, admitted(org, 1)])
    before = [present(empty_store, each) for each in rows]
    dry = services.sweep.run(dry_run=True)
    assert [present(empty_store, each) for each in rows] == before
    assert events(services, org) == []
    assert dry.done == 0
    wet = services.sweep.run()
    assert (dry.promoted, dry.deleted, dry.kept) == (wet.promoted, wet.deleted, wet.kept) == (1, 1, 1)


@pytest.mark.parametrize("days", [31, 91])
def test_a_row_that_cannot_be_embedded_is_left_and_counted(empty_store: MemoryStore, org: str, days: int) -> None:
    embedder = TermEmbedder()
    services, waiting = over(empty_store, embedder=embedder), held(org, days, vectors=False)
    empty_store.insert([waiting, admitted(org, 1)])
    embedder.fail = True
    report = services.sweep.run()
    assert (report.undecided, report.done) == (1, 0)
    assert fate(empty_store, waiting) is Status.QUARANTINED
    embedder.fail = False
    assert services.sweep.run().promoted == 1


def test_without_any_evidence_no_vector_is_needed_to_know_that_nothing_matches(
    empty_store: MemoryStore, org: str
) -> None:
    embedder = TermEmbedder()
    embedder.fail = True
    services, waiting = over(empty_store, embedder=embedder), held(org, 91, vectors=False)
    empty_store.insert([waiting, admitted(org, 40)])
    assert services.sweep.run().deleted == 1


@pytest.mark.parametrize("vectors", [False, "of another model"])
def test_nothing_is_deleted_while_evidence_cannot_be_compared(empty_store: MemoryStore, org: str, vectors: Any) -> None:
    services, waiting = over(empty_store), held(org, 91)
    evidence = admitted(org, 1, vectors=False)
    if vectors:
        other = admitted(org, 1).memory.embedding
        assert other
        evidence = admitted(org, 1, embedding=other.model_copy(update={"model": "another@256"}))
    empty_store.insert([waiting, evidence])
    report = services.sweep.run()
    assert (report.undecided, report.deleted) == (1, 0)
    assert fate(empty_store, waiting) is Status.QUARANTINED


def test_the_best_chunk_of_each_decides(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)

    def of(*texts: str) -> Any:
        vectors = tuple(EMBEDDER.embed_query(text) for text in texts)
        base = admitted(org, 1).memory.embedding
        assert base
        return base.model_copy(update={"vectors": vectors})

    waiting = held(org, 31, embedding=of(UNRELATED, CLAIM))
    empty_store.insert([waiting, admitted(org, 1, embedding=of("tea at four", SAME_IN_OTHER_WORDS))])
    assert services.sweep.run().promoted == 1


def crowd(org: str, count: int) -> list[StoredMemory]:
    """Rows of three kinds in turn: to promote, to delete, to keep."""
    kinds = [(31, f"{CLAIM} {{}}"), (91, "{} unheard of"), (40, "{} so so")]
    return [held(org, days, text.format(f"n{i}")) for i in range(count) for days, text in [kinds[i % 3]]]


@pytest.mark.parametrize("write", range(0, 38, 3))
def test_a_run_that_is_killed_and_run_again_ends_as_one_that_was_not(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    services = over(empty_store)
    rows = crowd(org, 9)
    empty_store.insert([*rows, admitted(org, 1)])
    with monkeypatch.context() as patch:
        killed_at(patch, services, write)
        with pytest.raises(Killed):
            services.sweep.run()
    services.sweep.run()
    services.maintenance.rebuild_wanted()
    assert [fate(empty_store, each) for each in rows] == [Status.ACTIVE, None, Status.QUARANTINED] * 3
    expected = [("sweep_promoted", each.memory.id) for each in rows[::3]]
    expected += [("sweep_deleted", each.memory.id) for each in rows[1::3]]
    assert told(services, org) == sorted(expected)
    assert empty_store.untold(10) == []


def test_a_run_whose_time_is_up_is_gone_on_with(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    rows = crowd(org, 120)
    empty_store.insert([*rows, admitted(org, 1)])
    reports = []
    for _ in range(9):
        reports.append(services.sweep.run(time_is_up=after_times(4)))
        if reports[-1].finished:
            break
    assert [report.finished for report in reports] == [False] * (len(reports) - 1) + [True]
    assert len(reports) > 1
    assert sum(report.promoted for report in reports) == sum(report.deleted for report in reports) == 40
    telemetry: Any = services.ports.telemetry
    assert next(name for name, _ in telemetry.events if name.startswith("sweep_")) == "sweep_postponed"
    assert services.sweep.run().kept == 40


def test_a_run_that_was_cut_off_long_ago_begins_anew(empty_store: MemoryStore, org: str) -> None:
    clock = TestClock()
    services = over(empty_store, clock=clock)
    empty_store.keep_checkpoint("sweep", f'["{NOW.isoformat()}", "{org}", "mem_zzz"]')
    waiting = held(org, 91)
    empty_store.insert([waiting])
    assert services.sweep.run().deleted == 0
    empty_store.keep_checkpoint("sweep", f'["{NOW.isoformat()}", "{org}", "mem_zzz"]')
    clock.forward(days=2)
    assert services.sweep.run().deleted == 1


def test_a_row_that_is_edited_while_the_sweep_looks_at_it_stays_as_it_was_made(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, waiting = over(empty_store), held(org, 31)
    empty_store.insert([waiting, admitted(org, 1)])
    read = empty_store.admitted

    def edited_meanwhile(*args: Any, **kwargs: Any) -> Any:
        memory = present(empty_store, waiting)
        if memory and memory.revision == 1:
            services.editor.edit(
                caller(org, "ana", Role.ADMIN), waiting.memory.id, {"content": "Ana left the river"}, 1
            )
        return read(*args, **kwargs)

    monkeypatch.setattr(empty_store, "admitted", edited_meanwhile)
    report = services.sweep.run()
    assert (report.overtaken, report.promoted) == (1, 0)
    assert fate(empty_store, waiting) is Status.QUARANTINED
    assert [event.action for event in events(services, org)] == ["edit"]


def test_a_store_that_fails_is_said_and_raised_with_what_was_done(
    empty_store: MemoryStore, org: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = over(empty_store)
    empty_store.insert([held(org, 31)])

    def down(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("mongo", "no answer")

    monkeypatch.setattr(empty_store, "admitted", down)
    with pytest.raises(StoreUnavailable):
        services.sweep.run()
    telemetry: Any = services.ports.telemetry
    assert telemetry.events[-1][0] == "sweep_stopped"
    assert telemetry.events[-1][1]["promoted"] == 0


def test_memories_of_other_names_stay_out_of_it(empty_store: MemoryStore, org: str) -> None:
    services = over(empty_store)
    bystanders: list[Memory] = []
    rows = [
        row("an active one", org_id=org, created_at=days_ago(300), admitted_at=days_ago(300)),
        row("an archived one", org_id=org, created_at=days_ago(300), status=Status.ARCHIVED),
        held(org, 5),
    ]
    empty_store.insert([*rows, held(org, 91, UNRELATED)])
    bystanders = [memory for each in rows if (memory := present(empty_store, each))]
    services.sweep.run()
    assert [present(empty_store, each) for each in rows] == bystanders
