"""The Chalice application: blueprints registered, and the same application as a WSGI callable; nothing else."""

from typing import TYPE_CHECKING

from chalicelib.entrypoints.application import ThreadSafeChalice
from chalicelib.entrypoints.routes import administration, health, memories, openapi, recall

if TYPE_CHECKING:
    from chalicelib.entrypoints.wsgi import WsgiApplication

app = ThreadSafeChalice(app_name="vitto-memory")
for module in (memories, recall, administration, health, openapi):
    app.register_blueprint(module.blueprint)


def wsgi() -> "WsgiApplication":
    """The application for any WSGI server. `chalice.local`, which it goes through, is not part of the Lambda package."""
    from chalicelib.entrypoints.wsgi import WsgiApplication  # noqa: PLC0415 - see above

    return WsgiApplication(app)
