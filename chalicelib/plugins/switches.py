"""Which plugins an organization has on: what it switched, else what each plugin is by itself."""

import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from chalicelib.errors import StoreUnavailable
from chalicelib.ports import Clock, PluginSwitches, Telemetry

CACHE_SECONDS = 60
RETRY_SECONDS = 5
MOST_ORGANIZATIONS = 10_000  # kept in a process; beyond it they are read again
_NOTHING: Mapping[str, bool] = MappingProxyType({})


class Switchboard:
    """What organizations switched, kept in process for a minute: the documented time that a switch takes elsewhere."""

    def __init__(self, store: PluginSwitches, clock: Clock, telemetry: Telemetry) -> None:
        self._store = store
        self._clock = clock
        self._telemetry = telemetry
        self._lock = threading.Lock()
        self._known: dict[str, tuple[datetime, Mapping[str, bool]]] = {}

    def of(self, org_id: str) -> Mapping[str, bool]:
        """What `org_id` switched. While the store is down, what was known last, or nothing; that is said."""
        now = self._clock()
        until, known = self._known.get(org_id, (now, _NOTHING))
        if now < until:
            return known
        try:
            return self._keep(org_id, self._store.get(org_id), now + timedelta(seconds=CACHE_SECONDS))
        except StoreUnavailable as error:
            self._telemetry.event("plugin_switches_unknown", reason=error.message)
            return self._keep(org_id, known, now + timedelta(seconds=RETRY_SECONDS))

    def put(self, org_id: str, changes: Mapping[str, bool]) -> Mapping[str, bool]:
        """Switch plugins of `org_id`; what it has switched now. It holds here at once. StoreUnavailable."""
        switched = self._store.put(org_id, changes)
        return self._keep(org_id, switched, self._clock() + timedelta(seconds=CACHE_SECONDS))

    def fresh(self, org_id: str) -> Mapping[str, bool]:
        """What `org_id` switched, as the store has it now. StoreUnavailable."""
        return self._store.get(org_id)

    def _keep(self, org_id: str, switched: Mapping[str, bool], until: datetime) -> Mapping[str, bool]:
        with self._lock:
            if len(self._known) >= MOST_ORGANIZATIONS and org_id not in self._known:
                self._known.clear()
            self._known[org_id] = until, switched
        return switched
