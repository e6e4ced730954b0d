"""Runs plugins at a hook, one after the other, each with a limit, foreign ones on copies of theirs; a bad one is left out.

    is it on here? → does it rest? → shown its copy → within its time? → is what it gave allowed? → the next one

The plugins that come with the product run in the request's own thread, where only their calls to stores are cut off; all
others in threads of their own.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.budget import aside
from chalicelib.domain.plugins import HookName, PluginOutcome, PluginReport
from chalicelib.domain.wire import Wire
from chalicelib.errors import InvalidInput, VittoError
from chalicelib.plugins.hooks import AnswerKind, Shown
from chalicelib.plugins.isolation import Cut, Raised, Rest, Threads
from chalicelib.plugins.registry import Registered, Registry
from chalicelib.plugins.switches import Switchboard
from chalicelib.ports import Telemetry
from chalicelib.settings import PluginSettings

AFTER = frozenset({HookName.AFTER_RESPONSE, HookName.SESSION_END})
FAILED = frozenset({PluginOutcome.CUT, PluginOutcome.RAISED, PluginOutcome.RESTING})
Reports = tuple[PluginReport, ...]


class NotAllowed(Exception):
    """What a plugin gave is more than its hook allows, or no such thing at all."""


@dataclass(frozen=True)
class Standing:
    """A plugin and whether an organization has it on."""

    plugin: Registered
    on: bool


@dataclass(frozen=True)
class _Running:
    plugin: Registered
    threads: Threads
    rest: Rest


@dataclass(frozen=True)
class _Bound:
    """A plugin at one hook."""

    running: _Running
    hook: HookName
    method: Callable[..., Any]
    takes_argument: bool

    def call(self, shown: Shown) -> Any:
        return self.method(shown) if self.takes_argument else self.method()


@dataclass(frozen=True)
class _Called:
    value: Any = None
    outcome: PluginOutcome | None = None
    reason: str | None = None
    ms: float = field(default=0.0)


class Plugins:
    """All plugins of this process."""

    def __init__(
        self,
        registry: Registry,
        switchboard: Switchboard,
        telemetry: Telemetry,
        settings: PluginSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._registry = registry
        self._switchboard = switchboard
        self._telemetry = telemetry
        self._settings = settings
        running = {
            entry.name: _Running(entry, Threads(entry.name), Rest(settings.rest_seconds, clock))
            for entry in registry.entries
        }
        self._bound: dict[HookName, list[_Bound]] = {
            hook: [
                _Bound(running[entry.name], hook, impl.function, bool(impl.argnames))
                for entry, impl in registry.implementations(hook)
            ]
            for hook in HookName
        }

    def standings(self, org_id: str) -> list[Standing]:
        """Every plugin in its order, and whether it is on in that organization, as the store has it now."""
        switched = self._switchboard.fresh(org_id)
        return [Standing(entry, switched.get(entry.name, entry.default_on)) for entry in self._registry.entries]

    def switch(self, org_id: str, changes: Mapping[str, bool]) -> None:
        """Switch plugins on and off for that organization. InvalidInput names one that there is not."""
        known = {entry.name for entry in self._registry.entries}
        for name in changes:
            if name not in known:
                raise InvalidInput(f"plugins.{name}", f"is no plugin; there are {', '.join(sorted(known)) or 'none'}")
        self._switchboard.put(org_id, changes)

    def is_on(self, org_id: str, name: str) -> bool:
        """Whether the plugin of that name is there and on in that organization."""
        entry = next((entry for entry in self._registry.entries if entry.name == name), None)
        return entry is not None and self._switchboard.of(org_id).get(name, entry.default_on)

    def listens(self, hook: HookName, org_id: str, kind: AnswerKind | None = None) -> bool:
        """Whether any plugin takes part in `hook` there, for that kind of answer. Where none has it, this costs nothing."""
        return bool(self._on(hook, org_id, kind))

    def run[S](
        self,
        hook: HookName,
        org_id: str,
        state: S,
        *,
        kind: AnswerKind | None = None,
        show: Callable[[S], Shown],
        accept: Callable[[S, Any, Registered], S],
        failed: Callable[[S, PluginReport], S] | None = None,
    ) -> tuple[S, Reports]:
        """`state` as the plugins leave it, and a report of each that changed it or was left out.

        Each is given what `show` makes of the state that the one before it left. `accept` makes the next state of what it
        gives, the same object where nothing changes; it raises NotAllowed. `failed` makes the next state where it was cut
        off, raised or rests. `kind` is which answer it is, before and after a response."""
        reports: list[PluginReport] = []
        for bound in self._on(hook, org_id, kind):
            called = self._call(bound, lambda state=state: show(state))  # type: ignore[misc]
            state, report = self._settled(bound, called, state, accept)
            if report and report.outcome in FAILED and failed:
                state = failed(state, report)
            reports += [report] if report else []
        return state, tuple(reports)

    def _on(self, hook: HookName, org_id: str, kind: AnswerKind | None) -> list[_Bound]:
        bound = [one for one in self._bound[hook] if kind is None or kind in one.running.plugin.answers]
        if not bound:
            return []
        switched = self._switchboard.of(org_id)
        return [one for one in bound if switched.get(one.running.plugin.name, one.running.plugin.default_on)]

    def _call(self, bound: _Bound, show: Callable[[], Shown]) -> _Called:
        rest = bound.running.rest
        if not rest.is_over():
            return _Called(outcome=PluginOutcome.RESTING, reason="it was cut off several times in a row and rests")
        began = time.perf_counter()
        try:
            value = self._within_its_time(bound, _copied(bound, show()))
        except Cut as cut:
            if cut.is_its_fault and rest.cut():
                self._telemetry.event("plugin_rests", level="error", plugin=bound.running.plugin.name)
            return _Called(outcome=PluginOutcome.CUT, reason=str(cut), ms=_ms(began))
        except Exception as error:  # noqa: BLE001 - a plugin that fails is left out, however it fails
            rest.answered()
            raised = error.error if isinstance(error, Raised) else error
            return _Called(outcome=PluginOutcome.RAISED, reason=_said(raised), ms=_ms(began))
        rest.answered()
        return _Called(value=value, ms=_ms(began))

    def _within_its_time(self, bound: _Bound, shown: Shown) -> Any:
        s = self._settings
        seconds = s.after_seconds if bound.hook in AFTER else s.before_seconds
        if not bound.running.plugin.is_built_in:
            return bound.running.threads.call(lambda: bound.call(shown), seconds)
        with aside(seconds):
            return bound.call(shown)

    def _settled[S](
        self, bound: _Bound, called: _Called, state: S, accept: Callable[[S, Any, Registered], S]
    ) -> tuple[S, PluginReport | None]:
        if called.outcome is not None:
            return state, self._reported(bound, called)
        if called.value is None:
            return state, None
        try:
            changed = accept(state, called.value, bound.running.plugin)
        except NotAllowed as wrong:
            invalid = _Called(outcome=PluginOutcome.INVALID, reason=str(wrong), ms=called.ms)
            return state, self._reported(bound, invalid)
        if changed is state:
            return state, None
        return changed, _report(bound, PluginOutcome.CHANGED, called)

    def _reported(self, bound: _Bound, called: _Called) -> PluginReport:
        assert called.outcome
        report = _report(bound, called.outcome, called)
        if called.outcome is not PluginOutcome.RESTING:  # that it rests was said when the rest began
            event = f"plugin_{report.outcome}"
            self._telemetry.event(event, plugin=report.name, hook=report.hook, ms=report.ms, reason=report.reason)
        return report


def _copied(bound: _Bound, shown: Shown) -> Shown:
    """A copy of its own for a plugin that is not ours: what is frozen can be changed by whoever means to."""
    return shown if bound.running.plugin.is_built_in else shown.model_copy(deep=True)


def _report(bound: _Bound, outcome: PluginOutcome, called: _Called) -> PluginReport:
    name = bound.running.plugin.name
    return PluginReport(name=name, hook=bound.hook, outcome=outcome, ms=called.ms, reason=called.reason)


def _ms(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)


def _said(error: BaseException) -> str:
    """What may be told of an error: a foreign one's message may hold what a tenant stored."""
    return error.message if isinstance(error, VittoError) else type(error).__name__


def given[T: Wire](kind: type[T], value: Any) -> T:
    """What a plugin gave as a `kind`, checked anew: a copy that it made may hold anything. NotAllowed."""
    if not isinstance(value, kind):
        raise NotAllowed(f"it must give a {kind.__name__} or None")
    try:
        return kind.model_validate(value.model_dump(warnings="none"))
    except (ValueError, TypeError) as error:
        raise NotAllowed(f"its {kind.__name__} does not hold together") from error


def nothing(state: Any, _: Any, __: Registered) -> Any:
    """The `accept` of hooks that change nothing."""
    return state
