"""`ports.HotIndex`: what a search finds and how it scores; the twin and the real index agree."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.redis.index import RedisHotIndex
from chalicelib.domain import bm25
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import Candidate, Filter, IndexAnswer, IndexQuery, StoredMemory, TermStatistics
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import Vector, cosine, unit
from chalicelib.ports import HotIndex, IndexEntry, IndexRemoval
from tests.building import AWKWARD_IDS, EMBEDDER, chain, entry, index_query, row
from tests.conftest import SEARCH_MODULE
from tests.contract.conftest import IndexUnderTest, emptied
from tests.contract.index_steps import (
    OTHER_MODEL,
    axis,
    by_text,
    by_vector,
    found,
    gone,
    put,
    scope_of,
    with_vectors,
)

COSINE_ERROR = 0.02  # stored vectors are of 8 bits a value
SEED = 11


def between(weight: float, size: int = 8) -> Vector:
    """A unit vector whose cosine with the first axis is `weight`."""
    return unit([weight, (1 - weight**2) ** 0.5, *[0.0] * (size - 2)])


def test_bm25_has_the_statistics_of_the_scopes_asked(text_index: IndexUnderTest, org: str) -> None:
    mine = [row(f"figs {word}", org_id=org) for word in ("ripe", "green", "dried")]
    team = [row(f"bread {n} figs", org_id=org, scope=Scope.SPACE, scope_id="red") for n in range(5)]
    bobs = [row(f"figs {n}", org_id=org, scope_id="bob") for n in range(20)]
    put(text_index.index, *mine, *team, *bobs)
    terms = ("fig", "ripe", "absent")
    for reader, rows in ((chain(org), mine), (chain(org, spaces=("red",)), [*mine, *team])):
        answer = text_index.index.search(reader, index_query("", vector=None, terms=terms))
        assert answer.statistics == TermStatistics(len(rows), {"fig": len(rows), "ripe": 1, "absent": 0})
        weights = {"fig": bm25.weight(len(rows), len(rows)), "ripe": bm25.weight(len(rows), 1)}
        scores = {candidate.id: candidate.bm25 for candidate in answer.candidates}
        assert scores == {
            stored.memory.id: pytest.approx(bm25.score(stored.counts, stored.length, weights), abs=1e-6)
            for stored in rows
        }


def test_text_gives_the_best_of_each_scope_within_the_limit(text_index: IndexUnderTest, org: str) -> None:
    rows = [row("figs " * (1 + n % 7) + f"number {n}", id=f"mem_{n:02}", org_id=org) for n in range(40)]
    put(text_index.index, *rows)
    everything = by_text(text_index.index, chain(org), "figs")
    best = sorted(everything, key=lambda id_: everything[id_].bm25 or 0, reverse=True)[:5]
    assert by_text(text_index.index, chain(org), "figs", limit=5).keys() == set(best)


def test_terms_of_no_row_and_no_terms_find_nothing(text_index: IndexUnderTest, org: str) -> None:
    put(text_index.index, row("figs", org_id=org))
    assert by_text(text_index.index, chain(org), "", terms=("absent",)) == {}
    assert by_text(text_index.index, chain(org), "", terms=()) == {}


def test_terms_of_any_characters_are_found(text_index: IndexUnderTest, org: str) -> None:
    terms = (*AWKWARD_IDS, "fig", "2024", "寿司", "😀", "a'b")
    plain = row("x", org_id=org)
    rows = [StoredMemory(row(f"text {n}", org_id=org).memory, {term: 1}, 1) for n, term in enumerate(terms)]
    put(text_index.index, plain, *rows)
    for term, stored in zip(terms, rows, strict=True):
        assert by_text(text_index.index, chain(org), "", terms=(term,)).keys() == {stored.memory.id}
    text_index.index.apply([gone(stored, 1) for stored in (plain, *rows)])
    assert text_index.leftovers(scope_of(plain)) == []


def test_a_row_without_terms_or_vectors_is_counted_and_not_found(text_index: IndexUnderTest, org: str) -> None:
    bare = StoredMemory(row("x", vectors=False, org_id=org).memory, {}, 0)
    put(text_index.index, bare)
    answer = text_index.index.search(chain(org), index_query("x"))
    assert (answer.candidates, answer.statistics.rows) == ((), 1)


def test_vectors_give_the_nearest_with_their_cosines(vector_index: IndexUnderTest, org: str) -> None:
    weights = [n / 10 for n in range(-9, 10)]
    rows = [with_vectors(row(f"row {w}", id=f"mem_{w}", org_id=org), between(w)) for w in weights]
    put(vector_index.index, *rows)
    hits = by_vector(vector_index.index, chain(org), "", vector=axis(0), limit=4)
    assert {id_: hit.cosine for id_, hit in hits.items()} == {
        f"mem_{w}": pytest.approx(w, abs=COSINE_ERROR) for w in (0.9, 0.8, 0.7, 0.6)
    }


def test_every_candidate_is_scored_by_both_signals(vector_index: IndexUnderTest, org: str) -> None:
    said = with_vectors(row("figs and pears", id="said", org_id=org), between(0.1))
    meant = with_vectors(row("a ripe fruit", id="meant", org_id=org), between(0.9))
    both = with_vectors(row("figs", id="both", org_id=org), between(0.5))
    put(vector_index.index, said, meant, both)
    hits = found(vector_index.index, chain(org), "figs", vector=axis(0), limit=2)
    cosines = {id_: hit.cosine for id_, hit in hits.items()}
    assert cosines == {
        id_: pytest.approx(value, abs=COSINE_ERROR) for id_, value in (("said", 0.1), ("meant", 0.9), ("both", 0.5))
    }
    assert hits["meant"].bm25 == 0
    assert (hits["both"].bm25 or 0) > (hits["said"].bm25 or 0) > 0


def test_the_nearest_chunk_speaks_for_a_memory(vector_index: IndexUnderTest, org: str) -> None:
    long = with_vectors(row("a long story of figs", id="long", org_id=org), axis(3), axis(4), between(0.8), axis(5))
    short = with_vectors(row("a short one", id="short", org_id=org), between(0.95))
    put(vector_index.index, long, short)
    for limit in (1, 10):  # by text and as the nearest
        hits = found(vector_index.index, chain(org), "figs", vector=axis(0), limit=limit)
        assert hits["long"].cosine == pytest.approx(0.8, abs=COSINE_ERROR)
        assert hits["short"].cosine == pytest.approx(0.95, abs=COSINE_ERROR)


def test_the_many_chunks_of_one_memory_hide_no_other(vector_index: IndexUnderTest, org: str) -> None:
    long = with_vectors(row("long", id="long", org_id=org), *(between(0.9 + n / 1000) for n in range(40)))
    others = [with_vectors(row(f"row {n}", id=f"mem_{n}", org_id=org), between(0.6 - n / 20)) for n in range(8)]
    put(vector_index.index, long, *others)
    hits = by_vector(vector_index.index, chain(org), "", vector=axis(0), limit=5)
    assert hits.keys() == {"long", "mem_0", "mem_1", "mem_2", "mem_3"}


def test_vectors_of_another_model_are_said_and_not_compared(vector_index: IndexUnderTest, org: str) -> None:
    old = with_vectors(row("old figs", id="old", org_id=org), axis(0), axis(1), model=OTHER_MODEL)
    new = row("new figs", id="new", org_id=org)
    bobs = with_vectors(row("figs", org_id=org, scope_id="bob"), axis(0), model=OTHER_MODEL)
    put(vector_index.index, old, new, bobs)
    answer = vector_index.index.search(chain(org), index_query("figs"))
    assert answer.mismatched == {scope_of(old)}
    assert {c.id: c.cosine is None for c in answer.candidates} == {"old": True, "new": False}
    assert by_vector(vector_index.index, chain(org), "figs").keys() == {"new"}
    assert by_vector(vector_index.index, chain(org), "", vector=axis(0), model=OTHER_MODEL).keys() == {"old"}
    assert vector_index.index.search(chain(org), index_query("figs", vector=None)).mismatched == frozenset()


def test_embedding_again_ends_the_mismatch_and_leaves_no_old_vector(vector_index: IndexUnderTest, org: str) -> None:
    rows = [row(f"figs {n}", org_id=org) for n in range(3)]
    put(vector_index.index, *(with_vectors(r, axis(0), axis(1), model=OTHER_MODEL) for r in rows))
    put(vector_index.index, *rows[:2])
    assert vector_index.index.search(chain(org), index_query("figs")).mismatched == {scope_of(rows[0])}
    put(vector_index.index, rows[2])
    assert vector_index.index.search(chain(org), index_query("figs")).mismatched == frozenset()
    assert by_vector(vector_index.index, chain(org), "", vector=axis(0), model=OTHER_MODEL) == {}
    assert not [name for name in vector_index.leftovers(scope_of(rows[0])) if "other" in name]


def filtered_rows(org: str) -> tuple[dict[str, Filter], list[StoredMemory]]:
    """Filters by the one row each admits, and a hundred nearer rows that fail all of them besides those rows."""
    crowd = [row(f"budget {n}", org_id=org, tags=("crowd",), event_time=at(1000)) for n in range(100)]
    rows = [
        row("budget of the kind", id="kind", org_id=org, type=MemoryType.DECISION, event_time=at(1000)),
        row("budget under the tag", id="tag", org_id=org, tags=("crowd", "wanted"), event_time=at(1000)),
        row("budget of the past", id="past", org_id=org, event_time=at(-5000)),
        row("budget of the future", id="future", org_id=org, event_time=at(2000)),
    ]
    filters = {
        "kind": Filter(types=(MemoryType.DECISION, MemoryType.TASK)),
        "tag": Filter(tags=("crowd", "wanted")),
        "past": Filter(before=1000),
        "future": Filter(since=1001),
    }
    return filters, [*crowd[:50], *rows, *crowd[50:]]


def at(milliseconds: int) -> datetime:
    """A time so long after 1970 began, or before."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def test_filters_hold_in_text_however_many_better_rows_fail_them(text_index: IndexUnderTest, org: str) -> None:
    filters, rows = filtered_rows(org)
    put(text_index.index, *rows)
    for id_, wanted in filters.items():
        assert by_text(text_index.index, chain(org), "budget", filter=wanted, limit=10).keys() == {id_}


def test_filters_hold_for_vectors_however_many_nearer_rows_fail_them(vector_index: IndexUnderTest, org: str) -> None:
    filters, rows = filtered_rows(org)
    put(vector_index.index, *rows)
    for id_, wanted in filters.items():
        assert by_vector(vector_index.index, chain(org), "budget", filter=wanted, limit=10).keys() == {id_}


def test_of_many_tags_every_one_counts(vector_index: IndexUnderTest, org: str) -> None:
    tags = tuple(f"tag {n:02}" for n in range(20))
    others = [
        with_vectors(row("figs", id=f"without {tag}", org_id=org, tags=tuple({*tags} - {tag})), between(0.9))
        for tag in tags
    ]
    wanted = with_vectors(row("figs", id="wanted", org_id=org, tags=tags), between(0.1))
    put(vector_index.index, *others[:10], wanted, *others[10:])
    for search in (by_text, by_vector):
        fields: dict[str, Any] = {"vector": axis(0)} if search is by_vector else {}
        assert search(vector_index.index, chain(org), "figs", filter=Filter(tags=tags), limit=1, **fields).keys() == {
            "wanted"
        }


def test_filters_change_no_score(text_index: IndexUnderTest, org: str) -> None:
    filters, rows = filtered_rows(org)
    put(text_index.index, *rows)
    whole = by_text(text_index.index, chain(org), "budget kind", limit=200)
    part = by_text(text_index.index, chain(org), "budget kind", filter=filters["kind"], limit=200)
    assert part == {"kind": whole["kind"]}


def test_since_is_inclusive_and_before_exclusive(vector_index: IndexUnderTest, org: str) -> None:
    times = (-86_400_000, -1, 0, 1, 1_772_366_400_123)
    put(vector_index.index, *(row("figs", id=str(t), org_id=org, event_time=at(t)) for t in times))
    for search in (by_text, by_vector):
        for bound in times:
            early = search(vector_index.index, chain(org), "figs", filter=Filter(before=bound))
            late = search(vector_index.index, chain(org), "figs", filter=Filter(since=bound))
            assert early.keys() == {str(t) for t in times if t < bound}
            assert late.keys() == {str(t) for t in times if t >= bound}


TAGS = (
    *('say "hi"', "back\\slash", 'both \\"', "Größe 大 😀", "a,b", "it's", "x' or 1 == 1", '"] or 1 == 1 or "x" in ["'),
    *("{", "[]", "100%", "%22", "a#b", "\\u0041", "\ttab\nline", "null", "true", "5", " ", "t" * 100, "é" * 100),
    *AWKWARD_IDS,
)


def test_tags_of_any_characters_are_told_apart(vector_index: IndexUnderTest, org: str) -> None:
    rows = [row("figs", id=str(n), org_id=org, tags=("common", tag)) for n, tag in enumerate(TAGS)]
    put(vector_index.index, *rows, row("figs", id="untagged", org_id=org))
    for search in (by_text, by_vector):
        for number, tag in enumerate(TAGS):
            hits = search(vector_index.index, chain(org), "figs", filter=Filter(tags=("common", tag)))
            assert hits.keys() == {str(number)}, tag
        assert search(vector_index.index, chain(org), "figs", filter=Filter(tags=("A",))) == {}
        assert search(vector_index.index, chain(org), "figs", filter=Filter(tags=("",))) == {}


def test_filters_follow_an_edit(vector_index: IndexUnderTest, org: str) -> None:
    put(vector_index.index, row("figs", id="mem_1", org_id=org, tags=("old",), type=MemoryType.TASK))
    put(vector_index.index, row("figs", id="mem_1", org_id=org, tags=("new",), event_time=at(0), revision=2))
    for search in (by_text, by_vector):
        for wanted in (Filter(tags=("old",)), Filter(types=(MemoryType.TASK,)), Filter(since=1)):
            assert search(vector_index.index, chain(org), "figs", filter=wanted) == {}
        wanted = Filter((MemoryType.FACT,), ("new",), 0, 1)
        assert search(vector_index.index, chain(org), "figs", filter=wanted).keys() == {"mem_1"}


def corpus(org: str, rng: random.Random) -> list[IndexEntry | IndexRemoval]:
    """Writes of three scopes: rows of many lengths, edits, rows that left, rows without a vector or with several."""
    words = [f"w{n}" for n in range(60)]
    changes: list[IndexEntry | IndexRemoval] = []
    places: tuple[dict[str, Any], ...] = (
        {},
        {"scope": Scope.SPACE, "scope_id": "red"},
        {"scope": Scope.ORGANIZATION, "scope_id": org},
    )
    for number in range(150):
        id_, place = f"mem_{number:03}", places[number % 3]
        for revision in range(1, rng.choice((2, 2, 2, 3, 4))):
            text = " ".join(words[min(int(rng.expovariate(0.08)), 59)] for _ in range(rng.randint(2, 40)))
            fields: dict[str, Any] = {
                "type": rng.choice((MemoryType.FACT, MemoryType.TASK)),
                "tags": tuple(rng.sample(("a", "b", 'c"'), rng.randint(0, 2))),
                "event_time": at(rng.randint(0, 100)),
            }
            stored = row(text, id=id_, org_id=org, revision=revision, vectors=number % 10 != 0, **place, **fields)
            if number % 10 == 1:
                stored = with_vectors(stored, *(EMBEDDER.embed_query(part) for part in (text, text[:20], text[20:])))
            changes.append(entry(stored))
        if number % 15 == 2:
            changes.append(gone(stored, stored.memory.revision))
    return changes


def queries(rng: random.Random) -> list[IndexQuery]:
    """Queries with and without a filter."""
    filters = (
        *(None, None, Filter(types=(MemoryType.TASK,)), Filter(tags=("a",)), Filter(tags=('c"', "b"))),
        *(Filter(since=50), Filter(before=50), Filter((MemoryType.FACT,), ("a",), 20, 80)),
    )
    texts = [" ".join(f"w{rng.randint(0, 62)}" for _ in range(rng.randint(1, 8))) for _ in range(32)]
    return [index_query(text, filter=filters[n % len(filters)], limit=200) for n, text in enumerate(texts)]


def scores(answer: IndexAnswer, *, vectors: bool) -> dict[tuple[str, str], tuple[object, object]]:
    """What an answer says, with the precision that indexes promise."""

    def both(candidate: Candidate) -> tuple[object, object]:
        near = None if candidate.cosine is None or not vectors else pytest.approx(candidate.cosine, abs=COSINE_ERROR)
        return pytest.approx(candidate.bm25, abs=1e-6), near

    return {(candidate.scope_key, candidate.id): both(candidate) for candidate in answer.candidates}


@pytest.mark.parametrize(
    ("server", "vectors"), [("redis", True), ("valkey", False), *((name, True) for name in SEARCH_MODULE)]
)
def test_the_twin_and_the_real_index_agree(
    request: pytest.FixtureRequest, org: str, server: str, *, vectors: bool
) -> None:
    rng = random.Random(SEED)
    twin, real = InMemoryHotIndex(), RedisHotIndex(emptied(request, server))
    changes = corpus(org, rng)
    indexes: tuple[HotIndex, ...] = (twin, real)
    for index in indexes:
        index.apply(changes)
    reader = chain(org, spaces=("red",))
    for query in queries(rng):
        asked = query if vectors else IndexQuery(None, query.model, query.terms, query.filter, query.limit)
        expected, answer = twin.search(reader, asked), real.search(reader, query)
        assert answer.statistics == expected.statistics
        assert (answer.incomplete, answer.mismatched) == (expected.incomplete, expected.mismatched)
        assert scores(answer, vectors=vectors) == scores(expected, vectors=vectors)
        assert len(answer.candidates) == len(scores(answer, vectors=vectors))


@pytest.mark.parametrize("server", ["redis", "valkey", *SEARCH_MODULE])
def test_the_twin_and_the_real_index_agree_on_the_best_by_text(
    request: pytest.FixtureRequest, org: str, server: str
) -> None:
    rng = random.Random(SEED)
    twin, real = InMemoryHotIndex(), RedisHotIndex(emptied(request, server))
    changes = corpus(org, rng)
    twin.apply(changes)
    real.apply(changes)
    reader = chain(org).narrow([Scope.USER], None)
    for query in queries(rng):
        asked = IndexQuery(None, query.model, query.terms, query.filter, limit=7)
        expected, answer = (sorted(c.bm25 or 0 for c in i.search(reader, asked).candidates) for i in (twin, real))
        assert answer == pytest.approx(expected, abs=1e-6)


def test_a_plain_valkey_answers_by_text_and_says_that_it_searched_no_vectors(
    request: pytest.FixtureRequest, org: str
) -> None:
    index = RedisHotIndex(emptied(request, "valkey"))
    put(index, row("figs", id="mem_1", org_id=org), row("pears", org_id=org))
    assert index.probe()["vectorDriver"] == "none"
    answer = index.search(chain(org), index_query("figs"))
    assert [(candidate.id, candidate.cosine) for candidate in answer.candidates] == [("mem_1", None)]
    assert (answer.vectors_searched, answer.mismatched) == (False, frozenset())


def test_an_answer_says_whether_vectors_were_searched(vector_index: IndexUnderTest, org: str) -> None:
    reader = chain(org)
    assert vector_index.index.search(reader, index_query("figs")).vectors_searched
    assert not vector_index.index.search(reader, index_query("figs", vector=None)).vectors_searched


def test_cosines_of_real_size_are_kept_within_the_error(vector_index: IndexUnderTest, org: str) -> None:
    rng = random.Random(SEED)
    vectors = [unit([rng.gauss(0, 1) for _ in range(256)]) for _ in range(30)]
    put(
        vector_index.index,
        *(with_vectors(row(f"row {n}", id=str(n), org_id=org), v) for n, v in enumerate(vectors)),
    )
    hits = by_vector(vector_index.index, chain(org), "", vector=vectors[0])
    assert {id_: hit.cosine for id_, hit in hits.items()} == {
        str(n): pytest.approx(cosine(vectors[0], v), abs=COSINE_ERROR) for n, v in enumerate(vectors)
    }
