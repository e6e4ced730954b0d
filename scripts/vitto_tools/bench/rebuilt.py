"""The same questions before and after a scope's index is dropped and built anew from the truth: the same answers as long as
a search is exact, nearly the same beyond."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.ports import MemoryStore
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.report import Report

SHORT, LONG = 200, 10_000  # rows of a page
Hits = list[tuple[str, float]]


def measure(report: Report, services: Container, reader: Caller, name: str, rows: int, asked: Sequence[str]) -> None:
    """Note the share of identical answers and the mean overlap of their hits, for the load `name` of so many rows."""
    before = _answers(services, reader, asked)
    reading = Container(services.settings, replace(services.ports, store=_ReadAhead(services.ports.store)))
    with report.progress(f"rebuilding {name}", rows) as advance:
        reading.maintenance.rebuild(reader.chain.keys[-1], advance)
    after = _answers(services, reader, asked)
    identical = [one == other for one, other in zip(before, after, strict=True)]
    overlaps = [_overlap(one, other) for one, other in zip(before, after, strict=True)]
    report.note(f"rebuilt.{name}.identical", sum(identical) / len(identical))
    report.note(f"rebuilt.{name}.overlap", sum(overlaps) / len(overlaps))


class _ReadAhead:
    """A store whose rows are read in long pages and given in its own short ones: for every page the embedded server sorts
    all of a scope, which MongoDB has an index for."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._ahead: list[StoredMemory] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def rows_of_scope(self, scope_key: str, *, after: str = "", limit: int = SHORT) -> list[StoredMemory]:
        if not self._ahead:
            self._ahead = self._store.rows_of_scope(scope_key, after=after, limit=LONG)
        page, self._ahead = self._ahead[:limit], self._ahead[limit:]
        return page


def _answers(services: Container, reader: Caller, asked: Sequence[str]) -> list[Hits]:
    score = unlike_others()
    queries = (RecallQuery(query=text, limit=20, min_score=score) for text in asked)
    return [_hits(services.recall.recall(reader, query)) for query in queries]


def _hits(answer: dict[str, Any]) -> Hits:
    if answer["cached"] or answer["degraded"]:
        raise RuntimeError(f"not what is to be measured: cached={answer['cached']}, degraded={answer['degraded']}")
    return [(hit["memory"]["id"], hit["score"]) for hit in answer["hits"]]


def _overlap(one: Hits, other: Hits) -> float:
    first, second = ({id_ for id_, _ in hits} for hits in (one, other))
    return len(first & second) / max(len(first), len(second)) if first or second else 1.0
