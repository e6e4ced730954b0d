"""A session taken away with all that was kept of it; whatever is cut off halfway, the worker finishes."""

from chalicelib.context.indexing import MessageIndex
from chalicelib.domain.session import Session
from chalicelib.errors import StoreUnavailable
from chalicelib.ports import MemoryStore, SessionGenomeStore, SessionStore, Telemetry


class SessionRemoval:
    """Removes sessions. `marks` keeps the note, in the truth, that a session's remains are still to be taken away."""

    def __init__(
        self,
        store: SessionStore,
        genomes: SessionGenomeStore,
        index: MessageIndex,
        marks: MemoryStore,
        telemetry: Telemetry,
    ) -> None:
        self._store = store
        self._genomes = genomes
        self._index = index
        self._marks = marks
        self._telemetry = telemetry

    def remove(self, session: Session) -> int:
        """Make the session be there for nobody, then take its messages, genome and index away; how many messages. Where the
        index is away its part waits for the worker, and that is an event."""
        token = self._marks.mark_for_repair([session.key])
        self._store.remove(session)
        messages = self._erase_stored(session.key)
        try:
            self._index.drop(session.key)
        except StoreUnavailable as error:
            self._telemetry.event("index_unreachable", reason=error.message, rows=messages)
        else:
            self._marks.repaired(session.key, token)
        return messages

    def erase(self, session_key: str) -> None:
        """Take away what is left of a session that is gone."""
        self._erase_stored(session_key)
        self._index.drop(session_key)

    def _erase_stored(self, session_key: str) -> int:
        self._genomes.remove(session_key)
        return self._store.erase(session_key)
