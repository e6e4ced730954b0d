"""Fusion orders candidates by both signals, the same whatever order they came in (faults.md 28)."""

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.query import Candidate
from chalicelib.domain.vector import unit
from chalicelib.recall.fusion import complete, fuse
from tests.building import EMBEDDER, row

SIGNALS = st.tuples(st.none() | st.floats(-1, 1), st.none() | st.floats(0, 30))
CANDIDATES = st.lists(SIGNALS, max_size=12).map(
    lambda pairs: [Candidate(f"mem_{i:02}", "acme/user/ana", cosine, bm25) for i, (cosine, bm25) in enumerate(pairs)]
)


def ids(candidates: list[Candidate]) -> list[str]:
    """The ids in the order of fusion."""
    return [one.candidate.id for one in fuse(candidates)]


@given(CANDIDATES, st.randoms())
def test_the_order_is_the_same_whatever_order_candidates_came_in(
    candidates: list[Candidate], chance: random.Random
) -> None:
    shuffled = list(candidates)
    chance.shuffle(shuffled)
    assert [(one.candidate.id, one.score) for one in fuse(shuffled)] == [
        (one.candidate.id, one.score) for one in fuse(candidates)
    ]


@given(CANDIDATES)
def test_no_candidate_is_lost_or_made(candidates: list[Candidate]) -> None:
    assert sorted(ids(candidates)) == [candidate.id for candidate in candidates]


@given(CANDIDATES)
def test_scores_are_finite_and_fall(candidates: list[Candidate]) -> None:
    scores = [one.score for one in fuse(candidates)]
    assert all(math.isfinite(score) for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12, unique=True))
def test_by_one_signal_alone_the_order_is_that_signals(cosines: list[float]) -> None:
    candidates = [Candidate(f"mem_{i:02}", "s", value) for i, value in enumerate(cosines)]
    ordered = [one.candidate.cosine or 0.0 for one in fuse(candidates)]
    assert all(before >= after - 1e-9 for before, after in pairwise(ordered))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8), st.lists(st.floats(0, 30), min_size=8, max_size=8))
def test_a_row_better_by_both_signals_comes_first(cosines: list[float], texts: list[float]) -> None:
    others = [Candidate(f"mem_{i}", "s", c, t) for i, (c, t) in enumerate(zip(cosines, texts, strict=False))]
    best = Candidate("mem_z", "s", max(cosines) + 0.5, max(texts) + 1)
    assert ids([*others, best])[0] == "mem_z"


def test_ties_go_by_id() -> None:
    assert ids([Candidate(name, "s", 0.5, 1.0) for name in ("c", "a", "b")]) == ["a", "b", "c"]


def test_a_signal_that_a_row_cannot_have_counts_as_the_mean() -> None:
    high, low = Candidate("high", "s", 0.9, 1.0), Candidate("low", "s", 0.1, 1.0)
    pending = Candidate("pending", "s", None, 1.0)
    assert ids([low, pending, high]) == ["high", "pending", "low"]
    assert {one.candidate.id: one.score for one in fuse([low, pending, high])}["pending"] == 0


def test_a_signal_that_says_the_same_of_all_says_nothing() -> None:
    assert [one.score for one in fuse([Candidate("a", "s", 0.7, 2.0), Candidate("b", "s", 0.7, 2.0)])] == [0, 0]


def test_nothing_fused_is_nothing() -> None:
    assert fuse([]) == []


def test_a_row_that_was_read_gets_both_scores() -> None:
    stored = row("Ana lives in Porto")
    candidate = Candidate(stored.memory.id, "s", row=stored)
    (term, *_) = stored.counts
    complete(candidate, EMBEDDER.embed_query("Ana lives in Porto"), EMBEDDER.passage_model, {term: 2.0})
    assert candidate.cosine == pytest.approx(1, abs=1e-5)
    assert candidate.bm25
    assert candidate.bm25 > 0


@pytest.mark.parametrize("vectors", [True, False])
def test_a_vector_of_another_model_is_not_compared(vectors: bool) -> None:
    stored = row("Ana lives in Porto", vectors=vectors)
    candidate = Candidate(stored.memory.id, "s", row=stored)
    complete(candidate, unit([1.0] * 8), "another@8", {})
    assert candidate.cosine is None
    assert candidate.bm25 == 0
