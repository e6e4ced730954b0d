"""`ports.SessionStore`: no message lost, doubled or out of order, however many append at once, and nothing of another's."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from chalicelib.adapters.memory.sessions import InMemorySessionStore
from chalicelib.adapters.mongo.sessions import MongoSessionStore
from chalicelib.domain.memory import Embedding
from chalicelib.domain.vector import dimensions
from chalicelib.errors import Conflict
from chalicelib.ports import SessionChange, SessionStore
from tests.building import AWKWARD_IDS, EMBEDDER, NOW
from tests.sessioning import draft, session

LATER = NOW + timedelta(hours=1)


@pytest.fixture(params=["twin", "mongo"])
def sessions(request: pytest.FixtureRequest) -> SessionStore:
    """Every store of sessions. MongoDB's is shared, so a test writes under its own organization."""
    if request.param == "twin":
        return InMemorySessionStore()
    return MongoSessionStore(request.getfixturevalue("mongo"))


def test_whoever_opens_a_session_first_begins_it(sessions: SessionStore, org: str) -> None:
    first = session(org, space_id="red", extract="off")
    assert sessions.get(org, "s1") is None
    assert sessions.open(first) == first
    assert sessions.open(session(org, owner="bob")) == first
    assert sessions.get(org, "s1") == sessions.by_key(first.key) == first


def test_of_many_that_open_at_once_all_get_the_same(sessions: SessionStore, org: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: sessions.open(session(org, owner=f"user-{n}")), range(8)))
    assert len({one.key for one in found}) == 1


def test_the_same_id_in_two_organizations_is_two_sessions(sessions: SessionStore, org: str) -> None:
    ours, theirs = sessions.open(session(org)), sessions.open(session(f"{org}-2", owner="eve"))
    sessions.append(ours, [draft("m1", "ours")])
    sessions.append(theirs, [draft("m1", "theirs", author="eve")])
    assert [one.text for one in sessions.latest(ours, 10)] == ["ours"]
    assert [one.text for one in sessions.latest(theirs, 10)] == ["theirs"]
    assert sessions.remove(theirs)
    assert sessions.erase(theirs.key) == 1
    assert [one.text for one in sessions.latest(ours, 10)] == ["ours"]


@pytest.mark.parametrize("id_", AWKWARD_IDS)
def test_no_id_reaches_into_another(sessions: SessionStore, org: str, id_: str) -> None:
    odd, plain = sessions.open(session(org, id_)), sessions.open(session(org, "a"))
    sessions.append(odd, [draft(id_, "odd")])
    assert sessions.latest(plain, 10) == []
    assert sessions.kept(plain, [id_]) == []
    assert [one.message.text for one in sessions.kept(odd, [id_])] == ["odd"]
    assert sessions.get(org, id_) == odd


def test_messages_stand_in_their_order_from_zero(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    first = sessions.append(one, [draft(f"m{n}", f"text {n}") for n in range(3)])
    second = sessions.append(one, [draft("m3", role="assistant", author=None, name="Vi"), draft("m4", at=LATER)])
    assert [kept.message.position for kept in (*first, *second)] == [0, 1, 2, 3, 4]
    assert [said.id for said in sessions.between(one, 0, 10)] == ["m0", "m1", "m2", "m3", "m4"]
    assert [said.id for said in sessions.between(one, 1, 2)] == ["m1", "m2"]
    assert [said.id for said in sessions.latest(one, 2)] == ["m3", "m4"]
    assert [said.id for said in sessions.latest(one, 9, from_position=4)] == ["m4"]
    assert [kept.message for kept in sessions.latest_kept(one, 2)] == sessions.latest(one, 2)
    assert sessions.latest_kept(one, 9, from_position=4) == sessions.at(one, [4])
    assert [kept.message.id for kept in sessions.at(one, [3, 0, 7])] == ["m0", "m3"]
    assert sessions.at(one, []) == sessions.kept(one, []) == sessions.append(one, []) == []
    assert sessions.between(one, 3, 1) == [second[0].message]
    assert sessions.between(one, 4, 1)[0].at == LATER


def test_a_message_that_comes_again_is_the_first_one(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    batch = [draft("m0", "a"), draft("m1", "b")]
    first = sessions.append(one, batch)
    assert sessions.append(one, batch) == first
    again = sessions.append(one, [draft("m1", "b", at=LATER), draft("m2", "c"), draft("m2", "c")])
    assert [(kept.message.id, kept.message.position, kept.message.at) for kept in again] == [
        ("m1", 1, NOW),
        ("m2", 2, NOW),
        ("m2", 2, NOW),
    ]
    assert len(sessions.latest(one, 10)) == 3


@pytest.mark.parametrize(
    "other",
    [draft("m1", "other"), draft("m1", "b", author="bob"), draft("m1", "b", role="assistant", author=None)],
    ids=["text", "author", "role"],
)
def test_an_id_with_other_content_is_a_conflict_that_names_it(sessions: SessionStore, org: str, other: object) -> None:
    one = sessions.open(session(org))
    sessions.append(one, [draft("m0", "a"), draft("m1", "b")])
    with pytest.raises(Conflict) as refused:
        sessions.append(one, [draft("m2", "c"), other])  # type: ignore[list-item]
    assert refused.value.details == {"messageId": "m1"}
    with pytest.raises(Conflict):
        sessions.append(one, [draft("m3", "c"), draft("m3", "d")])
    assert [said.id for said in sessions.latest(one, 10)] == ["m0", "m1"]


def test_clients_that_append_at_once_lose_and_double_nothing(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    batches = [[draft(f"c{client}-{n}-{i}") for i in range(3)] for n in range(5) for client in range(4)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda batch: sessions.append(one, batch), [*batches, *batches[:6]]))
    found = sessions.between(one, 0, 100)
    assert [said.position for said in found] == list(range(60))
    assert len({said.id for said in found}) == 60
    places = {said.id: said.position for said in found}
    assert all(
        [places[d.message.id] for d in batch] == sorted(places[d.message.id] for d in batch) for batch in batches
    )


def test_a_batch_that_ended_halfway_is_made_whole_by_its_repeat(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    batch = [draft(f"m{n}", str(n)) for n in range(4)]
    sessions.append(one, batch[:2])
    sessions.append(one, [draft("other")])
    kept = sessions.append(one, batch)
    assert [each.message.position for each in kept] == [0, 1, 3, 4]


def test_terms_and_vectors_are_kept(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    sessions.append(
        one, [draft("m0", "I live in Porto", extract=False), draft("m1", "寿司が好き"), draft("m2", "Porto")]
    )
    (vectors,) = EMBEDDER.embed_passages(["I live in Porto"])
    embedding = Embedding(model="m@8", dimensions=dimensions(vectors[0]), vectors=(vectors[0], vectors[0]))
    sessions.embed(one.key, {0: embedding, 9: embedding})
    first, second, _ = sessions.kept_from(one, 0, 5)
    assert (first.embedding, first.extract, second.embedding, second.extract) == (embedding, False, None, True)
    assert first.counts == draft("m0", "I live in Porto").counts
    assert first.length == draft("m0", "I live in Porto").length
    (read,) = sessions.at(one, [0])
    assert (read.embedding, read.counts) == (None, first.counts)
    found = sessions.with_words(one, [("porto",), ("寿司",)], 5)
    assert sorted(kept.message.id for kept in found) == ["m0", "m1", "m2"]
    assert [kept.message.id for kept in sessions.with_words(one, [("porto",)], 1)] == ["m2"]
    assert sessions.with_words(one, [("lisbon",)], 5) == sessions.with_words(one, [], 5) == []
    assert sessions.with_words(session(org, "s2"), [("porto",)], 5) == []


def test_what_the_worker_has_not_seen_to_is_found(sessions: SessionStore, org: str) -> None:
    one, two = sessions.open(session(org)), sessions.open(session(org, "s2"))
    sessions.append(one, [draft("m0"), draft("m1", "b"), draft("m2", "c", pending_since=LATER)])
    sessions.append(two, [draft("m0")])

    def waiting() -> dict[str, tuple[str, ...]]:
        return {key: ids for key, ids in sessions.pending(LATER, 100) if key in {one.key, two.key}}

    assert waiting() == {one.key: ("m0", "m1"), two.key: ("m0",)}
    sessions.settle(one.key, ["m0", "gone"])
    assert waiting() == {one.key: ("m1",), two.key: ("m0",)}
    assert sessions.kept(one, ["m0"])[0].pending_since is None
    sessions.settle(one.key, ["m1", "m2"])
    sessions.settle(two.key, ["m0"])
    assert waiting() == {}


def test_a_session_changes_by_what_is_said_of_it(sessions: SessionStore, org: str) -> None:
    one = sessions.open(session(org))
    assert sessions.change(one, SessionChange()) == one
    changed = sessions.change(one, SessionChange(joined="bob", extract="off", last_budget=2000))
    assert changed == one.model_copy(update={"members": ("bob",), "extract": "off", "last_budget": 2000})
    assert sessions.change(one, SessionChange(joined="bob")) == changed == sessions.get(org, "s1")
    ended = sessions.change(one, SessionChange(ended_at=NOW))
    assert ended
    assert ended.ended_at == NOW
    assert sessions.change(one, SessionChange(ended_at=LATER)) == ended
    assert sessions.change(one, SessionChange(resumed=True)) == changed


def test_the_keys_of_all_sessions_are_told_and_of_none_that_is_gone(sessions: SessionStore, org: str) -> None:
    ours = [sessions.open(session(org, f"s{n}")) for n in range(3)]
    other = sessions.open(session(f"{org}-other"))
    assert sessions.remove(ours[0])
    told = list(sessions.keys())
    assert len(told) == len(set(told))
    assert {one.key for one in (*ours[1:], other)} <= set(told)
    assert ours[0].key not in told


def test_nothing_of_a_deleted_session_is_in_one_begun_anew(sessions: SessionStore, org: str) -> None:
    old = sessions.open(session(org))
    sessions.append(old, [draft("m0", "old"), draft("m1", "old")])
    assert sessions.remove(old)
    assert not sessions.remove(old)
    assert (
        sessions.get(org, "s1") is sessions.by_key(old.key) is sessions.change(old, SessionChange(joined="x")) is None
    )
    new = sessions.open(session(org, owner="bob"))
    assert not sessions.remove(old)
    assert sessions.latest(new, 10) == []
    assert sessions.append(new, [draft("m0", "new")])[0].message.position == 0
    assert sessions.erase(old.key) == 2
    assert [said.text for said in sessions.latest(new, 10)] == ["new"]
