"""Audit events of what is done to rows."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import new_id
from chalicelib.ports import AuditLog, Clock

SYSTEM = "system"
"""Who acts where nobody called: the sweep and the purge, which the action names."""


class Auditor:
    """Writes audit events under the caller's name, and the key's that acts for it."""

    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def record(self, caller: Caller, action: str, targets: Sequence[str], **details: Any) -> None:
        """One event a target."""
        self.keep([self.event(caller, action, target, **details) for target in targets])

    def event(self, caller: Caller, action: str, target: str, **details: Any) -> AuditEvent:
        """The event of what a caller does, not written yet."""
        made = self.system_event(caller.org_id, action, target, **details)
        return made.model_copy(update={"actor": caller.user_id, "on_behalf_by": caller.on_behalf_by})

    def system_event(self, org_id: str, action: str, target: str, **details: Any) -> AuditEvent:
        """The event of what a schedule does, not written yet."""
        return AuditEvent(
            id=new_id("evt"),
            org_id=org_id,
            at=self._clock(),
            action=action,
            actor=SYSTEM,
            target=target,
            details=details,
        )

    def keep(self, events: Sequence[AuditEvent]) -> None:
        """Write events; repeating it changes nothing."""
        self._log.add(events)
