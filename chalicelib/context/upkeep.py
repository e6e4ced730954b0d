"""What upkeep does with sessions, known by their keys alone: their indexes built anew, their messages embedded again."""

from collections.abc import Iterator

from chalicelib.context.indexing import MessageIndex
from chalicelib.context.removal import SessionRemoval
from chalicelib.ports import SessionStore


class SessionUpkeep:
    """`write.maintenance.SessionUpkeep`."""

    def __init__(self, store: SessionStore, index: MessageIndex, removal: SessionRemoval) -> None:
        self._store = store
        self._index = index
        self._removal = removal

    def keys(self) -> Iterator[str]:
        """The key of every session."""
        return self._store.keys()

    def rebuild(self, session_key: str) -> int:
        """Build its index anew, and where the session is gone take away what is left of it; how many messages it has."""
        session = self._store.by_key(session_key)
        if session:
            return self._index.rebuild(session)
        self._removal.erase(session_key)
        return 0

    def embed_again(self, session_key: str) -> tuple[int, int]:
        """Give its messages vectors of the current model; how many it gave, and how many the embedder refused."""
        session = self._store.by_key(session_key)
        return self._index.embed_again(session) if session else (0, 0)
