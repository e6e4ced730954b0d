"""Audit events of what is done to rows."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.administration import AuditEvent
from chalicelib.domain.caller import Caller
from chalicelib.domain.keys import new_id
from chalicelib.ports import AuditLog, Clock


class Auditor:
    """Writes audit events under the caller's name, and the key's that acts for it."""

    def __init__(self, log: AuditLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock

    def record(self, caller: Caller, action: str, targets: Sequence[str], **details: Any) -> None:
        """One event a target."""
        at = self._clock()
        self._log.add(
            [
                AuditEvent(
                    id=new_id("evt"),
                    org_id=caller.org_id,
                    at=at,
                    action=action,
                    actor=caller.user_id,
                    on_behalf_by=caller.on_behalf_by,
                    target=target,
                    details=details,
                )
                for target in targets
            ]
        )
