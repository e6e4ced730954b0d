"""Messages read for contexts. What was said never changes, so a process keeps the messages that it read lately, and asks the
store for those alone that it does not have; whether a session may be read is asked anew every time, and not here.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.session import KeptMessage, Session
from chalicelib.ports import SessionStore

MOST_KEPT = 8_000  # about 16 MB of usual chat turns
LONGEST_KEPT = 4_000  # characters: a pasted page is read again


class MessageReader:
    """Reads messages by their positions. Safe under threads."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int], KeptMessage] = OrderedDict()

    def latest(self, session: Session, limit: int, *, from_position: int = 0) -> list[SessionMessage]:
        """As `SessionStore.latest`. Positions are dense, so that what is known from the first one on need not be read."""
        known = self._row_of_known(session, from_position)
        fresh = self._store.latest_kept(session, limit, from_position=from_position + len(known))
        self._keep(session, fresh)
        if fresh and fresh[0].message.position != from_position + len(known):  # more than the limit came since
            known = []
        return [one.message for one in (*known, *fresh)][-limit:]

    def at(self, session: Session, positions: Sequence[int]) -> list[KeptMessage]:
        """As `SessionStore.at`."""
        known = self._those_known(session, positions)
        missing = [position for position in positions if position not in known]
        fresh = self._store.at(session, missing) if missing else []
        self._keep(session, fresh)
        found = known | {one.message.position: one for one in fresh}
        return [found[position] for position in sorted(found)]

    def _row_of_known(self, session: Session, start: int) -> list[KeptMessage]:
        found, key = list[KeptMessage](), session.key
        with self._lock:
            while one := self._known.get((key, start + len(found))):
                found.append(one)
        return found

    def _those_known(self, session: Session, positions: Iterable[int]) -> dict[int, KeptMessage]:
        key = session.key
        with self._lock:
            return {at: one for at in positions if (one := self._known.get((key, at)))}

    def _keep(self, session: Session, messages: Iterable[KeptMessage]) -> None:
        key = session.key
        with self._lock:
            for one in messages:
                if len(one.message.text) <= LONGEST_KEPT:
                    self._known[key, one.message.position] = one
            while len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
