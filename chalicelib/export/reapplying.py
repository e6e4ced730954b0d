"""Erasures done again on a store that was put back to an earlier time: who was erased since then is in it once more.

A receipt names nobody. Whom it is about is found by trying: everybody whom the store names, under the key of the receipt.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from chalicelib.domain.erasure import ErasureRecord, Person
from chalicelib.export.erasing import Erasing, Progressed, nothing
from chalicelib.ports import ErasureLedger, PersonalRecords

READ_AT_ONCE = 500


class Reapplying:
    """`erasing` has no grace: while a store is put back nobody uses it."""

    def __init__(self, ledger: ErasureLedger, records: PersonalRecords, erasing: Erasing) -> None:
        self._ledger = ledger
        self._records = records
        self._erasing = erasing

    def adopt(self, records: Iterable[ErasureRecord]) -> int:
        """Take over receipts of another time of this store; how many were not known."""
        return sum(self._ledger.adopt(record) for record in records)

    def again(self, since: datetime, by: str, progressed: Progressed = nothing) -> list[ErasureRecord]:
        """Erase again who was erased after the store was as it is now; the records of those of whom there was something.
        One that was under way begins anew: what it had removed may be back. It may be cut off and run again."""
        done = []
        for person, record in list(self._found(since)):
            shared = record.receipt.shared
            begun = self._erasing.begin(person, by, shared) if record.is_finished else self._erasing.anew(record)
            done.append(self._erasing.work(begun, lambda: False, progressed))
        return done

    def _found(self, since: datetime) -> Iterator[tuple[Person, ErasureRecord]]:
        due = [record for record in self.known() if _is_after(record, since)]
        for org_id in sorted({record.receipt.org_id for record in due}):
            names = self._records.people(org_id, READ_AT_ONCE)
            digests = {Person(org_id, name).digest(salt): name for salt in {r.salt for r in due} for name in names}
            for record in due:
                if record.receipt.org_id == org_id and record.digest in digests:
                    yield Person(org_id, digests[record.digest]), record

    def known(self) -> Iterator[ErasureRecord]:
        """Every record."""
        after: str | None = None
        while True:
            records, after = self._ledger.every(after, READ_AT_ONCE)
            yield from records
            if after is None:
                return


def _is_after(record: ErasureRecord, since: datetime) -> bool:
    ended = record.receipt.finished_at
    return ended is None or ended > since
