"""The recall audit: what a recall did, without contents. It waits in Redis and is stored by the worker."""

from collections.abc import Sequence

from chalicelib.domain.caller import Caller
from chalicelib.domain.query import Hit, RecallRecord
from chalicelib.errors import NotFound
from chalicelib.ports import RecallCache, RecallStore

DRAIN_BATCH = 500


def audited(hits: Sequence[Hit]) -> tuple[dict[str, object], ...]:
    """What the audit keeps of hits: ids, tiers and scores."""
    return tuple(
        {
            "id": hit.memory.id,
            "tier": hit.tier.value,
            "score": hit.score,
            "scores": hit.scores.model_dump(by_alias=True),
        }
        for hit in hits
    )


class RecallAudit:
    """Reads the audit and moves it from the queue to where it rests."""

    def __init__(self, records: RecallStore, cache: RecallCache | None) -> None:
        self._records = records
        self._cache = cache

    def drain(self) -> int:
        """Store what is queued; how many. A record is dropped from the queue only once it is stored, and storing it twice
        changes nothing."""
        stored = 0
        while self._cache and (queued := self._cache.drain(DRAIN_BATCH)):
            self._records.add([_record(header, served) for header, served in queued])
            self._cache.drained(len(queued))
            stored += len(queued)
        return stored

    def read(self, caller: Caller, recall_id: str) -> RecallRecord:
        """The audit of a recall: whole for who recalled, without the query's text for an admin; NotFound for all others."""
        record = self._records.get(caller.org_id, recall_id)
        if record is None and self.drain():
            record = self._records.get(caller.org_id, recall_id)
        if record is None or (record.user_id != caller.user_id and not caller.is_admin):
            raise NotFound("no such recall for this reader")
        return record if record.user_id == caller.user_id else record.model_copy(update={"query": ""})


def _record(header: str, served: str | None) -> RecallRecord:
    record = RecallRecord.model_validate_json(header)
    if served is None:
        return record
    answer = RecallRecord.model_validate_json(served)
    return record.model_copy(update={"hits": answer.hits, "empty": answer.empty})
