"""What the plugins of an organization say of a candidate, in the terms of admission."""

from chalicelib.domain.admission import Decision, Ruling, Verdict
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import Memory
from chalicelib.write.hooks import AdmissionControl, AdmissionHooks


class PluginRulings:
    """Asks the hook of admission. Where admission control is switched off, all is admitted that nothing else keeps out."""

    def __init__(self, hooks: AdmissionHooks) -> None:
        self._hooks = hooks

    def __call__(self, caller: Caller, memory: Memory, verdict: Verdict) -> Ruling:
        """What they say. What admission control gives is the verdict's own decision, and forces nothing."""
        judged = self._hooks.judges(caller.org_id)
        shown = verdict.model_dump(mode="json", by_alias=True, exclude_none=True) if judged else None
        said = self._hooks.decide(caller, memory, shown)
        forced, by, reason = None, None, None
        if said.by not in {None, AdmissionControl.name}:
            forced, by, reason = Decision(said.action), said.by, said.reason
        elif not judged:
            forced, by = Decision.ADMIT, f"{AdmissionControl.name}_off"
        return Ruling(said.memory, forced, by, reason, said.redacted, said.failed, said.reports)
