"""The plugin switches of organizations in this process."""

import threading
from collections.abc import Mapping


class InMemoryPluginSwitches:
    """`ports.PluginSwitches`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._switched: dict[str, dict[str, bool]] = {}

    def get(self, org_id: str) -> dict[str, bool]:
        return dict(self._switched.get(org_id, {}))

    def put(self, org_id: str, changes: Mapping[str, bool]) -> dict[str, bool]:
        with self._lock:
            self._switched[org_id] = self._switched.get(org_id, {}) | dict(changes)
            return dict(self._switched[org_id])
