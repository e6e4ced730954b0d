"""Plugins around a recall: they may narrow what is asked, and reorder or annotate what is answered; never more."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from chalicelib.domain.plugins import HookName, PluginOutcome, PluginReport
from chalicelib.domain.query import Hit, RecallQuery
from chalicelib.domain.routing.route import Route, RouteCode, unrouted
from chalicelib.errors import NotFound
from chalicelib.plugins.aftermath import AfterResponse
from chalicelib.plugins.frozen import shown
from chalicelib.plugins.hooks import Answered, Answering, Asked, Identity, ResponseChange
from chalicelib.plugins.manager import NotAllowed, Plugins, Reports, given
from chalicelib.plugins.registry import Registered
from chalicelib.plugins.wording import fit_to_be_read
from chalicelib.recall.dopamine_router import NAME as DOPAMINE_ROUTER
from chalicelib.recall.question import Question, reach

PROSPECTIVE_INDEX = "prospective_index"
"""The plugin of the write path that has the questions written."""


class RecallHooks:
    """The hooks that a recall passes."""

    def __init__(self, plugins: Plugins, after: AfterResponse) -> None:
        self._plugins = plugins
        self._after = after

    def narrowed(self, asked: Question) -> tuple[Question, Reports]:
        """The question as plugins narrow and route it. It reaches no scope that `asked` does not.

        That the router chose a route is told with the route, so that it is no change of the plugin's here."""
        caller = asked.caller
        narrowed, reports = self._plugins.run(
            HookName.BEFORE_RECALL,
            caller.org_id,
            asked,
            show=lambda now: Asked(caller=Identity.of(caller), query=_redacted(now), route=now.route),
            accept=_narrower,
            failed=_without_router,
        )
        return narrowed, tuple(report for report in reports if not _is_routing(report))

    def matches_questions(self, org_id: str) -> bool:
        """Whether memories are found by their prospective questions there."""
        return self._plugins.is_on(org_id, PROSPECTIVE_INDEX)

    def responds(self, org_id: str) -> bool:
        """Whether any plugin looks at answers there."""
        return self._plugins.listens(HookName.BEFORE_RESPONSE, org_id, "recall")

    def answering(self, asked: Question, hits: tuple[Hit, ...]) -> tuple[tuple[Hit, ...], Reports]:
        """The same hits as plugins order and annotate them."""
        caller = asked.caller
        return self._plugins.run(
            HookName.BEFORE_RESPONSE,
            caller.org_id,
            hits,
            kind="recall",
            show=lambda now: Answering(
                caller=Identity.of(caller), kind="recall", query=_redacted(asked), hits=tuple(_shown(h) for h in now)
            ),
            accept=_rearranged,
        )

    def answered(self, asked: Question, hits: Callable[[], Sequence[Hit]]) -> None:
        """Tell plugins of an answer that is made; its `hits` are asked for where a plugin wants to know."""
        self._after.answered(
            asked.caller,
            "recall",
            lambda: Answered(
                caller=Identity.of(asked.caller),
                kind="recall",
                query=_redacted(asked),
                memories=tuple(shown(hit.memory) for hit in hits()),
            ),
        )


def _redacted(asked: Question) -> RecallQuery:
    return asked.query.model_copy(update={"query": asked.text})


def _shown(hit: Hit) -> Hit:
    return hit.model_copy(update={"memory": shown(hit.memory)})


def _is_routing(report: PluginReport) -> bool:
    return report.name == DOPAMINE_ROUTER and report.outcome is PluginOutcome.CHANGED


def _without_router(asked: Question, report: PluginReport) -> Question:
    if report.name != DOPAMINE_ROUTER or asked.query.route:
        return asked
    return replace(asked, route=unrouted(RouteCode.ROUTER_FAILED, "the router gave no route"))


def _narrower(asked: Question, value: Any, _: Registered) -> Question:
    if isinstance(value, Route):
        return _routed(asked, given(Route, value))
    wanted = given(RecallQuery, value)
    if wider := _wider(asked, wanted):
        raise NotAllowed(f"it may not widen {wider}")
    wanted = wanted.model_copy(update={"query": asked.query.query})
    if wanted == asked.query:
        return asked
    try:
        chain = reach(asked.caller, wanted, asked.route)
    except NotFound:
        raise NotAllowed("it reaches for a scope that is not the reader's") from None
    return replace(asked, query=wanted, chain=chain)


def _routed(asked: Question, route: Route) -> Question:
    if asked.query.route:
        return asked
    return replace(asked, route=route, chain=reach(asked.caller, asked.query, route))


def _wider(question: Question, wanted: RecallQuery) -> str | None:
    """The first field by which `wanted` asks for more than the question, or for something else."""
    asked = question.query
    checks = {
        "query": wanted.query == question.text,
        "route": wanted.route == asked.route,
        "position": wanted.position == asked.position,
        "layer": wanted.layer == asked.layer,
        "include": set(wanted.include) <= set(asked.include),
        "asOf": wanted.as_of == asked.as_of,
        "scopes": _within(wanted.scopes, asked.scopes),
        "scopeIds": _within(wanted.scope_ids, asked.scope_ids),
        "types": _within(wanted.types, asked.types),
        "tags": set(asked.tags) <= set(wanted.tags),
        "since": asked.since is None or (wanted.since is not None and wanted.since >= asked.since),
        "before": asked.before is None or (wanted.before is not None and wanted.before <= asked.before),
        "limit": asked.limit is None if wanted.limit is None else wanted.limit <= question.limit,
        "minScore": wanted.min_score >= asked.min_score,
    }
    return next((name for name, holds in checks.items() if not holds), None)


def _within(wanted: Sequence[str] | None, asked: Sequence[str] | None) -> bool:
    return asked is None or (wanted is not None and set(wanted) <= set(asked))


def _rearranged(hits: tuple[Hit, ...], value: Any, plugin: Registered) -> tuple[Hit, ...]:
    change = given(ResponseChange, value)
    if change.history:
        raise NotAllowed("a recall has no history to show")
    known = {hit.memory.id: hit for hit in hits}
    if foreign := change.notes.keys() - known.keys():
        raise NotAllowed(f"it annotates {len(foreign)} memories that are not among the hits")
    if change.order is not None:
        if sorted(change.order) != sorted(known):
            raise NotAllowed("its order must have each hit exactly once, and nothing else")
        known = {id_: known[id_] for id_ in change.order}
    told = [note for hit in hits for note in (hit.notes or {}).values()]
    notes = dict(zip(change.notes, fit_to_be_read(change.notes.values(), "a note", beside=told), strict=True))
    changed = tuple(_annotated(hit, plugin.name, notes.get(hit.memory.id)) for hit in known.values())
    return hits if changed == hits else changed


def _annotated(hit: Hit, name: str, note: str | None) -> Hit:
    return hit if note is None else hit.model_copy(update={"notes": (hit.notes or {}) | {name: note}})
