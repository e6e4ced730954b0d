"""What a process of the service needs: settings for real servers, indexes, and keys for its callers."""

from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.adapters.mongo.administration import MongoKeyStore
from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import create_indexes
from chalicelib.bootstrap import system_clock
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.auth.api_keys import mint
from chalicelib.settings import MongoSettings
from tests.embedding_server import embedding_server


@contextmanager
def service_environment(mongo_url: str, redis_url: str, database: str) -> Iterator[dict[str, str]]:
    """Settings over a database of its own. The limits are wide: one Python process plays MongoDB."""
    with embedding_server() as embedding, mongo_database(mongo_url, database) as connection:
        create_indexes(connection.database)
        yield {
            "VITTO_MONGO_URI": mongo_url,
            "VITTO_MONGO_DATABASE": database,
            "VITTO_MONGO_READ_SECONDS": "25",
            "VITTO_MONGO_WRITE_SECONDS": "25",
            "VITTO_MONGO_SELECT_SECONDS": "10",
            "VITTO_REDIS_URL": redis_url,
            "VITTO_REDIS_SECONDS": "10",
            "VITTO_REDIS_BULK_SECONDS": "20",
            "VITTO_EMBEDDING_BASE_URL": embedding.url,
            "VITTO_EMBEDDING_MODEL": "e5-passage",
            "VITTO_EMBEDDING_QUERY_SECONDS": "20",
            "VITTO_EMBEDDING_PASSAGE_SECONDS": "60",
            "VITTO_RECALL_SECONDS": "28",
        }


@contextmanager
def mongo_database(mongo_url: str, database: str) -> Iterator[MongoConnection]:
    """A connection that is closed again."""
    settings = MongoSettings(uri=mongo_url, database=database, read_seconds=25, write_seconds=25, select_seconds=10)
    connection = MongoConnection(settings)
    try:
        yield connection
    finally:
        connection.client.close()


def member_keys(environment: dict[str, str], org: str, *users: str) -> list[str]:
    """A key for each member."""
    made, now = [], system_clock()
    with mongo_database(environment["VITTO_MONGO_URI"], environment["VITTO_MONGO_DATABASE"]) as connection:
        store = MongoKeyStore(connection)
        for user in users:
            stored, shown = mint(org_id=org, name="k", user_id=user, roles=(Role.MEMBER,), now=now, created_by="root")
            store.add(stored)
            made.append(shown)
    return made
