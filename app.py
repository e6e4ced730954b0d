"""The Chalice application: blueprints registered, handlers of events re-exported, and the application as a WSGI callable."""

import gc
from typing import TYPE_CHECKING

gc.disable()  # what is imported is no garbage, and looking for some would be a tenth of a cold start

from chalicelib.entrypoints import events
from chalicelib.entrypoints.application import ThreadSafeChalice
from chalicelib.entrypoints.events import admin, backfill, purge, retry_pending, sweep, work_queue
from chalicelib.entrypoints.observation import observed
from chalicelib.entrypoints.routes import (
    administration,
    health,
    memories,
    openapi,
    plugins,
    recall,
    review,
    sessions,
    soul,
    users,
)
from chalicelib.entrypoints.routes import backfill as backfill_routes

if TYPE_CHECKING:
    from chalicelib.entrypoints.wsgi import WsgiApplication

__all__ = ["admin", "app", "backfill", "purge", "retry_pending", "sweep", "work_queue", "wsgi"]
"""What is deployed: `app.app` serves HTTP, and each of the others but `wsgi` is a function of its own."""

app = ThreadSafeChalice(app_name="vitto-memory", configure_logs=False)  # its handler would write every line again
app.register_middleware(observed, "all")
for module in (
    memories,
    backfill_routes,
    review,
    recall,
    sessions,
    administration,
    plugins,
    soul,
    users,
    health,
    openapi,
    events,
):
    app.register_blueprint(module.blueprint)

gc.freeze()  # it stays for as long as the process: the first collection in a request need not go through it
gc.enable()


def wsgi() -> "WsgiApplication":
    """The application for any WSGI server. `chalice.local`, which it goes through, is not part of the Lambda package."""
    from chalicelib.entrypoints.wsgi import WsgiApplication  # noqa: PLC0415 - see above

    return WsgiApplication(app)
