"""What a vector search asks of the index: only fields that the index declares, always the scopes, and within the limits."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.adapters.mongo import documents
from chalicelib.adapters.mongo.searchindex import VECTOR_PATH, FilterField, definition
from chalicelib.adapters.mongo.vectorsearch import pipeline
from chalicelib.domain.memory import MemoryType
from chalicelib.domain.query import Filter, IndexQuery
from tests.atlas_grammar import check_against, check_definition, check_stage, searches
from tests.building import EMBEDDER, NOW, row

VECTOR = EMBEDDER.embed_query("figs")
SIZE = len(VECTOR) // 4
MILLISECONDS = st.integers(-(10**13), 10**14)
FILTERS = st.builds(
    Filter,
    st.lists(st.sampled_from(MemoryType), unique=True).map(tuple),
    st.lists(st.text(min_size=1), max_size=20).map(tuple),
    st.none() | MILLISECONDS,
    st.none() | MILLISECONDS,
)
QUERIES = st.builds(
    IndexQuery, st.just(VECTOR), st.text(min_size=1), st.just(()), st.none() | FILTERS, st.integers(1, 200)
)
SCOPES = st.lists(st.text(min_size=1), min_size=1, max_size=8)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - zoned by the strategy


def paths(clause: dict[str, Any]) -> set[str]:
    """Every path that a filter names."""
    inner = [part for name, parts in clause.items() if name.startswith("$") for part in parts]
    return {name for name in clause if not name.startswith("$")}.union(*(paths(part) for part in inner))


@given(QUERIES, SCOPES, st.integers(1, 200), st.integers(0, 10**7), TIMES)
def test_every_search_is_of_the_documented_grammar_and_names_declared_fields_alone(
    query: IndexQuery, scopes: list[str], limit: int, rows: int, now: datetime
) -> None:
    stages = pipeline(VECTOR, query, scopes, limit=limit, rows=rows, now=now)
    assert searches(stages)
    stage = stages[0]["$vectorSearch"]
    check_stage(stage)
    check_against(stage, definition(SIZE))
    named = paths(stage["filter"])
    assert named <= {field.value for field in FilterField}
    assert named >= {"scopeKey", "status", "embeddingModel", "expiresAt"}
    assert {"scopeKey": {"$in": scopes}} in stage["filter"]["$and"]
    assert {"status": {"$eq": "active"}} in stage["filter"]["$and"]
    assert {"$nor": [{"expiresAt": {"$lte": now}}]} in stage["filter"]["$and"]


def test_no_field_is_declared_that_no_search_names() -> None:
    everything = IndexQuery(VECTOR, "m", (), Filter((MemoryType.TASK,), ("red",), 1, 2), 10)
    stage = pipeline(VECTOR, everything, ["s"], limit=10, rows=0, now=NOW)[0]["$vectorSearch"]
    assert paths(stage["filter"]) == set(FilterField)


def test_the_index_is_a_definition_that_a_server_takes_and_of_fields_that_documents_have() -> None:
    made = definition(SIZE)
    check_definition(made)
    stored = documents.to_document(row(expires_at=NOW, tags=("red",)))
    assert {field["path"] for field in made["fields"]} <= stored.keys()


def test_a_vector_is_asked_in_the_form_in_which_it_is_stored() -> None:
    query = IndexQuery(VECTOR, EMBEDDER.passage_model, (), None, 10)
    stage = pipeline(VECTOR, query, ["s"], limit=10, rows=0, now=NOW)[0]["$vectorSearch"]
    stored = documents.to_document(row("figs"))[VECTOR_PATH]
    assert (stage["queryVector"].subtype, bytes(stage["queryVector"])) == (stored.subtype, bytes(stored))


def test_the_answer_leaves_the_vector_behind_and_brings_the_score() -> None:
    query = IndexQuery(VECTOR, EMBEDDER.passage_model, (), None, 10)
    _, score, projection = pipeline(VECTOR, query, ["s"], limit=10, rows=0, now=NOW)
    assert score == {"$set": {"vectorScore": {"$meta": "vectorSearchScore"}}}
    assert projection == {"$project": {VECTOR_PATH: 0}}


@pytest.mark.parametrize("size", [1, 256, 1536, 4096])
def test_a_definition_can_be_made_for_any_size_that_the_settings_allow(size: int) -> None:
    check_definition(definition(size))
