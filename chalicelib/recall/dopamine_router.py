"""The dopamine router as a plugin: effort goes where a query is worth it. Off, every recall is a standard one."""

from chalicelib.domain.routing.route import Route
from chalicelib.plugins.hooks import Asked, hook

NAME = "dopamine_router"


class DopamineRouter:
    """The plugin."""

    name = NAME
    description = (
        "Chooses how much a recall does, by the form of its query. Switched off, every recall is a standard one."
    )
    order = 0

    @hook
    def before_recall(self, asked: Asked) -> Route | None:
        """The route of the query, unless its caller named one."""
        from chalicelib.domain.routing.router import route  # noqa: PLC0415 - a cold start pays nothing for the wording

        query = asked.query
        return None if query.route else route(query.query, query.position, past=query.asks_for_the_past)
