"""`ports.MemoryStore`: who sees a row, and what of it. Isolation first."""

from datetime import timedelta
from typing import Any

from chalicelib.domain.keys import new_id
from chalicelib.domain.memory import (
    Attachment,
    Claim,
    Embedding,
    IndexState,
    Link,
    LinkKind,
    Origin,
    Revision,
    Status,
)
from chalicelib.domain.query import Filter, StoredMemory
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import dimensions
from chalicelib.ports import Browse, MemoryStore
from tests.building import AWKWARD_IDS, EMBEDDER, NOW, chain, row
from tests.contract.store_steps import FORGOTTEN, changed, everything_read, fetched


def of_every_scope(org: str) -> list[StoredMemory]:
    """Rows that ana, alone in `org`, may not see."""
    return [
        row("a secret of bob", org_id=org, scope_id="bob", user_id="bob"),
        row("a secret of the red space", org_id=org, scope=Scope.SPACE, scope_id="red"),
        row("a secret of the red universe", org_id=org, scope=Scope.UNIVERSE, scope_id="red"),
        row("a secret of a space named ana", org_id=org, scope=Scope.SPACE, scope_id="ana"),
        row("a secret of another organization", org_id=new_id("org"), scope=Scope.ORGANIZATION, scope_id=org),
        row("a secret of her namesake", org_id=new_id("org")),
    ]


def test_a_reader_is_given_nothing_outside_its_chain(store: MemoryStore, org: str) -> None:
    foreign = of_every_scope(org)
    store.insert(foreign)
    ids = [stored.memory.id for stored in foreign]
    assert everything_read(store, chain(org), ids, "secret organization red bob namesake") == set()


def test_a_reader_is_given_every_scope_of_its_chain(store: MemoryStore, org: str) -> None:
    rows = [
        row("a plan of all", org_id=org, scope=Scope.ORGANIZATION, scope_id=org),
        row("a plan of the red space", org_id=org, scope=Scope.SPACE, scope_id="red"),
        row("a plan of the blue universe", org_id=org, scope=Scope.UNIVERSE, scope_id="blue"),
        row("a plan of ana", org_id=org),
    ]
    store.insert(rows)
    ids = [stored.memory.id for stored in rows]
    reader = chain(org, spaces=("red",), universes=("blue",))
    assert {stored.memory.id for stored in store.fetch(reader, ids)} == set(ids)
    assert everything_read(store, reader, (), "plan") == set(ids)
    assert everything_read(store, reader.narrow([Scope.SPACE], None), ids, "plan") == {ids[1]}


def test_a_chain_of_no_scopes_reads_nothing(store: MemoryStore, org: str) -> None:
    mine = row("a plan", org_id=org)
    store.insert([mine])
    assert everything_read(store, chain(org).only(()), [mine.memory.id], "plan") == set()
    assert not store.purge(chain(org).only(()), mine.memory.id)


def test_the_same_id_in_two_organizations_is_two_rows(store: MemoryStore, org: str) -> None:
    other = new_id("org")
    mine, theirs = row("mine", id="mem_1", org_id=org), row("theirs", id="mem_1", org_id=other)
    assert store.insert([mine, theirs]) == [None, None]
    assert store.replace(changed(mine, content="mine, edited"), 1)
    assert [found.memory.content for found in store.fetch(chain(org), ["mem_1"])] == ["mine, edited"]
    assert [found.memory.content for found in store.fetch(chain(other), ["mem_1"])] == ["theirs"]
    assert store.purge(chain(org), "mem_1")
    assert [found.memory.content for found in store.fetch(chain(other), ["mem_1"])] == ["theirs"]


def test_the_same_scope_id_in_two_organizations_is_two_scopes(store: MemoryStore, org: str) -> None:
    other = new_id("org")
    mine, theirs = row("the same words", org_id=org), row("the same words", org_id=other)
    assert store.insert([mine]) == [None]
    assert store.insert([theirs]) == [None]
    ids = [mine.memory.id, theirs.memory.id]
    assert everything_read(store, chain(org), ids, "same words") == {mine.memory.id}
    assert everything_read(store, chain(other), ids, "same words") == {theirs.memory.id}


def test_a_hundred_rows_of_bob_never_hide_the_three_of_alice(store: MemoryStore, org: str) -> None:
    bobs = [row(f"lunch on tuesday, number {n}", org_id=org, scope_id="bob", user_id="bob") for n in range(100)]
    hers = [row(f"lunch {day}", org_id=org, scope_id="alice") for day in ("monday", "friday", "sunday")]
    store.insert([*bobs[:50], *hers, *bobs[50:]])
    reader, ids = chain(org, "alice"), {stored.memory.id for stored in hers}
    words = (("lunch",), ("tuesday",))
    found = store.text_candidates(reader, words, store.statistics(reader), Filter(), 10, now=NOW)
    assert {stored.memory.id for stored in found} == ids
    assert {memory.id for memory in store.browse(reader, Browse(words=(("lunch",),), limit=10)).items} == ids


def test_scope_ids_of_any_characters_stay_apart(store: MemoryStore, org: str) -> None:
    users = [*AWKWARD_IDS, "a", "b"]
    mine = {user: row("the same words", org_id=org, scope_id=user) for user in users}
    assert store.insert(list(mine.values())) == [None] * len(users)
    ids = [stored.memory.id for stored in mine.values()]
    for user, stored in mine.items():
        assert everything_read(store, chain(org, user), ids, "same words") == {stored.memory.id}, user
        assert store.rows_of_scope(stored.memory.scope_ref.key)[0].memory.scope_id == user
    assert {stored.memory.scope_ref.key for stored in mine.values()} <= set(store.scope_keys())


def test_organizations_of_any_characters_stay_apart(store: MemoryStore, org: str) -> None:
    orgs = [org, f"{org}/user/ana", f"{org}/memory", *(org + name for name in AWKWARD_IDS)]
    mine = {name: row("the same words", id="memory/mem_1", org_id=name) for name in orgs}
    assert store.insert(list(mine.values())) == [None] * len(orgs)
    for name in orgs:
        (found,) = store.fetch(chain(name), ["memory/mem_1", "mem_1", "ana"])
        assert found.memory.org_id == name
        assert [memory.org_id for memory in store.browse(chain(name), Browse()).items] == [name]


def test_no_id_reaches_into_another_organization(store: MemoryStore, org: str) -> None:
    below = f"{org}/user/ana"
    rows = [
        row("the same words", id="mem_1", org_id=below),
        row("the same words", id="mem_2", org_id=org, scope_id="ana/user/ana"),
        row("other words", id=f"ana/memory/{new_id('mem')}", org_id=f"{org}/memory"),
    ]
    rows.append(row("other words", id=f"memory/{rows[2].memory.id}", org_id=org))
    assert store.insert(rows) == [None] * len(rows)
    ids = [stored.memory.id for stored in rows]
    for stored in rows:
        reader = chain(stored.memory.org_id, stored.memory.scope_id)
        assert everything_read(store, reader, ids, "same other words") == {stored.memory.id}


def test_memory_ids_of_any_characters_name_one_row(store: MemoryStore, org: str) -> None:
    rows = {id_: row(f"text {n}", id=id_, org_id=org) for n, id_ in enumerate(AWKWARD_IDS)}
    store.insert(list(rows.values()))
    for id_, stored in rows.items():
        assert fetched(store, chain(org), id_).keys() == {id_}
        assert store.replace(changed(stored, summary=id_), 1)
    assert {id_: found.memory.summary for id_, found in fetched(store, chain(org), *rows).items()} == {
        id_: id_ for id_ in rows
    }
    assert all(store.purge(chain(org), id_) for id_ in rows)


def test_what_was_stored_comes_back_whole(store: MemoryStore, org: str) -> None:
    texts = ["Ana lives in Porto. 名前 😀 \x00 $set", "She moved there in May."]
    vectors = tuple(EMBEDDER.embed_query(text) for text in texts)
    full = row(
        " ".join(texts),
        org_id=org,
        summary="where Ana lives",
        tags=("home", 'a "quoted" tag', "$in"),
        key_entities=("Ana", "Porto"),
        importance=0.25,
        overridable=False,
        status=Status.QUARANTINED,
        quarantine_reason="it looks like an instruction",
        source="chat",
        origin=Origin(session_id="s1", message_id="m1", speaker="Ana"),
        confidence=0.75,
        claims=(Claim(subject="Ana", attribute="lives in", value="Porto"),),
        claims_found=True,
        event_time=NOW - timedelta(days=30_000, milliseconds=1),
        admitted_at=NOW,
        expires_at=NOW + timedelta(days=1),
        revision=3,
        history=(Revision(revision=2, content="Ana lives", edited_by="ana", edited_at=NOW),),
        admission={"score": 0.5, "parts": {"a.b": [1, None], "$c": "d"}},
        embedding=Embedding(model="terms@256", dimensions=dimensions(vectors[0]), vectors=vectors),
        index_state=IndexState.INDEXED,
        links=(Link(kind=LinkKind.EVIDENCE, target="msg_1"),),
        outcome="done",
        attachments=(Attachment(type="image", url="https://example.org/a.png", description="a house"),),
    )
    store.insert([full])
    assert store.fetch(chain(org), [full.memory.id], with_vectors=True) == [full]
    assert "claimsFound" not in full.memory.model_dump(by_alias=True)


def test_fetch_gives_terms_and_gives_vectors_only_where_asked(store: MemoryStore, org: str) -> None:
    stored = row(org_id=org)
    store.insert([stored])
    (bare,), (whole,) = (store.fetch(chain(org), [stored.memory.id], with_vectors=wanted) for wanted in (False, True))
    assert bare.memory.embedding is None
    assert whole.memory.embedding == stored.memory.embedding
    assert (bare.counts, bare.length) == (whole.counts, whole.length) == (stored.counts, stored.length)


def test_fetch_gives_each_known_row_once_whatever_its_status(store: MemoryStore, org: str) -> None:
    statuses: list[dict[str, Any]] = [{}, {"status": Status.QUARANTINED}, {"status": Status.ARCHIVED}, FORGOTTEN]
    rows = [row(f"row {n}", org_id=org, **fields) for n, fields in enumerate(statuses)]
    store.insert(rows)
    ids = [stored.memory.id for stored in rows]
    found = store.fetch(chain(org), [*ids, "mem_unknown", *ids])
    assert sorted(stored.memory.id for stored in found) == sorted(ids)
    assert store.fetch(chain(org), []) == []


def test_what_a_chain_holds_and_whether_it_awaits_the_index_is_said_of_it_alone(store: MemoryStore, org: str) -> None:
    store.insert([row("a secret", org_id=org, scope_id="bob", user_id="bob", index_state=IndexState.PENDING)])
    assert not store.holds_any(chain(org))
    assert not store.awaits_index(chain(org))
    held = row("held back", org_id=org, status=Status.QUARANTINED, index_state=IndexState.PENDING)
    store.insert([held, row("a plan that is gone", org_id=org, **FORGOTTEN)])
    assert not store.holds_any(chain(org))
    assert not store.awaits_index(chain(org))
    store.insert([row("a plan", org_id=org, index_state=IndexState.INDEXED)])
    assert store.holds_any(chain(org))
    assert not store.awaits_index(chain(org))
    store.insert([row("another plan", org_id=org, index_state=IndexState.PENDING)])
    assert store.awaits_index(chain(org))
    assert not store.holds_any(chain(org).only(()))
