"""What the plugins of an organization say of a candidate, in the terms of admission."""

from typing import Literal

from chalicelib.domain.admission import Decision, Ruling, Verdict
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import Memory
from chalicelib.write.hooks import AdmissionControl, AdmissionHooks

_FORCED: dict[str, Literal[Decision.ADMIT, Decision.REJECT]] = {"admit": Decision.ADMIT, "reject": Decision.REJECT}


class PluginRulings:
    """Asks the hook of admission. Where admission control is switched off, all is admitted that nothing else keeps out."""

    def __init__(self, hooks: AdmissionHooks) -> None:
        self._hooks = hooks

    def __call__(self, caller: Caller, memory: Memory, verdict: Verdict) -> Ruling:
        """What they say. A plugin that has the candidate quarantined counts as one that failed: it is kept out."""
        judged = self._hooks.judges(caller.org_id)
        shown = verdict.model_dump(mode="json", by_alias=True, exclude_none=True) if judged else None
        said = self._hooks.decide(caller, memory, shown)
        failed = said.failed
        forced, by = None, said.by
        if by not in {None, AdmissionControl.name}:
            forced = _FORCED.get(said.action)
            failed = failed if forced else (*failed, str(by))
        elif not judged:
            forced, by = Decision.ADMIT, f"{AdmissionControl.name}_off"
        return Ruling(said.memory, forced, by if forced else None, failed, said.reports)
