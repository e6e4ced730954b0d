"""The genomes of sessions on MongoDB: one document a session, replaced where its version is the one that was read."""

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import MongoConnection
from chalicelib.adapters.mongo.indexes import SESSION_GENOMES
from chalicelib.domain.genome.model import ConversationGenome


class MongoSessionGenomeStore:
    """`ports.SessionGenomeStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._genomes = connection.database.get_collection(SESSION_GENOMES)

    def load(self, session_key: str) -> ConversationGenome | None:
        with self._connection.reading():
            document = self._genomes.find_one({"_id": session_key})
        return ConversationGenome.model_validate_json(document["genome"]) if document else None

    def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
        # as text: it is read and written whole, and a text is a tenth of the work of hundreds of small documents
        document = {"_id": session_key, "version": genome.version, "genome": genome.model_dump_json(by_alias=True)}
        with self._connection.writing():
            if expected_version:
                return (
                    self._genomes.replace_one({"_id": session_key, "version": expected_version}, document).matched_count
                    == 1
                )
            try:
                self._genomes.insert_one(document)
            except DuplicateKeyError:
                return False
            return True

    def remove(self, session_key: str) -> bool:
        with self._connection.writing():
            return self._genomes.delete_one({"_id": session_key}).deleted_count == 1
