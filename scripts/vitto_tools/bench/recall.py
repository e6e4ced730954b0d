"""`scripts/bench recall`: LoCoMo through the HTTP API, one user a conversation, every turn a memory of its own."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import requests

from vitto_tools.bench.baselines import Bm25, embed
from vitto_tools.bench.locomo import ADVERSARIAL, Conversation, conversations
from vitto_tools.bench.metrics import CATEGORIES, CUTS, OVERALL, Scores
from vitto_tools.bench.report import Report
from vitto_tools.bench.stack import Stack, running

ORGANIZATION = "locomo"
BATCH = 100
INDEXED_SECONDS = 60
DEEPEST = max(CUTS)
EXPECTED = "about 4 minutes once the embeddings are cached; the first run embeds 7,900 texts, about 6 minutes more"


def run(report: Report) -> None:
    """Print recall per category, beside BM25 alone and vectors alone, and note the figures."""
    report.say(f"recall on LoCoMo: {EXPECTED}")
    data = conversations()
    product, bm25, vector = Scores(), Scores(), Scores()
    with running("recall") as stack:
        client = Client(stack)
        with report.progress("remembering turns", sum(len(c.turns) for c in data)) as advance:
            for conversation in data:
                for stored in client.remember(conversation):
                    advance(stored)
        with report.progress("baselines, questions", sum(len(c.questions) for c in data)) as advance:
            for conversation in data:
                _baselines(stack, conversation, bm25, vector)
                advance(len(conversation.questions))
        with report.progress("asking questions", sum(len(c.questions) for c in data)) as advance:
            for conversation in data:
                client.wait_until_indexed(conversation.name)
                for question in conversation.questions:
                    product.add(question, client.recall(conversation.name, question.text))
                    advance(1)
    _print(report, {"product": product, "baseline.bm25": bm25, "baseline.vector": vector})


class Client:
    """Speaks to the API as an assistant does, for each conversation as another user."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._url = stack.url
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {stack.key(ORGANIZATION)}"

    def remember(self, conversation: Conversation) -> Iterator[int]:
        """Store every turn, whatever admission makes of it: what is measured is recall. A run that was killed stores only
        what is missing, by its idempotency keys."""
        own = {"Authorization": f"Bearer {self._stack.key(ORGANIZATION, conversation.name)}"}
        for start in range(0, len(conversation.turns), BATCH):
            part = conversation.turns[start : start + BATCH]
            items = [turn.item(start + i) for i, turn in enumerate(part)]
            headers = own | {"Idempotency-Key": f"{conversation.name}-{start}"}
            body = {"memories": items, "trusted": True}
            receipts = self._post("/engine/memories", body, "", headers)["receipts"]
            if bad := [r for r in receipts if r["outcome"] != "stored" or r["index"]["state"] != "indexed"]:
                raise RuntimeError(f"{conversation.name}: {len(bad)} turns were not stored, such as {bad[0]}")
            yield len(part)

    def wait_until_indexed(self, user: str) -> None:
        """Return once the worker has seen that Redis holds all of the user's scopes."""
        until = time.monotonic() + INDEXED_SECONDS
        while self._post("/engine/memories/recall", {"query": f"anything {time.time_ns()}"}, user, {})["degraded"]:
            if time.monotonic() > until:
                raise RuntimeError(f"the index of {user} was not built in {INDEXED_SECONDS} s")
            time.sleep(0.5)

    def recall(self, user: str, query: str) -> list[str]:
        """The turns that come back, best first."""
        answer = self._post("/engine/memories/recall", {"query": query, "limit": DEEPEST}, user, {})
        if answer["degraded"]:
            raise RuntimeError(f"a recall was degraded: {answer['degraded']}")
        return [hit["memory"]["origin"]["messageId"] for hit in answer["hits"]]

    def _post(self, path: str, body: dict[str, Any], user: str, headers: dict[str, str]) -> Any:
        """Ask as `user`, or, where it is empty, as whom the credential of `headers` stands for."""
        acting = {"Vitto-User": user} if user else {}
        reply = self._session.post(self._url + path, json=body, headers=acting | headers, timeout=120)
        if not reply.ok:
            raise RuntimeError(f"{path}: {reply.status_code} {reply.text[:300]}")
        return reply.json()


def _baselines(stack: Stack, conversation: Conversation, bm25: Scores, vector: Scores) -> None:
    texts = [turn.indexed_text for turn in conversation.turns]
    index = Bm25(texts)
    passages = embed(stack.embedding_url, "e5-passage", texts)
    queries = embed(stack.embedding_url, "e5-query", [question.text for question in conversation.questions])
    for question, query in zip(conversation.questions, queries, strict=True):
        found = index.scores(question.text)
        bm25.add(
            question, [conversation.turns[i].id for i in np.argsort(-found, kind="stable")[:DEEPEST] if found[i] > 0]
        )
        vector.add(
            question, [conversation.turns[i].id for i in np.argsort(-(passages @ query), kind="stable")[:DEEPEST]]
        )


def _print(report: Report, systems: dict[str, Scores]) -> None:
    rows = []
    for name, scores in systems.items():
        by_category = [scores.recall(10, [category]) for category in CATEGORIES]
        cuts = [scores.recall(cut, OVERALL) for cut in CUTS]
        rows.append([name, *cuts, scores.mrr(OVERALL), *by_category])
    heads = ["system", *(f"recall@{cut}" for cut in CUTS), "MRR", *(f"{name} @10" for name in CATEGORIES.values())]
    report.table("LoCoMo, categories 1–4 overall, percent", heads, rows)
    for name, scores in systems.items():
        prefix = "locomo" if name == "product" else name
        report.note(f"{prefix}.recall_at_10", scores.recall(10, OVERALL))
        report.note(f"{prefix}.mrr", scores.mrr(OVERALL))
        report.note(f"{prefix}.adversarial.recall_at_10", scores.recall(10, [ADVERSARIAL]))
