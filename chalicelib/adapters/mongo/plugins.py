"""The plugin switches of organizations on MongoDB: one document an organization, each switch a field of its own, so that two
admins who switch different plugins at once both have their way."""

from collections.abc import Mapping

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import PLUGIN_SWITCHES
from chalicelib.domain.keys import key


class MongoPluginSwitches:
    """`ports.PluginSwitches`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._switches = connection.database.get_collection(PLUGIN_SWITCHES)

    def get(self, org_id: str) -> dict[str, bool]:
        with self._connection.reading():
            return _switched(self._switches.find_one({"_id": _identity(org_id)}))

    def put(self, org_id: str, changes: Mapping[str, bool]) -> dict[str, bool]:
        if changes:
            switched = {f"switched.{name}": on for name, on in changes.items()}
            with self._connection.writing():
                self._switches.update_one(
                    {"_id": _identity(org_id)}, {"$set": switched, "$setOnInsert": {"orgId": org_id}}, upsert=True
                )
        return self.get(org_id)


def _identity(org_id: str) -> str:
    return key(org_id, "plugins")


def _switched(document: Document | None) -> dict[str, bool]:
    return dict(document.get("switched", {})) if document else {}
