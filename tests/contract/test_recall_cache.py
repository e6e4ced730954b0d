"""`ports.RecallCache`: an answer is served only while nothing that could change it was written. Isolation first."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

from chalicelib.domain.keys import key, new_id
from chalicelib.domain.memory import Origin
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.ports import CacheEntry, CacheOpening, IndexRemoval, vector_under
from tests.building import AWKWARD_IDS, EMBEDDER, chain, entry, row
from tests.contract.conftest import CacheUnderTest

SECONDS = 60
VECTOR = EMBEDDER.embed_query("figs")
BODY = json.dumps({"hits": ['"quoted", \\slashed/ 名前 😀', None, 0.1]}, ensure_ascii=False)


def looked_up(cached: CacheUnderTest, reader: Chain, name: str) -> CacheOpening:
    """What the cache has for the question `name`."""
    return cached.cache.open(reader, name, f"vector of {name}", "a hit")


def fill(cached: CacheUnderTest, reader: Chain, name: str, body: str = BODY, seconds: int = SECONDS) -> None:
    """Answer the question `name` and keep the answer."""
    opening = looked_up(cached, reader, name)
    cached.cache.close(CacheEntry(name, opening.generations, body, "the audit", seconds), None, "a miss")


def served(cached: CacheUnderTest, reader: Chain, name: str) -> str | None:
    """The body that is served."""
    return looked_up(cached, reader, name).body


def put(cached: CacheUnderTest, *rows: StoredMemory) -> None:
    """Write rows."""
    cached.index.apply([entry(stored) for stored in rows])


def test_another_chain_gets_nothing_even_under_the_same_key(cached: CacheUnderTest, org: str) -> None:
    fill(cached, chain(org, "ana"), "q")
    assert served(cached, chain(org, "ana"), "q") == BODY
    others = (chain(org, "bob"), chain(org, "ana", spaces=("red",)), chain(new_id("org"), "ana"))
    for other in (*others, chain(org, "ana").only({chain(org).keys[0]}), chain(org, "ana").only(())):
        assert served(cached, other, "q") is None


def test_another_chain_gets_nothing_when_both_were_written_equally_often(cached: CacheUnderTest, org: str) -> None:
    for user in ("ana", "bob"):
        put(cached, row("figs", org_id=org, scope_id=user))
    fill(cached, chain(org, "ana"), "q")
    assert served(cached, chain(org, "bob"), "q") is None


def test_keys_of_any_characters_stay_apart(cached: CacheUnderTest, org: str) -> None:
    names = [key(org, name) for name in AWKWARD_IDS] + [*AWKWARD_IDS]
    for name in names:
        fill(cached, chain(org), name, body=name)
    assert [served(cached, chain(org), name) for name in names] == names


def test_an_unknown_question_gives_the_generations_of_its_scopes(cached: CacheUnderTest, org: str) -> None:
    reader = chain(org, spaces=("red",))
    opening = looked_up(cached, reader, "q")
    assert (opening.body, opening.vectors) == (None, None)
    assert len(opening.generations) == len(reader.keys)
    assert looked_up(cached, reader, "q") == opening


def test_an_answer_is_served_as_it_was_kept_until_replaced(cached: CacheUnderTest, org: str) -> None:
    fill(cached, chain(org), "q")
    assert [served(cached, chain(org), "q") for _ in range(3)] == [BODY] * 3
    opening = looked_up(cached, chain(org), "q")
    cached.cache.close(CacheEntry("q", opening.generations, "another", "its audit", SECONDS), None, "a miss")
    assert served(cached, chain(org), "q") == "another"
    assert served(cached, chain(org), "p") is None


def test_a_write_to_any_scope_of_the_chain_ends_the_answer(cached: CacheUnderTest, org: str) -> None:
    reader = chain(org, spaces=("red",))
    for ref in reader.scopes:
        fill(cached, reader, "q")
        put(cached, row("figs", org_id=org, scope=ref.scope, scope_id=ref.scope_id))
        assert served(cached, reader, "q") is None


def test_a_repeat_of_the_same_revision_leaves_the_answer(cached: CacheUnderTest, org: str) -> None:
    one = entry(row("figs", org_id=org))
    cached.index.apply([one])
    fill(cached, chain(org), "q")
    cached.index.apply([one])
    assert served(cached, chain(org), "q") == BODY


def test_edits_removals_and_stale_writes_end_the_answer_too(cached: CacheUnderTest, org: str) -> None:
    first, second = (row("figs", id="mem_1", revision=revision, org_id=org) for revision in (1, 2))
    removal = IndexRemoval(first.memory.scope_ref.key, "mem_1", 2)
    for change in (entry(first), entry(second), entry(first), removal, removal):
        fill(cached, chain(org), "q")
        cached.index.apply([change])
        assert served(cached, chain(org), "q") is None


def test_a_write_elsewhere_leaves_the_answer(cached: CacheUnderTest, org: str) -> None:
    fill(cached, chain(org), "q")
    put(cached, row("figs", org_id=org, scope_id="bob"), row("figs", org_id=new_id("org")))
    assert served(cached, chain(org), "q") == BODY


def test_an_answer_that_was_begun_before_a_write_is_never_served(cached: CacheUnderTest, org: str) -> None:
    opening = looked_up(cached, chain(org), "q")
    put(cached, row("figs", org_id=org))
    cached.cache.close(CacheEntry("q", opening.generations, "old", "the audit", SECONDS), None, "a miss")
    assert served(cached, chain(org), "q") is None
    put(cached, row("plums", org_id=org))
    assert served(cached, chain(org), "q") is None


def test_a_slow_answer_may_replace_a_fresh_one_and_is_still_not_served(cached: CacheUnderTest, org: str) -> None:
    slow = looked_up(cached, chain(org), "q")
    put(cached, row("figs", org_id=org))
    fill(cached, chain(org), "q", body="fresh")
    assert served(cached, chain(org), "q") == "fresh"
    cached.cache.close(CacheEntry("q", slow.generations, "old", "the audit", SECONDS), None, "a miss")
    assert served(cached, chain(org), "q") in {None, "fresh"}


def test_while_writers_write_no_reader_is_served_what_was_before_its_write(cached: CacheUnderTest, org: str) -> None:
    def write_and_read(number: int) -> bool:
        fill(cached, chain(org), "q", body=f"before {number}")
        put(cached, row("figs", id=f"mem_{number}", vectors=False, org_id=org))
        return served(cached, chain(org), "q") != f"before {number}"

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(write_and_read, range(60)))


def test_an_answer_ends_with_its_seconds(cached: CacheUnderTest, org: str) -> None:
    fill(cached, chain(org), "short", seconds=1)
    fill(cached, chain(org), "long", seconds=SECONDS)
    began = time.monotonic()
    assert served(cached, chain(org), "short") == BODY or time.monotonic() - began > 1
    cached.lapse(1.01)
    assert served(cached, chain(org), "short") is None
    assert served(cached, chain(org), "long") == BODY


def test_a_lost_counter_never_revives_an_old_answer(cached: CacheUnderTest, org: str) -> None:
    fill(cached, chain(org), "q")
    for _ in range(3):
        cached.lose_counters(chain(org).keys)
        assert served(cached, chain(org), "q") is None
        put(cached, row("figs", org_id=org))
        assert served(cached, chain(org), "q") is None


def test_a_counter_that_is_lost_before_a_write_never_comes_back(cached: CacheUnderTest, org: str) -> None:
    put(cached, row("figs", org_id=org))
    fill(cached, chain(org), "q")
    cached.lose_counters(chain(org).keys)
    for number in range(3):
        put(cached, row(f"figs {number}", org_id=org))
        assert served(cached, chain(org), "q") is None


def test_a_known_query_vector_comes_back_whole(cached: CacheUnderTest, org: str) -> None:
    opening = looked_up(cached, chain(org), "q")
    cached.cache.close(None, ("vector of q", VECTOR), "a miss")
    assert looked_up(cached, chain(org), "q").vectors == VECTOR
    assert looked_up(cached, chain(org), "p").vectors is None
    put(cached, row("figs", org_id=org))
    assert looked_up(cached, chain(org), "q").vectors == VECTOR
    assert looked_up(cached, chain(org), "q").generations != opening.generations


def test_answer_and_vector_are_kept_by_one_call(cached: CacheUnderTest, org: str) -> None:
    opening = looked_up(cached, chain(org), "q")
    kept = CacheEntry("q", opening.generations, BODY, "the audit", SECONDS)
    cached.cache.close(kept, ("vector of q", VECTOR), "a miss")
    assert served(cached, chain(org), "q") == BODY
    put(cached, row("figs", org_id=org))
    assert looked_up(cached, chain(org), "q").vectors == VECTOR


def test_only_words_in_the_name_of_a_speaker_of_the_chain_are_names(cached: CacheUnderTest, org: str) -> None:
    lopez, bob = (Origin(speaker=name) for name in ("Ana López", "Bob"))
    mine, again = (row(f"figs {n}", org_id=org, origin=lopez) for n in range(2))
    others = row("figs", org_id=org, scope_id="bob", origin=bob)
    put(cached, mine, again, others, row("figs", org_id=org, scope_id="bob", origin=Origin(speaker="assistant")))
    asked = ("lopez", "figs", "assistant", "bob", "ana")

    def names(reader: Chain) -> tuple[str, ...]:
        return cached.cache.open(reader, "q", "vector of q", "a hit", asked).names

    assert names(chain(org)) == ("lopez", "ana")
    assert names(chain(org, "bob")) == ("bob",)
    cached.index.apply([IndexRemoval(mine.memory.scope_ref.key, mine.memory.id, 1)])
    assert names(chain(org)) == ("lopez", "ana")
    cached.index.apply([IndexRemoval(again.memory.scope_ref.key, again.memory.id, 1)])
    assert names(chain(org)) == ()


def test_a_query_vector_is_known_under_the_names_that_it_was_made_without(cached: CacheUnderTest, org: str) -> None:
    cached.cache.close(None, ("vector of q", VECTOR), "a miss")
    put(cached, row("figs", org_id=org, origin=Origin(speaker="Ana")))
    assert cached.cache.open(chain(org), "q", "vector of q", "a hit", ("ana",)).vectors is None
    cached.cache.close(None, (vector_under("vector of q", ("ana",)), VECTOR), "a miss")
    assert cached.cache.open(chain(org), "q", "vector of q", "a hit", ("ana",)).vectors == VECTOR


def test_an_answer_that_is_served_comes_with_its_vector_and_names_too(cached: CacheUnderTest, org: str) -> None:
    put(cached, row("figs", org_id=org, origin=Origin(speaker="Ana")))
    fill(cached, chain(org), "q")
    cached.cache.close(None, (vector_under("vector of q", ("ana",)), VECTOR), "a miss")
    opening = cached.cache.open(chain(org), "q", "vector of q", "a hit", ("ana", "figs"))
    assert (opening.body, opening.vectors, opening.names) == (BODY, VECTOR, ("ana",))


AUDIT = json.dumps({"query": '"quoted" \\ / 名前 😀 \x7f\x01', "n": [1, None]}, ensure_ascii=False)


def test_audits_queue_in_order_and_a_hit_brings_the_audit_of_its_answer(cached: CacheUnderTest, org: str) -> None:
    opening = cached.cache.open(chain(org), "q", "v", "not a hit")
    cached.cache.close(CacheEntry("q", opening.generations, BODY, f"answer {AUDIT}", SECONDS), None, f"miss {AUDIT}")
    cached.cache.open(chain(org), "q", "v", f"hit {AUDIT}")
    cached.cache.open(chain(org), "p", "v", "not a hit either")
    cached.cache.close(None, None, "nothing kept")
    expected = [(f"miss {AUDIT}", None), (f"hit {AUDIT}", f"answer {AUDIT}"), ("nothing kept", None)]
    assert cached.cache.drain(10) == expected
    assert cached.cache.drain(2) == expected[:2]


def test_an_audit_stays_queued_until_it_is_drained(cached: CacheUnderTest) -> None:
    for number in range(5):
        cached.cache.close(None, None, f"audit {number}")
    assert cached.cache.drain(2) == cached.cache.drain(2) == [("audit 0", None), ("audit 1", None)]
    cached.cache.close(None, None, "audit 5")
    cached.cache.drained(cached.cache.drain(2))
    assert [audit for audit, _ in cached.cache.drain(10)] == [f"audit {n}" for n in (2, 3, 4, 5)]
    cached.cache.drained([])
    assert len(cached.cache.drain(10)) == 4
    cached.cache.drained(cached.cache.drain(9))
    assert cached.cache.drain(10) == []


def test_two_drainers_of_the_same_batch_drop_it_once_and_nothing_else(cached: CacheUnderTest) -> None:
    for number in range(6):
        cached.cache.close(None, None, f"audit {number}")
    first, second = cached.cache.drain(3), cached.cache.drain(3)
    cached.cache.drained(first)
    cached.cache.drained(second)
    assert [audit for audit, _ in cached.cache.drain(10)] == ["audit 3", "audit 4", "audit 5"]


def test_audits_of_readers_at_once_are_all_queued(cached: CacheUnderTest) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: cached.cache.close(None, None, f"audit {n}"), range(80)))
    assert sorted(audit for audit, _ in cached.cache.drain(100)) == sorted(f"audit {n}" for n in range(80))
