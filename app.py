"""The Chalice application: blueprints registered, handlers of events re-exported, and the application as a WSGI callable."""

from typing import TYPE_CHECKING

from chalicelib.entrypoints import events
from chalicelib.entrypoints.application import ThreadSafeChalice
from chalicelib.entrypoints.events import backfill, purge, retry_pending, sweep, work_queue
from chalicelib.entrypoints.observation import observed
from chalicelib.entrypoints.routes import administration, health, memories, recall

if TYPE_CHECKING:
    from chalicelib.entrypoints.wsgi import WsgiApplication

__all__ = ["app", "backfill", "purge", "retry_pending", "sweep", "work_queue", "wsgi"]
"""What is deployed: `app.app` serves HTTP, and each of the others but `wsgi` is a function of its own."""

app = ThreadSafeChalice(app_name="vitto-memory")
app.register_middleware(observed, "all")
for module in (memories, recall, administration, health, events):
    app.register_blueprint(module.blueprint)


def wsgi() -> "WsgiApplication":
    """The application for any WSGI server. `chalice.local`, which it goes through, is not part of the Lambda package."""
    from chalicelib.entrypoints.wsgi import WsgiApplication  # noqa: PLC0415 - see above

    return WsgiApplication(app)
