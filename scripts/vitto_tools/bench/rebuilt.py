"""The same questions before and after a scope's index is dropped and built anew from the truth: the same answers as long as
a search is exact, nearly the same beyond."""

from collections.abc import Sequence
from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.query import RecallQuery
from vitto_tools.bench.client import unlike_others
from vitto_tools.bench.report import Report

Hits = list[tuple[str, float]]


def measure(report: Report, services: Container, reader: Caller, name: str, rows: int, asked: Sequence[str]) -> None:
    """Note the share of identical answers and the mean overlap of their hits, for the load `name` of so many rows."""
    before = _answers(services, reader, asked)
    with report.progress(f"rebuilding {name}", rows) as advance:
        services.maintenance.rebuild(reader.chain.keys[-1], advance)
    after = _answers(services, reader, asked)
    identical = [one == other for one, other in zip(before, after, strict=True)]
    overlaps = [_overlap(one, other) for one, other in zip(before, after, strict=True)]
    report.note(f"rebuilt.{name}.identical", sum(identical) / len(identical))
    report.note(f"rebuilt.{name}.overlap", sum(overlaps) / len(overlaps))


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
