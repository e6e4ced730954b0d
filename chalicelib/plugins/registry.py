"""Which plugins there are: those that come with the product, and those that a setting names. Nothing is ever scanned for."""

import importlib
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, get_args

from chalicelib.domain.plugins import PLUGIN_NAME, HookName
from chalicelib.errors import Misconfigured
from chalicelib.plugins.hooks import MARK, AnswerKind, HookSpecs, Plugin

if TYPE_CHECKING:
    import pluggy

PROJECT = "vitto"
DEFAULT_ORDER = 100
DEFAULT_ANSWERS = ("recall", "remember")
MAX_DESCRIPTION = 500


@dataclass(frozen=True)
class Registered:
    """A plugin and what it says of itself."""

    plugin: Plugin
    name: str
    description: str
    order: int
    default_on: bool
    is_built_in: bool
    hooks: tuple[HookName, ...]
    answers: frozenset[str]


class Registry:
    """All plugins in the order in which they run: by `order`, then by name."""

    def __init__(self, built_in: Iterable[Plugin] = (), third_party: Iterable[Plugin] = ()) -> None:
        import pluggy  # noqa: PLC0415 - see `hooks.MARK`

        for hook in HookName:
            pluggy.HookspecMarker(PROJECT)(getattr(HookSpecs, hook.value))
        self._mark = pluggy.HookimplMarker(PROJECT)
        self._refusals = (pluggy.PluginValidationError, ValueError)
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(HookSpecs)
        entries = [self._register(plugin, is_built_in=True) for plugin in built_in]
        entries += [self._register(plugin, is_built_in=False) for plugin in third_party]
        self.entries: tuple[Registered, ...] = tuple(sorted(entries, key=lambda entry: (entry.order, entry.name)))

    def implementations(self, hook: HookName) -> list[tuple[Registered, "pluggy.HookImpl"]]:
        """The plugins that take part in `hook`, in order, each with its method as pluggy knows it."""
        found = {impl.plugin_name: impl for impl in getattr(self._manager.hook, hook.value).get_hookimpls()}
        return [(entry, found[entry.name]) for entry in self.entries if entry.name in found]

    def _register(self, plugin: Plugin, *, is_built_in: bool) -> Registered:
        """Misconfigured says what is wrong with it."""
        label = type(plugin).__qualname__
        name, description = _described(plugin, label)
        order, default_on = getattr(plugin, "order", DEFAULT_ORDER), getattr(plugin, "default_on", True)
        answers = getattr(plugin, "answers", DEFAULT_ANSWERS)
        if type(order) is not int or type(default_on) is not bool:
            raise Misconfigured(f"VITTO_PLUGINS: {label}: order must be an int and default_on a bool")
        if not isinstance(answers, tuple) or not set(answers) <= set(get_args(AnswerKind)):
            raise Misconfigured(f"VITTO_PLUGINS: {label}: answers must be a tuple of {', '.join(get_args(AnswerKind))}")
        if self._manager.has_plugin(name):
            raise Misconfigured(f"VITTO_PLUGINS: {label}: the name {name} is taken by another plugin")
        for method in _marked(plugin):
            self._mark(method)
        try:
            self._manager.register(plugin, name)
            self._manager.check_pending()
        except self._refusals as error:
            raise Misconfigured(f"VITTO_PLUGINS: {label}: {_last_line(error)}") from None
        hooks = self._hooks(plugin, label)
        return Registered(plugin, name, description, order, default_on, is_built_in, hooks, frozenset(answers))

    def _hooks(self, plugin: Plugin, label: str) -> tuple[HookName, ...]:
        callers = self._manager.get_hookcallers(plugin) or []
        if not callers:
            raise Misconfigured(f"VITTO_PLUGINS: {label}: it has no hooks (methods marked with @hook)")
        names = {caller.name for caller in callers}
        return tuple(hook for hook in HookName if hook.value in names)


def _described(plugin: Plugin, label: str) -> tuple[str, str]:
    name, description = getattr(plugin, "name", None), getattr(plugin, "description", None)
    if not isinstance(name, str) or not re.match(PLUGIN_NAME, name):
        raise Misconfigured(f"VITTO_PLUGINS: {label}: its name must be lower case letters, digits and _, at most 64")
    if not isinstance(description, str) or not 0 < len(description.strip()) <= MAX_DESCRIPTION:
        raise Misconfigured(f"VITTO_PLUGINS: {label}: it needs a description of at most {MAX_DESCRIPTION} characters")
    return name, description.strip()


def _marked(plugin: Plugin) -> list[FunctionType]:
    """The methods that carry `@hook`."""
    found = [inspect.getattr_static(plugin, name) for name in dir(plugin)]
    return [method for method in found if isinstance(method, FunctionType) and getattr(method, MARK, False)]


def _last_line(error: Exception) -> str:
    """What pluggy says at the end: before it stands the plugin as Python shows it."""
    return [line.strip() for line in str(error).splitlines() if line.strip()][-1]


def load(listed: str) -> Sequence[Plugin]:
    """The plugins that a list such as `package.module:PluginClass,…` names, made without arguments.

    Misconfigured names the entry and what is wrong with it."""
    return [_loaded(entry.strip()) for entry in listed.split(",") if entry.strip()]


def _loaded(entry: str) -> Plugin:
    module, colon, attribute = entry.partition(":")
    if not (colon and module and attribute):
        raise Misconfigured(f"VITTO_PLUGINS: {entry}: must be package.module:PluginClass")
    try:
        found: Any = getattr(importlib.import_module(module), attribute)
        made: Plugin = found()
    except Exception as error:
        raise Misconfigured(f"VITTO_PLUGINS: {entry}: cannot be loaded: {type(error).__name__}: {error}") from error
    return made
