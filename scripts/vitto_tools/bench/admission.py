"""`scripts/bench admission`: which turns of LoCoMo admission lets in, against those that later questions cite as evidence.

Each turn is a candidate at its own time, of type `conversation`, with its speaker and the messages before it in its session,
and its scope holds what was admitted of the conversation so far, as in the product. Stores are the shipped twins.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import InMemoryHotIndex
from chalicelib.adapters.memory.memories import InMemoryMemoryStore
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.domain.admission import Decision, Signals
from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.input import SaidMessage
from chalicelib.domain.memory import Attachment, Memory, MemoryType, Origin
from chalicelib.domain.scope import Scope
from chalicelib.domain.vector import Vector, unit, unpack
from chalicelib.errors import EmbeddingFailed
from chalicelib.write.admission.gate import AdmissionGate
from chalicelib.write.admission.scope_view import ScopeView
from chalicelib.write.admission.signals import Incoming
from chalicelib.write.admission.stage import AdmissionStage
from chalicelib.write.indexing import Indexer
from chalicelib.write.lookup import ScopeLookup
from vitto_tools.bench import admission_fit
from vitto_tools.bench.embedding_cache import EmbeddingCache
from vitto_tools.bench.locomo import ADVERSARIAL, Conversation, Turn, conversations
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import BENCH, CACHE_FILE
from vitto_tools.local import servers

TUNED = 5  # conversations 1 to 5; data/README.md "Metrics"
BEFORE = 3  # messages given with a candidate
DIMENSIONS = 256
WITHOUT = "product without vectors"
MODEL = "e5-passage"
DELAY = timedelta(minutes=1)  # a message becomes a candidate on the queue, after the response
EXPECTED = "about 2 minutes once the embeddings are cached; the first run embeds 5,900 texts, about 6 minutes more"


@dataclass
class Judged:
    """What a system made of turns, in order: its score, whether it let them in, and whether a question cites them."""

    signals: list[Signals] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    admitted: list[bool] = field(default_factory=list)
    cited: list[bool] = field(default_factory=list)


def run(report: Report, *, fit: bool = False, without_vectors: bool = False) -> None:
    """Print F1, AUC, precision and recall of both halves, beside admitting all and the best length cut, and note them."""
    report.say(f"admission on LoCoMo: {EXPECTED}")
    data = conversations()
    halves = {"tuned": data[:TUNED], "heldout": data[TUNED:]}
    with _vectors(data, report) as vectors:
        systems = {"product": vectors} | ({WITHOUT: Vectors({})} if without_vectors else {})
        found = {
            (name, half): _judge(report, f"{name}, {half}", some, known)
            for name, known in systems.items()
            for half, some in halves.items()
        }
    if fit:
        admission_fit.fit(report, found["product", "tuned"].signals, found["product", "tuned"].cited)
    _print(report, data, found)


class Vectors(TermEmbedder):
    """An embedder that looks its vectors up, and fails where it holds none."""

    def __init__(self, known: dict[str, Vector]) -> None:
        super().__init__()
        self._known = known
        self._calibration = calibration_of(MODEL, {})

    @property
    def passage_model(self) -> str:
        return f"{MODEL}@{DIMENSIONS}"

    def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
        if any(text not in self._known for text in texts):
            raise EmbeddingFailed("no vector is known")
        return [(self._known[text],) for text in texts]

    def similarity(self, cosine: float) -> float:
        return self._calibration.similarity(cosine)


@contextlib.contextmanager
def _vectors(data: Sequence[Conversation], report: Report) -> Iterator[Vectors]:
    texts = list(dict.fromkeys(_memory(turn, turn.at).indexed_text for each in data for turn in each.turns))
    port = servers.free_port()
    model = servers.start(servers.embedding(port), BENCH / "admission" / "embedding.log")
    try:
        cache = EmbeddingCache(CACHE_FILE, f"http://{servers.HOST}:{port}/v1")
        known: dict[str, Vector] = {}
        with report.progress("vectors", len(texts)) as advance:
            for start in range(0, len(texts), 100):
                part = texts[start : start + 100]
                known |= zip(part, (_cut(vector) for vector in cache.embed(MODEL, part)), strict=True)
                advance(len(part))
        yield Vectors(known)
    finally:
        model.stop()


def _cut(vector: bytes) -> Vector:
    return unit(unpack(vector), DIMENSIONS)


def _judge(report: Report, title: str, data: Sequence[Conversation], vectors: Vectors) -> Judged:
    found = Judged()
    with report.progress(title, sum(len(each.turns) for each in data)) as advance:
        for conversation in data:
            cited = {id_ for q in conversation.questions if q.category != ADVERSARIAL for id_ in q.evidence}
            _converse(conversation, vectors, found, advance)
            found.cited += [turn.id in cited for turn in conversation.turns]
    return found


def _converse(conversation: Conversation, vectors: Vectors, found: Judged, advance: Callable[[int], None]) -> None:
    scope = _Scope(vectors)
    for i, turn in enumerate(conversation.turns):
        before = [each for each in conversation.turns[max(0, i - BEFORE) : i] if each.session == turn.session]
        messages = tuple(SaidMessage(speaker=each.speaker, text=each.text or "…") for each in before)
        scope.take(turn, messages, found)
        advance(1)


class _Scope:
    """The scope of one conversation: what is admitted is stored and indexed there."""

    def __init__(self, vectors: Vectors) -> None:
        self._now = datetime.fromtimestamp(0, UTC)
        self._store, self._hot, telemetry = InMemoryMemoryStore(), InMemoryHotIndex(), RecordedTelemetry()
        ports: dict[str, Any] = {"store": self._store, "hot": self._hot, "embedder": vectors, "telemetry": telemetry}
        ports["clock"] = lambda: self._now
        self._indexer = Indexer(**ports)
        lookup = ScopeLookup(**ports)
        view = ScopeView(**{name: port for name, port in ports.items() if name != "hot"}, lookup=lookup)
        self._stage = AdmissionStage(gate=AdmissionGate(view), indexer=self._indexer, telemetry=telemetry)
        self._caller = Caller("locomo", "reader", frozenset({Role.MEMBER}))
        for scope in self._caller.chain.keys:
            self._hot.complete(scope)

    def take(self, turn: Turn, messages: tuple[SaidMessage, ...], found: Judged) -> None:
        """Judge one turn, and store it where it is admitted."""
        self._now = turn.at + DELAY
        (row,) = self._indexer.analysed([_memory(turn, self._now)])
        (judged,) = self._stage.judge(self._caller, [Incoming(row, messages)], self._now)
        found.signals.append(judged.verdict.signals)
        found.scores.append(judged.verdict.score)
        found.admitted.append(judged.verdict.decision is Decision.ADMIT)
        if judged.verdict.decision is Decision.ADMIT and self._store.insert([judged.row]) == [None]:
            self._hot.apply([self._indexer.change(judged.row)])


def _memory(turn: Turn, now: datetime) -> Memory:
    attachments = (Attachment(type="image", url="about:blank", description=turn.caption),) if turn.caption else ()
    return Memory(
        id=f"mem_{turn.id}",
        org_id="locomo",
        scope=Scope.USER,
        scope_id="reader",
        user_id="reader",
        type=MemoryType.CONVERSATION,
        content=turn.text or "…",
        origin=Origin(session_id=str(turn.session), message_id=turn.id, speaker=turn.speaker),
        event_time=turn.at,
        created_at=now + DELAY if now == turn.at else now,
        updated_at=now,
        attachments=attachments,
    )


def _print(report: Report, data: Sequence[Conversation], found: dict[tuple[str, str], Judged]) -> None:
    lengths = {
        "tuned": np.array([len(t.text) for each in data[:TUNED] for t in each.turns]),
        "heldout": np.array([len(t.text) for each in data[TUNED:] for t in each.turns]),
    }
    cited = {half: np.array(found["product", half].cited) for half in lengths}
    cut = max(np.unique(lengths["tuned"]), key=lambda c: f1(lengths["tuned"] >= c, cited["tuned"]))
    rows: list[list[object]] = []
    for half, wanted in cited.items():
        for name in dict.fromkeys(system for system, _ in found):
            judged = found[name, half]
            rows.append(_row(name, half, np.array(judged.admitted), np.array(judged.scores), wanted))
        rows.append(_row("admit all", half, np.ones(len(wanted), bool), np.zeros(len(wanted)), wanted))
        rows.append(_row(f"at least {cut} characters", half, lengths[half] >= cut, lengths[half], wanted))
        report.note(f"admission.{half}.f1", f1(np.array(found["product", half].admitted), wanted))
        report.note(f"admission.{half}.auc", auc(np.array(found["product", half].scores), wanted))
        report.note(f"baseline.admit_all.{half}.f1", f1(np.ones(len(wanted), bool), wanted))
        report.note(f"baseline.length.{half}.f1", f1(lengths[half] >= cut, wanted))
    heads = ["system", "half", "F1", "AUC", "precision", "recall", "admitted"]
    report.table("LoCoMo turns that questions cite (1-5 tuned, 6-10 held out)", heads, rows)


def _row(
    name: str, half: str, admitted: NDArray[np.bool_], scores: NDArray[np.float64], cited: NDArray[np.bool_]
) -> list[object]:
    hits = float((admitted & cited).sum())
    shares = hits / admitted.sum(), hits / cited.sum(), float(admitted.mean())
    return [name, half, *(f"{value:.3f}" for value in (f1(admitted, cited), auc(scores, cited), *shares))]


def f1(admitted: NDArray[np.bool_], cited: NDArray[np.bool_]) -> float:
    """The harmonic mean of precision and recall."""
    return float(2 * (admitted & cited).sum() / (admitted.sum() + cited.sum()))


def auc(scores: NDArray[np.float64], cited: NDArray[np.bool_]) -> float:
    """The chance that a cited turn scores above one that is not, ties by halves."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive, negative = cited.sum(), (~cited).sum()
    return float((ranks[cited].sum() - positive * (positive + 1) / 2) / (positive * negative))
