"""Steps of tests of the read path: rows put into the truth and the index as they are, and what a recall makes of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import Claim, IndexState, Link, LinkKind
from chalicelib.domain.query import RecallQuery, StoredMemory
from tests.building import caller, container, row

ANA = caller("acme", "ana", spaces=("red", "blue"), universes=("docs",))


def holding(*rows: StoredMemory, who: Caller = ANA, caches: bool = False, **overrides: Any) -> Container:
    """The product with these rows, wholly indexed."""
    services = container(**({} if caches else {"cache": None}) | overrides)
    indexed = {"index_state": IndexState.INDEXED}
    services.ports.store.insert([replace(one, memory=one.memory.model_copy(update=indexed)) for one in rows])
    for scope in who.chain.keys:
        services.maintenance.rebuild(scope)
    return services


def recall(services: Container, query: str, who: Caller = ANA, **asked: Any) -> dict[str, Any]:
    """The answer to a query."""
    return services.recall.recall(who, RecallQuery(query=query, **asked))


def contents(answer: dict[str, Any]) -> list[str]:
    """What the hits say, in order."""
    return [hit["memory"]["content"] for hit in answer["hits"]]


def tier(answer: dict[str, Any], name: str) -> dict[str, Any]:
    """The report of one tier."""
    (found,) = [report for report in answer["tiers"] if report["tier"] == name]
    return dict(found)


def linked(target: StoredMemory | str, kind: LinkKind = LinkKind.RELATES) -> tuple[Link, ...]:
    """A link to a row or an id."""
    return (Link(kind=kind, target=target if isinstance(target, str) else target.memory.id),)


def claims(*triples: tuple[str, str, str]) -> tuple[Claim, ...]:
    """Claims of a row."""
    return tuple(Claim(subject=subject, attribute=attribute, value=value) for subject, attribute, value in triples)


def fillers(count: int, **fields: Any) -> Sequence[StoredMemory]:
    """Rows that have nothing to do with what tests ask."""
    return [row(f"unrelated filler {i} about zebras", **fields) for i in range(count)]
