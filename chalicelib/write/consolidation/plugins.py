"""Plugins beside consolidation: they may keep a new row and those that are there apart."""

from collections.abc import Sequence

from chalicelib.domain.caller import Caller
from chalicelib.domain.plugins import PluginReport
from chalicelib.domain.query import StoredMemory
from chalicelib.plugins.hooks import ConsolidationAction
from chalicelib.write.consolidation.decisions import Action, Decision
from chalicelib.write.hooks import ConsolidationHooks

_ACTIONS: dict[Action, ConsolidationAction] = {
    Action.NOOP: "none",
    Action.UPDATE: "update",
    Action.SUPERSEDE: "supersede",
}
"""What plugins are asked about; the rest changes no row that is there."""


def as_plugins_have_it(
    hooks: ConsolidationHooks, caller: Caller, rows: Sequence[StoredMemory], decisions: Sequence[Decision]
) -> tuple[list[Decision], dict[str, tuple[PluginReport, ...]]]:
    """The decisions about `rows`, in their order, with those that a plugin keeps apart turned into plain additions; and
    by the row's id what is told of the plugins."""
    settled: list[Decision] = []
    reports: dict[str, tuple[PluginReport, ...]] = {}
    for row, decision in zip(rows, decisions, strict=True):
        action = _ACTIONS.get(decision.action)
        if action is None:
            settled.append(decision)
            continue
        others = [decision.target] if decision.target else list(decision.supersedes)
        nearest = [other.memory for other in others]
        kept, told = hooks.decide(caller, row.memory, nearest, action, nearest[0].id if nearest else None)
        settled.append(decision if kept == action else Decision(Action.ADD, row))
        reports[row.memory.id] = told
    return settled, reports
