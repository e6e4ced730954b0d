"""The Souls of organizations on MongoDB: one document an organization, replaced whole."""

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import SOULS
from chalicelib.domain.keys import key
from chalicelib.domain.soul import StoredSoul


class MongoSoulStore:
    """`ports.SoulStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._souls = connection.database.get_collection(SOULS)

    def get(self, org_id: str) -> StoredSoul | None:
        with self._connection.reading():
            found = self._souls.find_one({"_id": key(org_id, "soul"), "orgId": org_id})
        return None if found is None else StoredSoul.model_validate(found["soul"])

    def put(self, org_id: str, soul: StoredSoul) -> None:
        document = {"orgId": org_id, "soul": soul.model_dump(mode="json", by_alias=True)}
        with self._connection.writing():
            self._souls.replace_one({"_id": key(org_id, "soul")}, document, upsert=True)
