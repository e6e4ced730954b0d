"""What the embedded MongoDB needs besides the product's indexes, so that a local product is as quick as a deployed one."""

from chalicelib.adapters.mongo.indexes import MEMORIES
from chalicelib.bootstrap import make_indexes, mongo_connection
from chalicelib.settings import Settings

_RELATIONS = "relations_alone"


def make_local_indexes(settings: Settings) -> None:
    """The product's indexes, and one more: for several scopes at once (`$in` on the first field of a compound index) the
    embedded server reads the whole collection, where MongoDB uses the index `related`."""
    make_indexes(settings)
    connection = mongo_connection(settings)
    connection.database[MEMORIES].create_index("relations", name=_RELATIONS, sparse=True)
    connection.client.close()
