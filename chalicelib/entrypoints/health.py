"""Health by real probes: each store is asked for something it must be up to answer, at most once in 5 seconds."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict

from chalicelib.entrypoints.contract import Answer
from chalicelib.errors import VittoError

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

CACHE_SECONDS = 5  # spec/api.md


HealthStatus = Literal["ok", "degraded", "down"]


class StoreSeen(Answer):
    """Whether a store is up."""

    up: bool


class StoreProbed(StoreSeen):
    """What a probe of a store found: how long it took, or the reason why it is down; and what the store says of itself."""

    model_config = ConfigDict(extra="allow")

    latency_ms: float | None = None
    reason: str | None = None


class PublicHealth(Answer):
    """What anyone may see."""

    status: HealthStatus
    stores: dict[str, StoreSeen]


class AdminHealth(Answer):
    """What admins see. `pending` counts the rows that wait for an index; null where that could not be counted."""

    said_when_null = ("pending",)

    status: HealthStatus
    stores: dict[str, StoreProbed]
    pending: int | None


class Health:
    """The probes of one container, cached."""

    def __init__(self, services: "Container") -> None:
        self._services = services
        self._lock = threading.Lock()
        self._report: dict[str, Any] = {}
        self._taken: float | None = None

    def report(self) -> dict[str, Any]:
        """What was found: `status` ok, degraded (recall goes on with less) or down, the stores, and the rows pending."""
        with self._lock:
            if self._taken is None or time.monotonic() - self._taken > CACHE_SECONDS:
                self._report = self._probe()
                self._taken = time.monotonic()
            return self._report

    def _probe(self) -> dict[str, Any]:
        ports = self._services.ports
        stores = {
            "mongo": _probed(ports.store.probe),
            "redis": _probed(ports.hot.probe) if ports.hot else {"up": False, "reason": "not configured"},
            "embedding": _probed(ports.embedder.probe),
        }
        if ports.vectors and stores["mongo"]["up"]:
            seen = _probed(ports.vectors.probe)
            stores["mongo"]["vectorSearch"] = "ready" if seen["up"] else seen["reason"]
        if ports.queue:
            stores["queue"] = _probed(ports.queue.probe)
        pending = _probed(lambda: {"rows": ports.store.count_pending()})
        status = "ok" if all(store["up"] for store in stores.values()) else "degraded"
        if not stores["mongo"]["up"]:
            status = "down"
        return {"status": status, "stores": stores, "pending": pending.get("rows")}


def public(report: dict[str, Any]) -> dict[str, Any]:
    """What anyone may see: which store is up, nothing of versions, errors or counts."""
    return {
        "status": report["status"],
        "stores": {name: {"up": store["up"]} for name, store in report["stores"].items()},
    }


def _probed(probe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    began = time.perf_counter()
    try:
        said = probe()
    except VittoError as error:
        return {"up": False, "reason": error.message}
    except Exception as error:  # noqa: BLE001 - a probe that fails in a new way is a store that is not well
        return {"up": False, "reason": type(error).__name__}
    return {"up": True, "latencyMs": round((time.perf_counter() - began) * 1000, 2)} | said
