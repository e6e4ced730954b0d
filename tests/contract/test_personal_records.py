"""What the truth keeps of persons, given out and taken away: the twin and MongoDB, seen the same way."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.bootstrap import Ports
from chalicelib.domain.erasure import Erasure, ErasureRecord, ErasureState, Person
from chalicelib.domain.keys import new_id
from chalicelib.domain.session import Session
from tests.building import NOW, event, in_memory_ports
from tests.integration.arrangements import services
from tests.personal import fill

NEW = "erased-1"


@pytest.fixture(params=["twin", "mongo"])
def ports(request: pytest.FixtureRequest) -> Ports:
    """All stores of the truth, under one adapter or the other."""
    if request.param == "twin":
        return in_memory_ports()
    mongo: MongoConnection = request.getfixturevalue("mongo")
    return services(mongo, None).ports


def through(step: Callable[[str | None], tuple[Any, str | None]]) -> list[Any]:
    """What each page gives, to the last one."""
    found, after = step(None)
    pages = [found]
    while after is not None:
        found, after = step(after)
        pages.append(found)
    return pages


def counted(ports: Ports, person: Person, limit: int = 2) -> dict[str, int]:
    """How much is kept of a person, by kind, in pages of `limit`."""

    def pages(kind: str) -> list[int]:
        def step(after: str | None) -> tuple[int, str | None]:
            one = ports.people.left(person, kind, after, limit)
            return one.removed, one.after

        return through(step)

    return {kind: sum(pages(kind)) for kind in ports.people.counted}


def erased(ports: Ports, person: Person, kind: str) -> tuple[int, int]:
    """What was removed and changed of a kind, in pages of two."""

    def step(after: str | None) -> tuple[tuple[int, int], str | None]:
        one = ports.people.erase(person, kind, NEW, after, 2)
        return (one.removed, one.changed), one.after

    pages = through(step)
    return sum(page[0] for page in pages), sum(page[1] for page in pages)


def lines(ports: Ports, person: Person) -> list[tuple[str, Any]]:
    """All that is given out."""
    found: list[tuple[str, Any]] = []
    for kind in ports.people.exported:
        pages = through(lambda after, kind=kind: ports.people.lines(person, kind, after, 2))  # type: ignore[misc]
        found += [(kind, line) for page in pages for _, line in page]
    return found


HELD = {
    "keys": 2,
    "memories": 3,
    "questions": 1,
    "user_genomes": 1,
    "receipts": 2,
    "recalls": 1,
    "statistics": 1,
    "docs_manifests": 1,
    "docs_runs": 1,
    "souls": 1,
    "audit": 2,
    "erasures": 0,
    "sessions": 2,
    "messages": 4,
    "shared_memories": 3,
}


def test_everything_of_a_person_is_counted_and_nothing_of_others(ports: Ports, org: str) -> None:
    fill(ports, org)
    fill(ports, other := new_id("org"))
    assert counted(ports, Person(org, "ana")) == HELD
    assert counted(ports, Person(other, "ana")) == HELD
    assert set(counted(ports, Person(org, "an")).values()) == {0}
    assert set(counted(ports, Person(new_id("org"), "ana")).values()) == {0}


def test_what_is_erased_is_gone_and_another_organization_and_other_users_lose_nothing(ports: Ports, org: str) -> None:
    fill(ports, org)
    fill(ports, other := new_id("org"))
    bob = counted(ports, Person(org, "bob"))
    person = Person(org, "ana")
    done = {kind: erased(ports, person, kind) for kind in ports.people.erased}
    assert done["memories"] == (3, 0)
    assert done["keys"] == (1, 1)
    assert done["audit"] == (0, 2)
    assert done["messages"] == (0, 4)
    assert {kind: n for kind, n in counted(ports, person).items() if n} == {"sessions": 2, "shared_memories": 3}
    assert counted(ports, Person(other, "ana")) == HELD
    assert counted(ports, Person(org, "bob")) == bob
    assert all(erased(ports, person, kind) == (0, 0) for kind in ports.people.erased)


def test_an_event_stays_with_the_pseudonym_and_what_only_looks_like_a_name_stays_too(ports: Ports, org: str) -> None:
    ports.audit.add([event(org, actor="user", action="user", details={"scope": "user", "author": "user"})])
    erased(ports, Person(org, "user"), "audit")
    (kept,) = ports.audit.list(org, None, 10).items
    assert (kept.actor, kept.action, kept.details) == (NEW, "user", {"scope": "user", "author": NEW})


def test_a_session_that_is_left_keeps_its_places_and_what_others_said(ports: Ports, org: str) -> None:
    _, together = fill(ports, org)
    person = Person(org, "ana")
    emptied = [ports.people.leave(together, person, NEW, 1) for _ in range(3)]
    assert sum(emptied) == 2
    left = ports.sessions.get(org, together.id)
    assert isinstance(left, Session)
    assert (left.owner, left.members, left.snapshots) == ("bob", (), ())
    said = [(one.position, one.author, one.text) for one in ports.sessions.between(left, 0, 10)]
    assert said == [(0, NEW, "[…]"), (1, None, "yes"), (2, NEW, "[…]"), (3, "bob", "bob's word")]
    assert not any(one.extract or one.counts for one in ports.sessions.kept_from(left, 0, 1))


def test_shared_memories_come_whole_so_that_they_can_be_replaced(ports: Ports, org: str) -> None:
    fill(ports, org)
    rows = [r for p in through(lambda a: ports.people.shared_memories(Person(org, "ana"), a, 2)) for _, r in p]
    assert sorted(row.memory.content for row in rows) == ["I live in Porto", "bob is here", "the team meets at noon"]
    assert all(row.memory.embedding and row.counts for row in rows)


def test_lines_hold_all_of_a_person_and_nothing_of_others_and_no_secret(ports: Ports, org: str) -> None:
    fill(ports, org)
    fill(ports, new_id("org"))
    found = lines(ports, Person(org, "ana"))
    kinds = [kind for kind, _ in found]
    assert {kind: kinds.count(kind) for kind in ports.people.exported} == {
        "memory": 3,
        "shared_memory": 1,
        "question": 1,
        "session": 2,
        "message": 4,
        "session_genome": 2,
        "user_genome": 1,
        "receipt": 2,
        "recall": 1,
        "key": 1,
        "audit_event": 2,
    }
    text = json.dumps(found)
    assert "bob's word" not in text
    assert "bob alone" not in text
    assert "ab" * 32 not in text
    assert "what is known of" not in text
    assert lines(ports, Person(org, "nobody")) == []


def record(ports: Ports, person: Person, **fields_: Any) -> ErasureRecord:
    """A record of an erasure that has just begun."""
    salt = ports.erasures.salt(person.org_id)
    receipt = Erasure(
        id=new_id("era"),
        org_id=person.org_id,
        pseudonym=NEW,
        shared="keep",
        requested_by="root",
        requested_at=NOW,
        settles_at=NOW,
    )
    made = {
        "receipt": receipt,
        "salt": salt,
        "digest": person.digest(salt),
        "user_id": person.user_id,
        "changed_at": NOW,
    }
    return ErasureRecord(**made | fields_)


def finished(one: ErasureRecord) -> ErasureRecord:
    """The next version of a record, finished."""
    receipt = one.receipt.model_copy(update={"state": ErasureState.FINISHED})
    return one.model_copy(update={"version": one.version + 1, "user_id": None, "receipt": receipt})


def test_a_record_is_found_by_its_person_alone_and_replaced_by_its_next_version_alone(ports: Ports, org: str) -> None:
    person = Person(org, "ana")
    first = record(ports, person)
    assert ports.erasures.salt(org) == first.salt
    assert ports.erasures.of(person) is None
    assert [ports.erasures.keep(first), ports.erasures.keep(first)] == [True, False]
    assert ports.erasures.of(person) == first
    assert ports.erasures.of(Person(org, "bob")) is None
    assert ports.erasures.of(Person(new_id("org"), "ana")) is None
    done = finished(first)
    assert [ports.erasures.keep(done), ports.erasures.keep(done)] == [True, False]
    assert ports.erasures.of(person) == done
    assert "ana" not in done.model_dump_json()


def test_unfinished_records_and_the_tombstones_of_late_work_are_known(ports: Ports, org: str) -> None:
    person = Person(org, "ana")
    one = record(ports, person)
    ports.erasures.keep(one)

    def known(since: timedelta) -> list[bool]:
        found = ports.erasures.tombstones(NOW + since)
        return [mark.finished for mark in found if mark.is_of(person)]

    assert one in ports.erasures.unfinished(1000)
    assert known(timedelta(days=1)) == [False]
    ports.erasures.keep(finished(one))
    assert one.digest not in [other.digest for other in ports.erasures.unfinished(1000)]
    assert (known(timedelta(days=1)), known(timedelta(0))) == ([], [True])
    everyone = [r.digest for page in through(lambda a: ports.erasures.every(a, 1)) for r in page]
    assert one.digest in everyone


def test_one_process_at_a_time_works_on_a_record(ports: Ports, org: str) -> None:
    one, later = record(ports, Person(org, "ana")), NOW + timedelta(minutes=1)
    ports.erasures.keep(one)
    assert ports.erasures.take(one, "a", NOW, later)
    assert not ports.erasures.take(one, "b", NOW, later)
    assert ports.erasures.take(one, "a", NOW, later)
    assert ports.erasures.take(one, "b", later, later + timedelta(minutes=1))
    assert ports.erasures.take(one, "b", later, later), "let go of"
    assert ports.erasures.take(one, "a", later, later + timedelta(minutes=1))


def test_the_people_of_an_organization_are_those_something_is_kept_of(ports: Ports, org: str) -> None:
    fill(ports, org)
    assert {"ana", "bob"} <= ports.people.people(org, 2)
    assert org in ports.people.organizations()
    assert ports.people.people(new_id("org"), 2) == set()
