"""Cached answers and the audit queue in this process."""

import threading
from collections import deque
from collections.abc import Sequence

from chalicelib.adapters.memory.index import GenerationCounter
from chalicelib.domain.keys import key as key_of
from chalicelib.domain.scope import Chain
from chalicelib.ports import CacheEntry, CacheOpening, Clock, vector_under


class InMemoryRecallCache:
    """`ports.RecallCache`."""

    def __init__(self, generations: GenerationCounter, clock: Clock) -> None:
        self._lock = threading.Lock()
        self._generations = generations
        self._clock = clock
        self._answers: dict[str, tuple[CacheEntry, float]] = {}
        self._vectors: dict[str, bytes] = {}
        self._queue: deque[tuple[str, str | None]] = deque()

    def open(self, chain: Chain, key: str, vector_key: str, on_hit: str, words: Sequence[str] = ()) -> CacheOpening:
        now = self._generations.of(chain.keys)
        with self._lock:
            names = self._generations.names_among(chain.keys, words)
            vectors = self._vectors.get(vector_under(vector_key, names))
            entry, until = self._answers.get(key, (None, 0.0))
            if entry and entry.generations == now and self._clock().timestamp() < until:
                self._queue.append((on_hit, entry.audit))
                return CacheOpening(entry.body, now, vectors, names)
            return CacheOpening(None, now, vectors, names)

    def close(self, entry: CacheEntry | None, vectors: tuple[str, bytes] | None, audit: str) -> None:
        with self._lock:
            self._queue.append((audit, None))
            if vectors:
                self._vectors[vectors[0]] = vectors[1]
            if entry:
                self._answers[entry.key] = entry, self._clock().timestamp() + entry.seconds

    def forget(self, org_id: str) -> None:
        with self._lock:
            for name in [name for name in self._answers if name.partition("/")[0] == key_of(org_id)]:
                del self._answers[name]

    def drain(self, limit: int) -> list[tuple[str, str | None]]:
        with self._lock:
            return list(self._queue)[:limit]

    def drained(self, batch: Sequence[tuple[str, str | None]]) -> None:
        with self._lock:
            if batch and self._queue and self._queue[0] == batch[0]:
                for _ in batch:
                    self._queue.popleft()
