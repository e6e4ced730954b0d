"""`ports.HotIndex`: the prospective questions of a memory find it, count for it alone, and go with it."""

from typing import Any

import pytest

from chalicelib.domain import bm25
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import Candidate, Filter, StoredMemory
from chalicelib.domain.scope import Chain
from chalicelib.domain.vector import Vector, unit
from chalicelib.ports import HotIndex, IndexEntry
from tests.building import AWKWARD_IDS, chain, entry, index_query, row
from tests.contract.conftest import IndexUnderTest
from tests.contract.index_steps import OTHER_MODEL, axis, found, gone, put, scope_of, with_vectors

COSINE_ERROR = 0.02  # stored vectors are of 8 bits a value


def between(weight: float) -> Vector:
    """A unit vector whose cosine with the first axis is `weight`."""
    return unit([weight, (1 - weight**2) ** 0.5, *[0.0] * 6])


def asked(stored: StoredMemory, *questions: Vector, terms: tuple[str, ...] = (), **fields: Any) -> IndexEntry:
    """The row with questions."""
    return entry(stored, questions=questions, question_terms=terms, **fields)


def far(org: str, name: str, **fields: Any) -> StoredMemory:
    """A row of the organization whose own vector has nothing to do with the first axis."""
    return with_vectors(row(f"text of {name}", id=name, org_id=org, **fields), axis(1))


def foreseen(index: HotIndex, reader: Chain, **fields: Any) -> dict[str, Candidate]:
    """What a prospective query along the first axis finds by a question."""
    hits = found(index, reader, "", **{"vector": axis(0), "terms": (), "prospective": True} | fields)
    return {id_: hit for id_, hit in hits.items() if hit.question is not None}


def test_a_question_finds_its_memory_with_both_cosines(vector_index: IndexUnderTest, org: str) -> None:
    mine = far(org, "mine")
    others = [with_vectors(row(f"other {n}", org_id=org), between(0.5 + n / 100)) for n in range(20)]
    vector_index.index.apply([asked(mine, axis(3), between(0.9), axis(4)), *map(entry, others)])
    hits = foreseen(vector_index.index, chain(org), limit=5)
    assert hits.keys() == {"mine"}
    assert hits["mine"].question == pytest.approx(0.9, abs=COSINE_ERROR)
    assert hits["mine"].cosine == pytest.approx(0.0, abs=COSINE_ERROR)


def test_a_query_that_is_not_prospective_knows_nothing_of_questions(vector_index: IndexUnderTest, org: str) -> None:
    mine, other = far(org, "mine"), with_vectors(row("other", id="other", org_id=org), between(0.5))
    plain = [entry(mine), entry(other)]
    vector_index.index.apply(plain)
    before = vector_index.index.search(chain(org), index_query("text", vector=axis(0), limit=1))
    vector_index.index.apply([asked(mine, axis(0), terms=("foreseen",)), entry(other)])
    assert vector_index.index.search(chain(org), index_query("text", vector=axis(0), limit=1)) == before
    answer = vector_index.index.search(chain(org), index_query("", vector=None, terms=("foreseen",)))
    assert (answer.candidates, answer.statistics.frequencies) == ((), {"foreseen": 0})


@pytest.mark.parametrize("scope_id", AWKWARD_IDS)
def test_the_questions_of_another_scope_never_match(vector_index: IndexUnderTest, org: str, scope_id: str) -> None:
    mine = far(org, "mine", scope_id="ana")
    foreign = far(org, "foreign", scope_id=scope_id)
    stranger = far(f"{org}x", "stranger", scope_id="ana")
    vector_index.index.apply([asked(one, axis(0), terms=("foreseen",)) for one in (mine, foreign, stranger)])
    terms = ("foreseen",)
    assert foreseen(vector_index.index, chain(org), terms=terms).keys() == {"mine"}
    assert foreseen(vector_index.index, chain(org, scope_id), terms=terms).keys() == {"foreign"}
    answer = vector_index.index.search(chain(org), index_query("", vector=axis(0), terms=terms, prospective=True))
    assert answer.statistics.frequencies == {"foreseen": 1}


def test_the_limit_counts_rows_and_not_questions(vector_index: IndexUnderTest, org: str) -> None:
    rows = [far(org, f"mem_{n}") for n in range(8)]
    near = [between(0.9 - n / 20) for n in range(8)]
    vector_index.index.apply([asked(one, *[near[n]] * 5) for n, one in enumerate(rows)])
    assert foreseen(vector_index.index, chain(org), limit=3).keys() == {"mem_0", "mem_1", "mem_2"}


def test_many_questions_push_no_memory_out_of_its_own_search(vector_index: IndexUnderTest, org: str) -> None:
    own = [with_vectors(row(f"own {n}", id=f"own_{n}", org_id=org), between(0.3)) for n in range(3)]
    rows = [far(org, f"mem_{n}") for n in range(20)]
    vector_index.index.apply([*map(entry, own), *(asked(one, between(0.9)) for one in rows)])
    hits = found(vector_index.index, chain(org), "", vector=axis(0), terms=(), limit=3, prospective=True)
    assert {"own_0", "own_1", "own_2"} <= hits.keys()
    assert sum(hit.question is not None for hit in hits.values()) == 3


def test_a_filter_holds_for_questions(vector_index: IndexUnderTest, org: str) -> None:
    crowd = [far(org, f"crowd_{n}", tags=("crowd",)) for n in range(30)]
    wanted = far(org, "wanted", type=MemoryType.DECISION, tags=("wanted",))
    vector_index.index.apply([*(asked(one, axis(0)) for one in crowd), asked(wanted, between(0.4))])
    for admits in (Filter(types=(MemoryType.DECISION,)), Filter(tags=("wanted",))):
        assert foreseen(vector_index.index, chain(org), filter=admits, limit=5).keys() == {"wanted"}


def test_a_foreseen_term_counts_by_its_share_and_dilutes_no_text(text_index: IndexUnderTest, org: str) -> None:
    said = row("figs are ripe", id="said", org_id=org)
    foreseen_row = row("a fruit", id="foreseen", org_id=org)
    text_index.index.apply([entry(said), asked(foreseen_row, terms=("fig", "fruit", "ripe"))])
    answer = text_index.index.search(chain(org), index_query("", vector=None, terms=("fig", "fruit"), prospective=True))
    weights = {"fig": bm25.weight(2, 2), "fruit": bm25.weight(2, 1)}
    assert answer.statistics.frequencies == {"fig": 2, "fruit": 1}
    assert {c.id: c.bm25 for c in answer.candidates} == {
        "said": pytest.approx(bm25.score(said.counts, said.length, weights), abs=1e-6),
        "foreseen": pytest.approx(
            bm25.score(foreseen_row.counts, foreseen_row.length, weights)
            + weights["fig"] * bm25.question_impact(foreseen_row.length),
            abs=1e-6,
        ),
    }


def test_questions_go_with_their_memory_and_leave_nothing(vector_index: IndexUnderTest, org: str) -> None:
    mine, other = far(org, "mine"), far(org, "other")
    vector_index.index.apply([asked(mine, axis(0), axis(2), terms=("foreseen",)), asked(other, between(0.5))])
    vector_index.index.apply([gone(mine, 2)])
    assert foreseen(vector_index.index, chain(org), terms=("foreseen",)).keys() == {"other"}
    vector_index.index.apply([gone(other, 2)])
    assert vector_index.leftovers(scope_of(mine)) == []
    vector_index.index.apply([asked(mine, axis(0))])
    assert foreseen(vector_index.index, chain(org)) == {}


def test_questions_of_an_earlier_revision_go_and_those_of_a_stale_one_never_come(
    vector_index: IndexUnderTest, org: str
) -> None:
    mine = far(org, "mine")
    vector_index.index.apply([asked(mine, axis(0), axis(2), terms=("foreseen",))])
    vector_index.index.apply([entry(mine, revision=2)])
    assert foreseen(vector_index.index, chain(org), terms=("foreseen",)) == {}
    vector_index.index.apply([asked(mine, axis(0), terms=("foreseen",))])
    assert foreseen(vector_index.index, chain(org), terms=("foreseen",)) == {}
    vector_index.index.apply([asked(mine, between(0.7), revision=2)])
    assert foreseen(vector_index.index, chain(org))["mine"].question == pytest.approx(0.7, abs=COSINE_ERROR)


def test_a_change_that_says_nothing_of_questions_leaves_those_of_its_revision(
    vector_index: IndexUnderTest, org: str
) -> None:
    mine = far(org, "mine")
    vector_index.index.apply([asked(mine, axis(0), terms=("foreseen",))])
    put(vector_index.index, mine)
    vector_index.index.apply([entry(mine, tags=("new",))])
    assert foreseen(vector_index.index, chain(org), terms=("foreseen",)).keys() == {"mine"}
    vector_index.index.apply([asked(mine)])
    assert foreseen(vector_index.index, chain(org), terms=("foreseen",)) == {}


def test_a_set_is_replaced_whole_and_a_repeat_changes_nothing(vector_index: IndexUnderTest, org: str) -> None:
    mine = far(org, "mine")
    vector_index.index.apply([asked(mine, axis(0), axis(2), axis(3), terms=("one", "two"))])
    vector_index.index.apply([asked(mine, axis(4), terms=("two",))])
    for _ in range(2):
        hits = foreseen(vector_index.index, chain(org), terms=("one",))
        assert hits["mine"].question == pytest.approx(0.0, abs=COSINE_ERROR)
        assert not hits["mine"].bm25
        vector_index.index.changed()
        vector_index.index.apply([asked(mine, axis(4), terms=("two",))])
    assert vector_index.index.changed() == []


def test_questions_of_another_model_are_not_compared_and_go_with_it(vector_index: IndexUnderTest, org: str) -> None:
    mine = with_vectors(row("text", id="mine", org_id=org), axis(1), model=OTHER_MODEL)
    vector_index.index.apply([asked(mine, axis(0))])
    assert foreseen(vector_index.index, chain(org)) == {}
    assert foreseen(vector_index.index, chain(org), model=OTHER_MODEL).keys() == {"mine"}
    put(vector_index.index, far(org, "mine"))
    assert foreseen(vector_index.index, chain(org), model=OTHER_MODEL) == {}
    assert not [name for name in vector_index.leftovers(scope_of(mine)) if "other" in name]


def test_a_rebuild_drops_questions_too(vector_index: IndexUnderTest, org: str) -> None:
    mine = far(org, "mine")
    vector_index.index.apply([asked(mine, axis(0), terms=("foreseen",))])
    vector_index.index.begin_rebuild(scope_of(mine))
    assert vector_index.leftovers(scope_of(mine)) == []
    vector_index.index.apply([asked(mine, axis(0), terms=("foreseen",))])
    assert foreseen(vector_index.index, chain(org)).keys() == {"mine"}
