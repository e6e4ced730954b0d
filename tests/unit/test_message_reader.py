"""What a process keeps of messages is what the store has, and no more is read than is not known."""

import random

import pytest

from chalicelib.adapters.memory.sessions import InMemorySessionStore
from chalicelib.context import reading
from chalicelib.context.reading import MessageReader
from chalicelib.domain.session import KeptMessage, Session
from tests.sessioning import draft, session


class Counting(InMemorySessionStore):
    """Counts the messages that are read."""

    read = 0

    def latest_kept(self, session: Session, limit: int, *, from_position: int = 0) -> list[KeptMessage]:
        found = super().latest_kept(session, limit, from_position=from_position)
        self.read += len(found)
        return found

    def at(self, session: Session, positions: object) -> list[KeptMessage]:
        found = super().at(session, positions)  # type: ignore[arg-type]
        self.read += len(found)
        return found


def filled(store: InMemorySessionStore, one: Session, start: int, count: int) -> None:
    """So many more messages."""
    store.append(one, [draft(f"m{n}", f"text {n}") for n in range(start, start + count)])


def test_it_reads_what_the_store_has_whatever_came_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_KEPT", 60)
    monkeypatch.setattr(reading, "LONGEST_KEPT", 7)
    store, chance = InMemorySessionStore(), random.Random(7)
    reader, kept = MessageReader(store), [session(id_="a"), session(id_="b")]
    counts = [0, 0]
    for _ in range(300):
        which = chance.randrange(2)
        one = kept[which]
        more = chance.choice((0, 0, 1, 2, 30))
        filled(store, one, counts[which], more)
        counts[which] += more
        start, limit = chance.randrange(counts[which] + 2), chance.choice((1, 5, 20, 100))
        assert reader.latest(one, limit, from_position=start) == store.latest(one, limit, from_position=start)
        wanted = sorted(chance.sample(range(counts[which] + 5), min(5, counts[which])))
        assert reader.at(one, wanted) == store.at(one, wanted)


def test_what_is_known_is_not_read_again() -> None:
    store, one = Counting(), session()
    reader = MessageReader(store)
    filled(store, one, 0, 50)
    reader.latest(one, 100, from_position=10)
    reader.at(one, [1, 2, 20])
    assert store.read == 42
    filled(store, one, 50, 2)
    assert [said.position for said in reader.latest(one, 100, from_position=12)] == list(range(12, 52))
    reader.at(one, [1, 20, 51])
    assert store.read == 44


def test_a_session_begun_anew_shares_nothing_with_what_it_was() -> None:
    store = InMemorySessionStore()
    reader, old, new = MessageReader(store), session(), session()
    store.append(old, [draft("m0", "old")])
    assert reader.latest(old, 5)
    assert reader.latest(new, 5) == []
    assert reader.at(new, [0]) == []
