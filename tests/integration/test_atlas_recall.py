"""Recall over MongoDB's own vector search, where Redis does not hold the scopes."""

from typing import Any

import pytest

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.adapters.mongo.searchindex import create_search_index
from chalicelib.adapters.mongo.storedvectors import MongoStoredVectors
from chalicelib.bootstrap import Container
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.vector import Vector
from tests.atlas_double import AtlasDouble
from tests.building import caller
from tests.integration.arrangements import contents, remember, services, skipped

QUERY = RecallQuery(query="which instrument?")


class Meanings(TermEmbedder):
    """An embedder to whom a cello is an instrument and so is a violin, by no word that they share."""

    def embed_query(self, text: str) -> Vector:
        heard = text.lower()
        return super().embed_query("instrument" if any(one in heard for one in ("cello", "violin")) else text)


@pytest.fixture
def atlas(mongo: MongoConnection) -> AtlasDouble:
    """A cluster with the index."""
    double = AtlasDouble(mongo)
    create_search_index(double, 256)
    return double


@pytest.fixture
def made(mongo: MongoConnection, atlas: AtlasDouble) -> Container:
    """The product without Redis."""
    return services(mongo, None, embedder=Meanings(), vectors=MongoStoredVectors(atlas))


def tier_of(answer: dict[str, Any]) -> set[str]:
    """The tiers that the hits came from."""
    return {hit["tier"] for hit in answer["hits"]}


def test_what_no_word_finds_is_found_by_its_meaning(made: Container, org: str) -> None:
    ana = caller(org)
    remember(made, ana, "Ana plays the cello", "Ana lives in Porto")
    remember(made, caller(org, "bob"), "Bob plays the cello")
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer) == ["Ana plays the cello"]
    assert tier_of(answer) == {"atlas_vectors"}
    assert answer["degraded"] == []


def test_a_search_that_lags_behind_misses_no_write_of_a_moment_ago(
    made: Container, atlas: AtlasDouble, org: str
) -> None:
    ana = caller(org)
    (old,) = remember(made, ana, "Ana lives in Porto")
    atlas.fall_behind(MEMORIES)
    remember(made, ana, "Ana plays the cello")
    made.editor.edit(ana, old["id"], {"content": "Ana owns a violin"}, 1)
    assert set(contents(made.recall.recall(ana, QUERY))) == {"Ana plays the cello", "Ana owns a violin"}
    made.editor.forget(ana, old["id"])
    assert contents(made.recall.recall(ana, QUERY)) == ["Ana plays the cello"]


def test_a_server_without_search_is_no_error_and_text_answers(made: Container, atlas: AtlasDouble, org: str) -> None:
    ana = caller(org)
    atlas.has_search = False
    remember(made, ana, "Ana plays an instrument")
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer) == ["Ana plays an instrument"]
    assert "atlas_vectors" in skipped(answer)
    assert [(one["part"], one["code"]) for one in answer["degraded"]] == [("atlas_vectors", "not_supported")]


def test_an_index_of_another_size_is_diagnosed_and_text_answers(
    made: Container, atlas: AtlasDouble, mongo: MongoConnection, org: str
) -> None:
    ana = caller(org)
    remember(made, ana, "Ana plays an instrument")
    create_search_index(atlas, 512)
    answer = made.recall.recall(ana, QUERY)
    assert contents(answer) == ["Ana plays an instrument"]
    (missing,) = answer["degraded"]
    assert missing["code"] == "embedding_mismatch"
    assert "vitto indexes" in missing["message"]


def test_the_audit_says_which_tier_was_asked(made: Container, org: str) -> None:
    ana = caller(org)
    remember(made, ana, "Ana plays the cello")
    answer = made.recall.recall(ana, QUERY)
    record = made.recall_audit.read(ana, answer["recallId"])
    assert [hit["tier"] for hit in record.hits] == ["atlas_vectors"]
    assert "atlas_vectors" in {report.tier for report in record.tiers}
