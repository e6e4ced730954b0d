"""Speaks to the API as an assistant does, for each dialogue as another user, and knows which messages a memory stands
for."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import requests

from chalicelib.domain.memory import ArchivedReason
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.write.prospective.plugin import ProspectiveIndex
from vitto_tools.bench.dialogues import Dialogue
from vitto_tools.bench.metrics import CUTS, Shown
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack

DEEPEST = max(CUTS)
BATCH_BYTES = 300_000  # a request may have 1 MB, and long messages take their time
ROWS_AT_ONCE = 100
INDEXED_SECONDS = 120
STALLED_SECONDS = 300
TRIES = 15  # two minutes in all, of a request that the servers were too busy for
_SUCCESS = frozenset({"stored", "updated", "superseded", "duplicate"})


@dataclass
class Written:
    """What became of the messages of a dialogue: by the id of each row the messages that it stands for; which rows have the
    words of the last of them alone; and how many messages had which outcome."""

    messages: dict[str, list[str]] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)
    outcomes: Counter[str] = field(default_factory=Counter)

    def count(self, outcome: str, row: str, message: str) -> None:
        """Note that `message` is in `row` now."""
        self.outcomes[outcome] += 1
        said = self.messages.setdefault(row, [])
        if message not in said:
            said.append(message)
        if outcome == "updated":
            self.merged.add(row)

    def superseded(self, rows: Sequence[StoredMemory]) -> frozenset[str]:
        """Of `rows` the messages that no reader is shown any more, since each row that they are in is superseded."""
        retired = {row.memory.id for row in rows if row.memory.archived_reason is ArchivedReason.SUPERSEDED}
        live = {message for id_, said in self.messages.items() if id_ not in retired for message in said}
        return frozenset(message for id_ in retired for message in self.messages[id_]) - live

    def shown(self, memory: dict[str, Any]) -> Shown:
        """What a recalled memory counts as: the messages that were written into it; one that was learned from messages
        stands for its evidence."""
        if memory["id"] not in self.messages:
            proof = frozenset(link["target"] for link in memory.get("links", ()) if link["kind"] == "evidence")
            return Shown(proof, proof)
        return self.shown_row(memory["id"])

    def shown_row(self, id_: str) -> Shown:
        """What the row of messages counts as."""
        said = self.messages[id_]
        return Shown(frozenset(said), frozenset(said[-1:] if id_ in self.merged else said))


class Client:
    """Writes dialogues into an organization and asks about them. Without `prospective` it is one whose memories are given no
    questions."""

    def __init__(self, stack: Stack, name: str, batch: int, *, prospective: bool) -> None:
        self._stack = stack
        self.name = name
        self.organization = organization = name if prospective else f"{name}-plain"
        self._batch = batch
        self._services = stack.services
        self._services.plugins.switch(organization, {ProspectiveIndex.name: prospective})
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {stack.key(organization)}"
        self.written: dict[str, Written] = {}

    def remember(self, dialogue: Dialogue) -> Iterator[int]:
        """Store every message in order, whatever admission makes of it: what is measured is recall. A run that was killed
        stores only what is missing, by its idempotency keys. After each batch, how many."""
        own = {"Authorization": f"Bearer {self._stack.key(self.organization, dialogue.name)}"}
        written = self.written[dialogue.name] = Written()
        start = 0
        for items in _batches(list(dialogue.items()), self._batch):
            headers = own | {"Idempotency-Key": f"{dialogue.name}-{start}"}
            receipts = self._post("/engine/memories", {"memories": items, "trusted": True}, headers)["receipts"]
            for item, receipt in zip(items, receipts, strict=True):
                self._note(written, item["origin"]["messageId"], receipt, own)
            start += len(items)
            yield len(items)

    def _note(self, written: Written, message: str, receipt: dict[str, Any], own: dict[str, str]) -> None:
        """Count a receipt. What was held back as an injection is let in as a reviewer would."""
        if receipt["outcome"] == "quarantined":
            self._promote(receipt["id"], own)
        elif receipt["outcome"] not in _SUCCESS:
            raise RuntimeError(f"{message} was not stored: {receipt}")
        written.count(receipt["outcome"], receipt["id"], message)

    def _promote(self, id_: str, own: dict[str, str]) -> None:
        reply = self._session.post(f"{self._stack.url}/engine/memories/{id_}/promote", headers=own, timeout=120)
        if not reply.ok and reply.json()["error"]["code"] != "conflict":  # a run before has promoted it
            raise RuntimeError(f"promoting {id_}: {reply.status_code} {reply.text[:300]}")

    def wait_until_idle(self, report: Report) -> None:
        """Return once the worker has nothing left to do: every row is indexed and has its prospective questions."""
        assert self._services.ports.queue is not None
        began, least, moved = time.monotonic(), self._left(), time.monotonic()
        with report.progress(f"{self.name}: the worker's queue", least) as advance:
            while left := self._left():
                if left < least:
                    advance(least - left)
                    least, moved = left, time.monotonic()
                if time.monotonic() - moved > STALLED_SECONDS:
                    raise RuntimeError(f"{left} messages wait on the queue since {time.monotonic() - began:.0f} s")
                time.sleep(0.5)

    def _left(self) -> int:
        assert self._services.ports.queue is not None
        said = self._services.ports.queue.probe()
        if said["dead"]:
            raise RuntimeError(f"{said['dead']} messages of the queue could not be worked on")
        return int(said["waiting"]) + int(said["taken"]) + self._services.ports.store.count_pending()

    def wait_until_indexed(self, user: str) -> None:
        """Return once the worker has seen that Redis holds all of the user's scopes."""
        until = time.monotonic() + INDEXED_SECONDS
        while degraded := self._recall({"query": "anything", "minScore": unlike_others()}, user)["degraded"]:
            if time.monotonic() > until:
                raise RuntimeError(f"the index of {user} was not built in {INDEXED_SECONDS} s: {degraded}")
            time.sleep(0.5)

    def ask(self, user: str, query: str) -> list[Shown]:
        """What comes back, best first."""
        answer = self._recall({"query": query, "limit": DEEPEST}, user)
        if answer["degraded"]:
            raise RuntimeError(f"a recall was degraded: {answer['degraded']}")
        return [self.written[user].shown(hit["memory"]) for hit in answer["hits"]]

    def rows(self, user: str) -> list[StoredMemory]:
        """The rows that the user's messages are in, with their vectors, whatever became of them since."""
        scope = ScopeRef(self.organization, Scope.USER, user)
        reader = Chain(self.organization, (scope,))
        store = self._services.ports.store
        return [
            row
            for ids in itertools.batched(self.written[user].messages, ROWS_AT_ONCE, strict=False)
            for row in store.fetch(reader, list(ids), with_vectors=True)
        ]

    def _recall(self, body: dict[str, Any], user: str) -> Any:
        return self._post("/engine/memories/recall", body, {"Vitto-User": user})

    def _post(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        """The answer. What the servers were too busy for is asked again, harmless by its idempotency key."""
        for attempt in itertools.count(1):
            reply = self._session.post(self._stack.url + path, json=body, headers=headers, timeout=120)
            if reply.ok:
                return reply.json()
            busy = reply.status_code == 503 or (reply.status_code == 409 and "in_progress" in reply.text)  # noqa: PLR2004
            if not busy or attempt == TRIES:
                raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:300]}")
            time.sleep(attempt)
        raise AssertionError("unreachable")


def unlike_others() -> float:
    """A minimum score that no other recall asked for, and that no hit is under: its answer is in no cache."""
    return time.time_ns() % 10**9 / 10**15


def _batches(items: Sequence[dict[str, Any]], most: int) -> Iterator[list[dict[str, Any]]]:
    """`items` in order, at most so many and so many bytes together."""
    batch: list[dict[str, Any]] = []
    size = 0
    for item in items:
        more = len(json.dumps(item))
        if batch and (len(batch) == most or size + more > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += more
    if batch:
        yield batch
