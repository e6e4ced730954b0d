"""Idempotency keys on MongoDB: the unique `_id` decides which of two requests at once does the work."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo.errors import DuplicateKeyError

from chalicelib.adapters.mongo.connection import Document, MongoConnection
from chalicelib.adapters.mongo.indexes import RECEIPTS
from chalicelib.domain.administration import RECEIPT_DAYS, Reservation, ReservationState
from chalicelib.domain.keys import key

LEASE = timedelta(seconds=60)
_EXPIRED = datetime.fromtimestamp(0, UTC)


class MongoReceiptStore:
    """`ports.ReceiptStore`."""

    def __init__(self, connection: MongoConnection) -> None:
        self._connection = connection
        self._receipts = connection.database.get_collection(RECEIPTS)

    def reserve(self, org_id: str, caller: str, name: str, body_hash: str, now: datetime) -> Reservation:
        identity = key(org_id, "receipt", caller, name)
        fresh = {"_id": identity, "orgId": org_id, "caller": caller, "bodyHash": body_hash, "at": now, "lease": now}
        over = {"_id": identity, "at": {"$lt": now - timedelta(days=RECEIPT_DAYS)}}
        with self._connection.writing():
            try:
                self._receipts.insert_one(fresh)
            except DuplicateKeyError:
                if self._receipts.replace_one(over, fresh).matched_count:  # its time ended, and expiry is late
                    return Reservation(ReservationState.NEW, body_hash, now)
                found = self._receipts.find_one({"_id": identity})
            else:
                return Reservation(ReservationState.NEW, body_hash, now)
            if found is None:  # released between the two commands
                return Reservation(ReservationState.IN_PROGRESS, body_hash, now)
            return self._standing(found, body_hash, now)

    def _standing(self, found: Document, body_hash: str, now: datetime) -> Reservation:
        if "response" in found:
            return Reservation(ReservationState.DONE, found["bodyHash"], found["at"], json.loads(found["response"]))
        if found["lease"] < now - LEASE and found["bodyHash"] == body_hash:
            mine = self._receipts.update_one({"_id": found["_id"], "lease": found["lease"]}, {"$set": {"lease": now}})
            if mine.matched_count:
                return Reservation(ReservationState.NEW, body_hash, found["at"])
        return Reservation(ReservationState.IN_PROGRESS, found["bodyHash"], found["at"])

    def complete(self, org_id: str, caller: str, name: str, response: list[dict[str, Any]]) -> None:
        with self._connection.writing():
            self._receipts.update_one(
                {"_id": key(org_id, "receipt", caller, name)}, {"$set": {"response": json.dumps(response)}}
            )

    def release(self, org_id: str, caller: str, name: str) -> None:
        with self._connection.writing():
            self._receipts.update_one({"_id": key(org_id, "receipt", caller, name)}, {"$set": {"lease": _EXPIRED}})
