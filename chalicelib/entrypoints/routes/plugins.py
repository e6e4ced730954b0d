"""`/engine/plugins`: which plugins an organization has on; for its admins."""

from typing import Annotated, Any, Literal

from chalice.app import Blueprint
from pydantic import Field, StringConstraints

from chalicelib.domain.caller import Role
from chalicelib.domain.plugins import HookName
from chalicelib.domain.wire import Flag, Wire
from chalicelib.entrypoints.contract import NOTHING, Answer, Gives, NoQuery, in_body
from chalicelib.entrypoints.http import Call, route
from chalicelib.plugins.manager import Standing

blueprint = Blueprint(__name__)
MOST_SWITCHES = 100
PluginName = Annotated[str, StringConstraints(min_length=1, max_length=64)]


class SwitchBody(Wire):
    """Plugins to switch, by their names; the others stay as they are."""

    plugins: dict[PluginName, Flag] = Field(min_length=1, max_length=MOST_SWITCHES)


class PluginState(Wire):
    """A plugin: where it comes from, its hooks, whether it is on, and whether it would be if nobody had switched it."""

    name: str
    description: str
    hooks: tuple[HookName, ...]
    origin: Literal["built_in", "third_party"]
    on: bool
    default: bool


class PluginList(Answer):
    """All plugins, in the order in which they run."""

    plugins: tuple[PluginState, ...]


@route(blueprint, "/engine/plugins", "GET", NOTHING, Gives(PluginList))
def list_plugins(call: Call) -> Any:
    """The plugins there are, and which of them the organization has on."""
    call.caller.require(Role.ADMIN)
    return _listed(call)


@route(
    blueprint,
    "/engine/plugins",
    "PUT",
    in_body(SwitchBody, off={"plugins": {"memory_versioning": False}}),
    Gives(PluginList),
)
def switch_plugins(call: Call[NoQuery, SwitchBody]) -> Any:
    """Switch plugins on or off for the organization: here at once, within a minute in every process."""
    call.caller.require(Role.ADMIN)
    changes = call.body.plugins
    call.services.plugins.switch(call.caller.org_id, changes)
    for name, on in changes.items():
        call.services.auditor.record(call.caller, "switch_plugin", [name], on=on)
    return _listed(call)


def _listed(call: Call[Any, Any]) -> PluginList:
    return PluginList(plugins=tuple(_state(each) for each in call.services.plugins.standings(call.caller.org_id)))


def _state(standing: Standing) -> PluginState:
    plugin = standing.plugin
    return PluginState(
        name=plugin.name,
        description=plugin.description,
        hooks=plugin.hooks,
        origin="built_in" if plugin.is_built_in else "third_party",
        on=standing.on,
        default=plugin.default_on,
    )
