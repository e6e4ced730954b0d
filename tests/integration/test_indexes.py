"""MongoDB's indexes over versions: a database of before is brought up to date, and one that is up to date is left alone."""

import pytest
from pymongo import IndexModel

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import INDEXES, MEMORIES, create_indexes
from chalicelib.settings import MongoSettings

UNIQUE = "one_live_row_per_content"


@pytest.fixture
def of_before(mongo_url: str, org: str) -> MongoConnection:
    """A database of this test alone, with two indexes as an earlier version declared them."""
    connection = MongoConnection(MongoSettings(uri=mongo_url, database=org, read_seconds=20, write_seconds=30))
    partial = {"partialFilterExpression": {"live": True}}
    old = [
        IndexModel([("scopeKey", 1), ("contentKey", 1)], name=UNIQUE, unique=True, **partial),
        IndexModel([("updatedAt", 1)], name="changed", sparse=True),
    ]
    connection.database.get_collection(MEMORIES).create_indexes(old)
    return connection


def test_an_index_that_was_declared_otherwise_is_replaced_and_that_is_said(of_before: MongoConnection) -> None:
    try:
        said = create_indexes(of_before.database)
        assert [line.partition(":")[0] for line in said] == [f"{one.collection}.{one.name}" for one in INDEXES]
        replaced = {line.partition(":")[0] for line in said if "replaced" in line}
        assert replaced == {f"{MEMORIES}.{UNIQUE}", f"{MEMORIES}.changed"}
        stands = of_before.database.get_collection(MEMORIES).index_information()
        assert stands[UNIQUE]["key"] == [("contentKey", 1)]
        assert stands[UNIQUE]["unique"]
        assert not any("replaced" in line for line in create_indexes(of_before.database))
    finally:
        of_before.client.close()
