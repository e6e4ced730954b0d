"""What each ingredient of recall gains: the same questions over the same stores, with the ingredient and without it.

An ingredient is a boolean of `RecallSettings`: a new one joins by itself. Arrangements differ in nothing but settings, so
they are asked in this process, and no answer comes from the cache, which does not know of them; it tells the names of
speakers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.adapters.memory.administration import InMemoryRecallStore
from chalicelib.bootstrap import Container, Ports
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.vector import Vector
from chalicelib.ports import Embedder
from chalicelib.settings import RecallSettings
from vitto_tools.bench.client import DEEPEST, Written, unlike_others
from vitto_tools.bench.dialogues import Dialogue
from vitto_tools.bench.metrics import Shown
from vitto_tools.bench.stack import Stack

ALL, NONE = "all", "none"


@dataclass(frozen=True)
class Arrangement:
    """Settings of recall to be measured. `ingredient` is the one that it is for; of `ALL` and `NONE` there is none."""

    name: str
    changes: Mapping[str, bool]
    ingredient: str = ""


def ingredients() -> tuple[str, ...]:
    """The names of the settings that switch one."""
    return tuple(name for name, field in RecallSettings.model_fields.items() if field.annotation is bool)


def arrangements(settings: RecallSettings) -> list[Arrangement]:
    """As the settings have it, with every ingredient off, and with each in turn the other way round."""
    names = ingredients()
    return [
        Arrangement(ALL, {}),
        Arrangement(NONE, dict.fromkeys(names, False)),
        *(Arrangement(_said(name, settings), {name: not getattr(settings, name)}, name) for name in names),
    ]


def _said(name: str, settings: RecallSettings) -> str:
    return f"{'without' if getattr(settings, name) else 'with'} {name.removeprefix('use_')}"


class Asker:
    """Asks each arrangement in this process."""

    def __init__(self, stack: Stack, organization: str) -> None:
        services = stack.services
        embedder = _Remembering(services.ports.embedder)
        ports = replace(services.ports, recalls=InMemoryRecallStore(), embedder=embedder)
        self.embedder: Embedder = embedder
        self._organization = organization
        self.arrangements = arrangements(services.settings.recall)
        self._services = {one.name: _arranged(services, ports, one) for one in self.arrangements}

    def ask(self, dialogue: Dialogue, written: Written) -> Iterator[tuple[int, str, list[Shown]]]:
        """For each question, by its place, and each arrangement what comes back."""
        caller = Caller(self._organization, dialogue.name, frozenset({Role.MEMBER}))
        for place, question in enumerate(dialogue.questions):
            for name, services in self._services.items():
                query = RecallQuery(query=question.text, limit=DEEPEST, min_score=unlike_others())
                answer = services.recall.recall(caller, query)
                if answer["degraded"] or answer["cached"]:
                    raise RuntimeError(f"cached: {answer['cached']}; a recall was degraded: {answer['degraded']}")
                yield place, name, [written.shown(hit["memory"]) for hit in answer["hits"]]


def _arranged(services: Container, ports: Ports, one: Arrangement) -> Container:
    recall = services.settings.recall.model_copy(update={"cache_seconds": 0, **one.changes})
    return Container(services.settings.model_copy(update={"recall": recall}), ports)


class _Remembering:
    """An embedder that embeds a query once, whatever arrangement asks it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._queries: dict[str, Vector] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed_query(self, text: str) -> Vector:
        """The vector of `text`."""
        if text not in self._queries:
            self._queries[text] = self._embedder.embed_query(text)
        return self._queries[text]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of `texts`."""
        return [self.embed_query(text) for text in texts]
