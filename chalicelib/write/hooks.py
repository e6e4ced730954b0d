"""Plugins on the write path: what they may decide of a candidate, keep apart, and hear of what was stored.

What a plugin changes is cleaned and searched for secrets like what a caller sent. What it says is weighed by admission
(`admission.stage`), where injections are looked for before and after it, and where one that failed lets nothing in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic.alias_generators import to_camel

from chalicelib.domain.caller import Caller
from chalicelib.domain.claims.of_memory import with_claims
from chalicelib.domain.incoming import cleaned
from chalicelib.domain.input import MemoryInput
from chalicelib.domain.memory import Memory
from chalicelib.domain.plugins import HookName, PluginOutcome, PluginReport
from chalicelib.domain.text.cleaning import carries_recall
from chalicelib.domain.validation import validated
from chalicelib.errors import InvalidInput
from chalicelib.plugins.aftermath import AfterResponse
from chalicelib.plugins.frozen import frozen, shown
from chalicelib.plugins.hooks import (
    AdmissionAction,
    AdmissionChange,
    Answered,
    Candidate,
    Consolidating,
    ConsolidationAction,
    ConsolidationChange,
    Identity,
    hook,
)
from chalicelib.plugins.manager import NotAllowed, Plugins, Reports, given
from chalicelib.plugins.registry import Registered
from chalicelib.plugins.wording import fit_to_be_read
from chalicelib.write.cleaning import checked_content, checked_tags

CHANGEABLE = frozenset(
    {"content", "summary", "tags", "key_entities", "type", "importance", "confidence", "claims", "expires_at"}
)
"""What a plugin may change of a candidate."""
NOT_SHOWN = frozenset({"embedding", "claims_found"})
"""What a plugin that builds its answer anew cannot give back."""


class AdmissionControl:
    """Admission control as a plugin: the verdict decides, until a plugin after it forces something else."""

    name = "admission_control"
    description = "Judges what is remembered by five factors. Switched off, all is admitted but injections."
    order = 0

    @hook
    def on_memory_admission(self, candidate: Candidate) -> AdmissionChange | None:
        """Do what the verdict says."""
        return AdmissionChange(action=candidate.verdict["decision"]) if candidate.verdict else None


@dataclass(frozen=True)
class AdmissionDecision:
    """What plugins want of a candidate. `memory` is another object than the one given where a plugin changed it. `reason` is
    what the plugin `by` gave for not admitting it. `redacted` are kinds of secrets in what plugins wrote. `failed` names the
    plugins that were cut off, raised or rest."""

    memory: Memory
    action: AdmissionAction = "admit"
    by: str | None = None
    reason: str | None = None
    redacted: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    reports: Reports = ()


class AdmissionHooks:
    """The hook that every candidate passes."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def judges(self, org_id: str) -> bool:
        """Whether a verdict is wanted in that organization."""
        return self._plugins.is_on(org_id, AdmissionControl.name)

    def decide(self, caller: Caller, memory: Memory, verdict: Mapping[str, Any] | None) -> AdmissionDecision:
        """What plugins want of `memory`. `verdict` is as it is stored, with its `decision`; None where there is none."""
        judgement = frozen(dict(verdict)) if verdict else None
        decision, reports = self._plugins.run(
            HookName.ON_MEMORY_ADMISSION,
            caller.org_id,
            AdmissionDecision(memory),
            show=lambda now: Candidate.model_construct(  # validation would make a plain dictionary of a frozen one
                caller=Identity.of(caller), memory=shown(now.memory), verdict=judgement, action=now.action
            ),
            accept=_decided,
            failed=_failed,
        )
        told = tuple(report for report in reports if not _is_the_verdict(report))
        return replace(decision, reports=told)


class ConsolidationHooks:
    """The hook that consolidation passes before it changes anything."""

    def __init__(self, plugins: Plugins) -> None:
        self._plugins = plugins

    def decide(
        self,
        caller: Caller,
        incoming: Memory,
        nearest: Sequence[Memory],
        action: ConsolidationAction,
        target: str | None,
    ) -> tuple[ConsolidationAction, Reports]:
        """`action`, or `add` where a plugin keeps the two apart."""
        return self._plugins.run(
            HookName.ON_CONSOLIDATION,
            caller.org_id,
            action,
            show=lambda now: Consolidating(
                caller=Identity.of(caller),
                incoming=shown(incoming),
                nearest=tuple(shown(memory) for memory in nearest),
                action=now,
                target=target,
            ),
            accept=lambda now, value, _: now if now == given(ConsolidationChange, value).action else "add",
        )


class RememberHooks:
    """The hook after a remember."""

    def __init__(self, after: AfterResponse) -> None:
        self._after = after

    def remembered(self, caller: Caller, memories: Sequence[Memory]) -> None:
        """Tell plugins of memories that were stored. It never raises."""
        if memories:
            self._after.answered(
                caller,
                "remember",
                lambda: Answered(
                    caller=Identity.of(caller), kind="remember", memories=tuple(shown(memory) for memory in memories)
                ),
            )


def _decided(now: AdmissionDecision, value: Any, plugin: Registered) -> AdmissionDecision:
    change = given(AdmissionChange, value)
    changed = now
    if change.memory is not None:
        memory, redacted = _changed(now.memory, change.memory)
        if memory is not now.memory:
            changed = replace(changed, memory=memory, redacted=tuple(dict.fromkeys((*now.redacted, *redacted))))
    if change.action is not None and change.action != now.action:
        changed = replace(changed, action=change.action, by=plugin.name, reason=_reason(change))
    return changed


def _reason(change: AdmissionChange) -> str | None:
    if change.action == "admit" or change.reason is None:
        return None
    try:
        return fit_to_be_read([change.reason], "its reason")[0]
    except NotAllowed:  # what it decided holds without it
        return None


def _changed(before: Memory, wanted: Memory) -> tuple[Memory, tuple[str, ...]]:
    """`before` with what may be changed of it as `wanted` has it, cleaned as if a caller had sent it."""
    for name in type(before).model_fields:
        if name not in CHANGEABLE | NOT_SHOWN and getattr(before, name) != getattr(wanted, name):
            raise NotAllowed(f"it may not change {to_camel(name)}")
    try:
        said = validated(MemoryInput, wanted.model_dump(include=set(CHANGEABLE), by_alias=True, exclude_none=True))
        said, redacted = cleaned(said)
        checked_content(said.content, "content")
        tags, entities = checked_tags(said.tags, "tags"), checked_tags(said.key_entities, "keyEntities")
    except InvalidInput as error:
        raise NotAllowed(error.message) from error
    if carries_recall(said.content):
        raise NotAllowed("it brings a recalled block back")
    values = {name: getattr(said, name) for name in CHANGEABLE} | {"tags": tags, "key_entities": entities}
    update = {name: value for name, value in values.items() if value != getattr(before, name)}
    if not update:
        return before, ()
    found = before.claims_found and "claims" not in update
    changed = before.model_copy(update=update | {"claims_found": found})
    return (with_claims(changed) if "content" in update else changed), redacted


def _failed(now: AdmissionDecision, report: PluginReport) -> AdmissionDecision:
    return replace(now, failed=(*now.failed, report.name))


def _is_the_verdict(report: PluginReport) -> bool:
    """What admission control decides is told by the verdict."""
    return report.name == AdmissionControl.name and report.outcome is PluginOutcome.CHANGED
