"""`scripts/bench context`: how much of a question's evidence stands in the context that a turn assembles, on LoCoMo.

A conversation is fed message by message; what leaves the window goes into the genome. Then every question of categories 1
to 4 is asked. The product's own text scores and cached embeddings rank the messages in this process, fused as recall does;
window, genome, recall and assembly are the product's.
"""

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chalicelib.context.composing import SessionView, TurnRequest, compose, settle
from chalicelib.context.recalling import Candidate, lend
from chalicelib.context.window import MOST, evict_and_compress, mean_message_tokens, window_size
from chalicelib.domain import bm25
from chalicelib.domain.calibration import calibration_of
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.hydration import rendered
from chalicelib.domain.genome.model import MAX_TOKENS, ConversationGenome
from chalicelib.domain.memory import Memory, MemoryType, Origin
from chalicelib.domain.query import Scores
from chalicelib.domain.scope import Scope
from chalicelib.domain.text.names import name_words, without_names
from chalicelib.domain.text.terms import TermCounts, index_terms, query_words
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt.toon import memory_rows, toon
from chalicelib.recall.explain import calibrated
from vitto_tools.bench.baselines import embed
from vitto_tools.bench.dialogues import Question
from vitto_tools.bench.locomo import ADVERSARIAL, Conversation, Turn, conversations
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import cached_embedding
from vitto_tools.local import servers

BUDGETS = (2000, 4000, 8000)
TUNED = 5  # conversations that shares were chosen on; the others are held out
SESSION_BUDGET = 4000  # by which messages leave the window while the conversation is fed
DEEPEST = 300
LAST = 10
RANDOM_DRAWS = 20
MEMORIES_AT_ONCE = 10
EXPECTED = "about 6 minutes once the embeddings are cached"


@dataclass
class Shares:
    """Shares of evidence by figure: those of the conversations that were tuned on, and of the others."""

    tuned: dict[str, list[float]] = field(default_factory=dict)
    heldout: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, share: float, *, tuned: bool) -> None:
        """Count one question."""
        (self.tuned if tuned else self.heldout).setdefault(name, []).append(share)

    def note(self, report: Report) -> None:
        """Note every figure, over all and over those held out, in percent."""
        for name in self.tuned:
            held = self.heldout.get(name, [])
            report.note(name, _percent([*self.tuned[name], *held]))
            if held:
                report.note(f"heldout.{name}", _percent(held))


def run(report: Report, most: int = 10) -> None:
    """Fill `report` from the first `most` conversations."""
    report.say(f"evidence in context on LoCoMo: {EXPECTED}")
    data = conversations()[:most]
    shares, terms = Shares(), Shares()
    with _embedding() as url, report.progress("questions", sum(len(c.questions) for c in data)) as advance:
        for number, conversation in enumerate(data):
            _measure(Session(conversation, url), shares, terms, tuned=number < TUNED)
            advance(len(conversation.questions))
    shares.note(report)
    ratios = [value for part in (terms.tuned, terms.heldout) for value in part.get("genome", [])]
    report.note("genome.evidence_terms_over_random", sum(ratios) / len(ratios))
    saving = _toon_saving(data)
    report.note("toon.saving", saving["indented"])
    report.note("toon.saving_over_one_line", saving["one line"])
    rows = [[name, report.figures[name], report.figures.get(f"heldout.{name}", "")] for name in shares.tuned]
    report.table("Evidence in context, percent", ["figure", "all", "held out"], rows)


@contextlib.contextmanager
def _embedding() -> Iterator[str]:
    """The address of a cached embedding server."""
    ports = [servers.free_port() for _ in range(2)]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for server in (servers.embedding(ports[0]), cached_embedding(ports[1], ports[0])):
            stack.callback(servers.start(server, folder / f"{server.name}.log").stop)
        yield f"http://{servers.HOST}:{ports[1]}/v1"


class Session:
    """A conversation as a session, with its genome, and a search over its messages."""

    def __init__(self, conversation: Conversation, url: str) -> None:
        self.messages = [_message(turn, position) for position, turn in enumerate(conversation.turns)]
        self.questions = [question for question in conversation.questions if question.category != ADVERSARIAL]
        self.by_id = {message.id: message for message in self.messages}
        self.by_position = dict(enumerate(self.messages))
        self.genome = fed(self.messages)
        texts = [turn.indexed_text for turn in conversation.turns]
        self._rows = [index_terms(text) for text in texts]
        self._frequencies = Counter(term for row in self._rows for term in row.counts)
        self._passages = embed(url, "e5-passage", texts)
        speakers = {word for turn in conversation.turns for word in name_words(turn.speaker)}
        asked = [without_names(question.text, speakers) for question in self.questions]  # as recall embeds them
        self._queries = embed(url, "e5-query", asked)
        self._calibration = calibration_of("e5-passage", {})

    def view(self, budget: int) -> SessionView:
        """The session as it stands once the worker has compressed what a turn of that budget leaves outside the window."""
        view = SessionView(self.genome, self._latest(self.genome), around=self.by_position)
        genome = settle(view, budget).genome
        return replace(view, genome=genome, latest=self._latest(genome))

    def _latest(self, genome: ConversationGenome) -> list[SessionMessage]:
        return self.messages[min(len(self.messages) - MOST, genome.message_range.to) :]

    def candidates(self, number: int) -> list[Candidate]:
        """The messages that a question finds, best first."""
        words = query_words(self.questions[number].text)
        weights = {term: self._weight(term) for word in words for term in word if term in self._frequencies}
        texts = np.array([bm25.score(row.counts, row.length, weights) for row in self._rows])
        cosines = self._passages @ self._queries[number]
        fused = lend(dict(enumerate(_z(cosines) + _z(texts))))
        order = sorted(self.by_position, key=lambda position: (-fused[position], position))[:DEEPEST]
        return [Candidate(self.by_position[at], self._score(float(cosines[at]), words, self._rows[at])) for at in order]

    def _weight(self, term: str) -> float:
        return bm25.weight(len(self._rows), self._frequencies[term])

    def _score(self, cosine: float, words: Sequence[Sequence[str]], row: TermCounts) -> float:
        """What recall shows as score: meaning and words together."""
        covered = sum(any(term in row.counts for term in word) for word in words) / len(words) if words else 0.0
        similarity = self._calibration.similarity(cosine)
        parts = Scores(cosine=cosine, similarity=similarity, bm25=0.0, coverage=covered, fused=0.0)
        return calibrated(parts, similarity, len(self._rows), foreign=False)


def fed(messages: Sequence[SessionMessage]) -> ConversationGenome:
    """The genome of a session after its messages came in one by one."""
    genome = ConversationGenome(session_id="bench", user_id=messages[0].said_by)
    for count in range(1, len(messages) + 1):
        latest = messages[max(0, min(count - MOST, genome.message_range.to)) : count]
        size = window_size(SESSION_BUDGET, genome=genome.token_count, mean_message=mean_message_tokens(latest))
        if len(latest) > size:
            genome = evict_and_compress(latest, size, genome).genome
    return genome


def _measure(session: Session, shares: Shares, terms: Shares, *, tuned: bool) -> None:
    views = {budget: session.view(budget) for budget in BUDGETS}
    for number, question in enumerate(session.questions):
        candidates = session.candidates(number)
        for budget, view in views.items():
            made = compose(TurnRequest(question.text, budget), replace(view, candidates=candidates))
            if made.prompt.tokens > budget:
                raise RuntimeError(f"a context of {made.prompt.tokens} tokens for a budget of {budget}")
            share = _share(question, made.prompt.in_context)
            shares.add(f"context.{budget}.coverage", share, tuned=tuned)
        for name, ids in _baselines(session.messages).items():
            shares.add(name, _share(question, ids), tuned=tuned)
    if session.genome.token_count > MAX_TOKENS:
        raise RuntimeError(f"a genome of {session.genome.token_count} tokens")
    terms.add("genome", _terms_over_random(session), tuned=tuned)


def _baselines(messages: Sequence[SessionMessage]) -> Mapping[str, frozenset[str]]:
    """The last ten messages, and the last that fit."""
    found = {"baseline.last10.coverage": frozenset(message.id for message in messages[-LAST:])}
    for budget in BUDGETS:
        left, ids = budget, set()
        for message in reversed(messages):
            left -= estimate(f"{message.said_by}: {message.text}") + 4
            if left < 0:
                break
            ids.add(message.id)
        found[f"baseline.fitting.{budget}.coverage"] = frozenset(ids)
    return found


def _terms_over_random(session: Session) -> float:
    """How many terms of evidence the genome holds for each that as many tokens of random messages hold."""
    evidence = {term for q in session.questions for id_ in q.evidence for term in _terms(session.by_id[id_].text)}
    held = len(evidence & set(_terms(rendered(session.genome))))
    random = np.random.default_rng(0)
    drawn = [len(evidence & _drawn(session.messages, random)) for _ in range(RANDOM_DRAWS)]
    return held / (sum(drawn) / len(drawn))


def _drawn(messages: Sequence[SessionMessage], random: np.random.Generator) -> set[str]:
    left, terms = MAX_TOKENS, set[str]()
    for i in random.permutation(len(messages)):
        left -= estimate(messages[i].text)
        if left < 0:
            break
        terms |= set(_terms(messages[i].text))
    return terms


def _terms(text: str) -> Mapping[str, int]:
    return index_terms(text).counts


def _share(question: Question, ids: frozenset[str]) -> float:
    return len(question.evidence & ids) / len(question.evidence)


def _message(turn: Turn, position: int) -> SessionMessage:
    caption = f" [{turn.caption}]" if turn.caption else ""
    text = turn.text + caption or "…"
    return SessionMessage(id=turn.id, position=position, role="user", author=turn.speaker, text=text, at=turn.at)


def _z(values: NDArray[np.floating]) -> NDArray[np.floating]:
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation else np.zeros_like(values)


def _percent(values: Sequence[float]) -> float:
    return 100 * sum(values) / len(values)


def _toon_saving(data: Sequence[Conversation]) -> dict[str, float]:
    """The mean part of tokens that lists of ten memories save as TOON, against JSON as it is read and on one line."""
    saved: dict[str, list[float]] = {"indented": [], "one line": []}
    for conversation in data:
        made = [_memory(turn) for turn in conversation.turns]
        for start in range(0, len(made), MEMORIES_AT_ONCE):
            rows = {"memories": memory_rows(made[start : start + MEMORIES_AT_ONCE])}
            tokens = estimate(toon(rows))
            for name, indent in (("indented", 2), ("one line", None)):
                saved[name].append(1 - tokens / estimate(json.dumps(rows, indent=indent, ensure_ascii=False)))
    return {name: sum(values) / len(values) for name, values in saved.items()}


def _memory(turn: Turn) -> Memory:
    return Memory(
        id=turn.id,
        org_id="locomo",
        scope=Scope.USER,
        scope_id="locomo",
        user_id="locomo",
        type=MemoryType.CONVERSATION,
        content=turn.text or "…",
        origin=Origin(speaker=turn.speaker),
        event_time=turn.at,
        created_at=turn.at,
        updated_at=turn.at,
    )
