"""The strict double is strict: what a cluster refuses, it refuses too."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from bson.binary import VECTOR_SUBTYPE, Binary, BinaryVectorDtype
from pymongo.errors import OperationFailure

from chalicelib.adapters.mongo.searchindex import definition
from tests.atlas_grammar import check_against, check_definition, check_filter, check_stage, searches
from tests.building import NOW

DECLARED = {"scopeKey", "expiresAt"}
Change = Callable[[dict[str, Any]], Any]


def stage(**fields: Any) -> dict[str, Any]:
    """A stage that a cluster takes, with `fields` in place of any; those that are ... are left out."""
    values = {
        "index": "memories_vectors",
        "path": "embedding_256",
        "queryVector": [0.6, 0.8],
        "limit": 10,
        "numCandidates": 200,
        "filter": {"scopeKey": {"$in": ["a"]}},
    }
    return {name: value for name, value in (values | fields).items() if value is not ...}


def judged(asked: dict[str, Any]) -> None:
    """Hold a stage to the grammar and to the index."""
    check_stage(asked)
    check_against(asked, definition(2))


GOOD: dict[str, dict[str, Any]] = {
    "approximate": stage(),
    "exact": stage(numCandidates=..., exact=True),
    "exact said to be false": stage(exact=False),
    "as many candidates as results": stage(limit=200),
    "the most candidates": stage(numCandidates=10_000),
    "no filter": stage(filter=...),
    "a binary vector": stage(queryVector=Binary.from_vector([0.6, 0.8], BinaryVectorDtype.FLOAT32)),
}
BAD: dict[str, dict[str, Any]] = {
    "a field that is none": stage(minScore=0.5),
    "no index": stage(index=...),
    "an empty index": stage(index=""),
    "no path": stage(path=...),
    "a path that is no vector": stage(path="scopeKey"),
    "no limit": stage(limit=...),
    "a limit of 0": stage(limit=0),
    "a limit that is no int": stage(limit=10.0),
    "a limit that is a boolean": stage(limit=True),
    "a limit over the candidates": stage(limit=201),
    "no candidates": stage(numCandidates=...),
    "candidates and exact": stage(exact=True),
    "too many candidates": stage(numCandidates=10_001),
    "exact as a number": stage(numCandidates=..., exact=1),
    "no vector": stage(queryVector=...),
    "a vector of another size": stage(queryVector=[0.1] * 3),
    "a vector of NaN": stage(queryVector=[math.nan, 0.1]),
    "a vector of text": stage(queryVector=["a", "b"]),
    "bytes that are no vector": stage(queryVector=Binary(b"abcdefgh", 0)),
    "a vector of int8": stage(queryVector=Binary(b"\x03\x00ab", VECTOR_SUBTYPE)),
    "a filter that is a list": stage(filter=[{"scopeKey": "a"}]),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_stage_of_the_documented_form_is_taken(name: str) -> None:
    judged(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_a_stage_of_any_other_form_is_refused(name: str) -> None:
    with pytest.raises(OperationFailure):
        judged(BAD[name])


GOOD_FILTERS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "the short form": {"scopeKey": "a"},
    "two operators": {"expiresAt": {"$gte": NOW, "$lt": NOW}},
    "not": {"expiresAt": {"$not": {"$lte": NOW}}},
    "logic in logic": {"$and": [{"$or": [{"scopeKey": "a"}, {"$nor": [{"expiresAt": {"$lte": NOW}}]}]}]},
    "lists": {"scopeKey": {"$in": ["a"], "$nin": ["b"]}},
}
BAD_FILTERS: dict[str, dict[str, Any]] = {
    "an undeclared path": {"orgId": "a"},
    "an undeclared path inside": {"$and": [{"$nor": [{"orgId": {"$eq": "a"}}]}]},
    "exists": {"expiresAt": {"$exists": False}},
    "null": {"expiresAt": None},
    "equal to null": {"expiresAt": {"$eq": None}},
    "null in a list": {"expiresAt": {"$in": [None, NOW]}},
    "all": {"scopeKey": {"$all": ["a"]}},
    "regex": {"scopeKey": {"$regex": "a"}},
    "where": {"$where": "true"},
    "expr": {"$expr": {"$eq": [1, 1]}},
    "a list as a value": {"scopeKey": ["a"]},
    "a document as a value": {"scopeKey": {"$eq": {"a": 1}}},
    "an empty list": {"scopeKey": {"$in": []}},
    "a list of mixed types": {"scopeKey": {"$in": ["a", 1]}},
    "no clauses": {"$and": []},
    "no operators": {"scopeKey": {}},
    "not of a value": {"scopeKey": {"$not": "a"}},
    "a range of booleans": {"scopeKey": {"$gt": True}},
}


@pytest.mark.parametrize("name", GOOD_FILTERS)
def test_a_filter_of_the_documented_form_is_taken(name: str) -> None:
    check_filter(GOOD_FILTERS[name], DECLARED)


@pytest.mark.parametrize("name", BAD_FILTERS)
def test_a_filter_of_any_other_form_is_refused(name: str) -> None:
    with pytest.raises(OperationFailure):
        check_filter(BAD_FILTERS[name], DECLARED)


def test_an_undeclared_path_is_refused_in_the_words_that_a_cluster_uses() -> None:
    with pytest.raises(OperationFailure, match="Path 'orgId' needs to be indexed as filter"):
        check_filter({"orgId": "a"}, DECLARED)


def test_a_search_stands_first_or_is_refused() -> None:
    assert searches([{"$vectorSearch": {}}, {"$limit": 1}])
    assert not searches([{"$match": {}}])
    with pytest.raises(OperationFailure) as raised:
        searches([{"$match": {}}, {"$vectorSearch": {}}])
    assert raised.value.code == 40602


BAD_DEFINITIONS: dict[str, Change] = {
    "without a vector": lambda made: made["fields"].pop(0),
    "a path twice": lambda made: made["fields"].append({"type": "filter", "path": "scopeKey"}),
    "an unknown similarity": lambda made: made["fields"][0].update(similarity="manhattan"),
    "too many dimensions": lambda made: made["fields"][0].update(numDimensions=8193),
    "a type that is none": lambda made: made["fields"][1].update(type="token"),
    "an option that is none": lambda made: made["fields"][1].update(normalizer="lowercase"),
}


@pytest.mark.parametrize("name", BAD_DEFINITIONS)
def test_a_definition_that_a_cluster_refuses_is_refused(name: str) -> None:
    made = definition(256)
    check_definition(made)
    BAD_DEFINITIONS[name](made)
    with pytest.raises(OperationFailure):
        check_definition(made)
