"""The recall audit: what a recall did, without contents. It waits in Redis and is stored by the worker."""

from collections.abc import Sequence
from datetime import timedelta

from pydantic import ValidationError

from chalicelib.domain.administration import RECALL_DAYS
from chalicelib.domain.caller import Caller
from chalicelib.domain.query import Hit, RecallRecord
from chalicelib.errors import NotFound, StoreUnavailable
from chalicelib.ports import Clock, RecallCache, RecallStore, Telemetry

DRAIN_BATCH = 500
_OF_THE_ANSWER = ("hits", "empty", "candidates", "left_out")
"""What a served answer has from the recall that made it."""
DRAINS_FOR_A_READER = 4  # a reader waits; what is further back the worker brings


def audited(hits: Sequence[Hit]) -> tuple[dict[str, object], ...]:
    """What the audit keeps of hits: ids, tiers, scores, and from where and by which rule they hold."""
    return tuple(
        {
            "id": hit.memory.id,
            "tier": hit.tier.value,
            "score": hit.score,
            "scores": hit.scores.model_dump(by_alias=True, exclude_none=True),
            **_standing(hit),
        }
        for hit in hits
    )


def _standing(hit: Hit) -> dict[str, object]:
    """Without the names and attributes that these are about: they are contents."""
    said: dict[str, object] = {}
    if hit.via:
        said["via"] = {"id": hit.via.id, "over": hit.via.over.value}
    for name, overrides in (("overrode", hit.overrode), ("overriddenBy", hit.overridden_by)):
        if overrides:
            said[name] = [{"id": one.id, "rule": one.rule.value} for one in overrides]
    return said


class RecallAudit:
    """Reads the audit and moves it from the queue to where it rests."""

    def __init__(self, records: RecallStore, cache: RecallCache | None, telemetry: Telemetry, clock: Clock) -> None:
        self._records = records
        self._cache = cache
        self._telemetry = telemetry
        self._clock = clock

    def drain(self) -> int:
        """Store what is queued; how many. A record is dropped from the queue only once it is stored, and storing it twice
        changes nothing."""
        stored = 0
        while batch := self._drain_batch():
            stored += batch
        return stored

    def _drain_batch(self) -> int:
        queued = self._cache.drain(DRAIN_BATCH) if self._cache else []
        if self._cache is None or not queued:
            return 0
        self._records.add([record for header, served in queued if (record := self._record(header, served))])
        self._cache.drained(queued)
        return len(queued)

    def _record(self, header: str, served: str | None) -> RecallRecord | None:
        try:
            record = RecallRecord.model_validate_json(header)
            answer = RecallRecord.model_validate_json(served) if served else record
        except ValidationError:  # written by another version; one such record must not hold up the rest
            self._telemetry.event("recall_audit_unreadable", level="error")
            return None
        return record.model_copy(update={name: getattr(answer, name) for name in _OF_THE_ANSWER})

    def read(self, caller: Caller, recall_id: str) -> RecallRecord:
        """The audit of a recall of the last 90 days: whole for who recalled, without the query's text for an admin; NotFound
        for all others."""
        record = self._records.get(caller.org_id, recall_id) or self._read_queued(caller, recall_id)
        if record is None or self._is_over(record) or (record.user_id != caller.user_id and not caller.is_admin):
            raise NotFound("no such recall for this reader")
        return record if record.user_id == caller.user_id else record.model_copy(update={"query": ""})

    def _is_over(self, record: RecallRecord) -> bool:
        """Whether its time has ended, which a store may act on late."""
        return record.at < self._clock() - timedelta(days=RECALL_DAYS)

    def _read_queued(self, caller: Caller, recall_id: str) -> RecallRecord | None:
        """A recall of a moment ago, which may be in the queue still, or was stored by another drainer just now."""
        try:
            for _ in range(DRAINS_FOR_A_READER):
                moved = self._drain_batch()
                if (record := self._records.get(caller.org_id, recall_id)) or not moved:
                    return record
        except StoreUnavailable:
            return None
        return None
