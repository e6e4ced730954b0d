"""The Souls of organizations and the genomes of users on MongoDB: one document each, replaced whole."""

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import SOULS, USER_GENOMES
from chalicelib.domain.genome.user_model import UserGenome
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


class MongoUserGenomeStore:
    """`ports.UserGenomeStore`. Its document's `_id` makes a genome the only one of its user, so that of two first ones at
    once one is refused."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._genomes = connection.database.get_collection(USER_GENOMES)

    def load(self, org_id: str, user_id: str) -> UserGenome | None:
        with self._connection.reading():
            found = self._genomes.find_one(_identity(org_id, user_id))
        return None if found is None else UserGenome.model_validate(found["genome"])

    def put(self, org_id: str, genome: UserGenome, expected_version: int) -> bool:
        identity = _identity(org_id, genome.user_id)
        document = identity | {"version": genome.version, "genome": genome.model_dump(mode="json", by_alias=True)}
        with self._connection.writing():
            if expected_version:
                query = identity | {"version": expected_version}
                return self._genomes.replace_one(query, document).matched_count == 1
            try:
                self._genomes.insert_one(document)
            except DuplicateKeyError:
                return False
        return True

    def delete(self, org_id: str, user_id: str) -> bool:
        with self._connection.writing():
            return self._genomes.delete_one(_identity(org_id, user_id)).deleted_count == 1


def _identity(org_id: str, user_id: str) -> Document:
    return {"_id": key(org_id, "user_genome", user_id), "orgId": org_id, "userId": user_id}
