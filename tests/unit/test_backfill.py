"""The backfill gives rows the vectors that they lack: in batches, resumable, twice at once without harm, told as it goes."""

from typing import Any

import pytest

import app
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.bootstrap import Container
from chalicelib.domain.backfill import BackfillProgress, BackfillState
from chalicelib.domain.memory import Embedding, IndexState, Status
from chalicelib.domain.query import RecallQuery, StoredMemory
from chalicelib.domain.tasks import BackfillOrganization
from chalicelib.entrypoints.events import BACKFILL_BATCH_MS, JobsFailed
from chalicelib.errors import EmbeddingFailed
from chalicelib.write.backfill import BATCH
from tests.building import TestClock, caller, container, row
from tests.lambda_context import LambdaContext, scheduled_event

ANA = caller("acme", "ana")
MODEL = "text-embedding-3-small"


def given(services: Container, count: int, **fields: Any) -> None:
    """Rows without vectors."""
    values = {"vectors": False} | fields
    org = values.get("org_id", "acme")
    rows = [row(f"{org} fact number {n}", id=f"mem_{n:04}", **values) for n in range(count)]
    assert services.ports.store.insert(rows) == [None] * count


def finished(services: Container, org: str = "acme") -> BackfillProgress:
    """The progress at the end of a run."""
    while (progress := services.backfill.step(org)).state is BackfillState.RUNNING:
        assert progress.done + progress.failed <= progress.total
    return progress


def counts(progress: BackfillProgress) -> tuple[int, int, int, int]:
    """Total, done, cut and failed."""
    return progress.total, progress.done, progress.cut, progress.failed


def vectors_found(services: Container, text: str) -> int:
    """How many hits of a recall have a cosine."""
    hits = services.recall.recall(ANA, RecallQuery(query=text, limit=50))["hits"]
    return sum("cosine" in hit["scores"] for hit in hits)


def test_rows_are_given_vectors_in_batches_and_become_findable_by_meaning() -> None:
    services = container()
    given(services, 2 * BATCH + 1)
    assert services.backfill.progress("acme").left == 2 * BATCH + 1
    steps = [services.backfill.step("acme") for _ in range(3)]
    assert [step.done for step in steps] == [BATCH, 2 * BATCH, 2 * BATCH + 1]
    assert [step.state for step in steps] == [BackfillState.RUNNING, BackfillState.RUNNING, BackfillState.FINISHED]
    progress = services.backfill.progress("acme")
    assert (progress.left, *counts(progress)) == (0, 101, 101, 0, 0)
    (found,) = services.ports.store.fetch(ANA.chain, ["mem_0100"], with_vectors=True)
    assert found.memory.index_state is IndexState.INDEXED
    assert found.memory.revision == 1
    assert vectors_found(services, "acme fact number 100") > 0


def test_a_run_that_was_killed_goes_on_where_it_stopped() -> None:
    services = container()
    given(services, 2 * BATCH)
    services.backfill.step("acme")
    again = Container(services.settings, services.ports)
    assert counts(finished(again)) == (2 * BATCH, 2 * BATCH, 0, 0)


def test_a_second_run_finds_nothing_to_do() -> None:
    services = container()
    given(services, 3)
    finished(services)
    calls = services.ports.embedder.calls  # type: ignore[attr-defined]
    assert counts(finished(services)) == (0, 0, 0, 0)
    assert services.ports.embedder.calls == calls  # type: ignore[attr-defined]


def test_two_runs_at_once_count_every_row_once() -> None:
    services = container()
    given(services, BATCH + 5)
    other = Container(services.settings, services.ports)
    before = services.ports.backfills.fill

    def overtaken(rows: list[StoredMemory]) -> list[bool]:
        services.ports.backfills.fill = before  # type: ignore[method-assign]
        other.backfill.step("acme")
        return before(rows)

    services.ports.backfills.fill = overtaken  # type: ignore[method-assign, assignment]
    assert counts(services.backfill.step("acme")) == (BATCH + 5, BATCH, 0, 0)
    assert counts(finished(services)) == (BATCH + 5, BATCH + 5, 0, 0)


def test_only_the_organization_that_was_asked_for_is_worked_on() -> None:
    services = container()
    given(services, 2)
    given(services, 3, org_id="rival")
    finished(services)
    assert (services.backfill.progress("acme").left, services.backfill.progress("rival").left) == (0, 3)
    assert services.backfill.progress("rival").state is BackfillState.IDLE
    assert services.backfill.organizations() == ["rival"]


def test_long_vectors_of_a_matryoshka_model_are_cut_without_the_embedder() -> None:
    embedder = TermEmbedder(MODEL, 256)
    services = container(embedder=embedder)
    long = TermEmbedder(MODEL, 1536)
    made = Embedding(model=f"{MODEL}@1536", dimensions=1536, vectors=(long.embed_query("acme fact number 0"),))
    given(services, 1, embedding=made)
    embedder.fail = True
    assert counts(finished(services)) == (1, 1, 1, 0)
    assert embedder.calls == 0
    embedder.fail = False
    assert vectors_found(services, "acme fact number 0") == 1


def test_vectors_of_another_model_are_made_anew() -> None:
    services = container()
    old = Embedding(model="ada@1536", dimensions=1536, vectors=(TermEmbedder("ada", 1536).embed_query("x"),))
    given(services, 1, embedding=old)
    assert counts(finished(services)) == (1, 1, 0, 0)
    (found,) = services.ports.store.fetch(ANA.chain, ["mem_0000"], with_vectors=True)
    assert found.memory.embedding is not None
    assert found.memory.embedding.model == services.ports.embedder.passage_model


class Choosy(TermEmbedder):
    """Refuses every call with a text that it cannot bear."""

    def embed_query(self, text: str) -> bytes:
        """The vector, unless it is asked for number 3."""
        if text.endswith("number 3"):
            raise EmbeddingFailed("cannot be embedded")
        return super().embed_query(text)


def test_a_row_that_cannot_be_embedded_costs_itself_alone_and_is_tried_again_by_the_next_run() -> None:
    services = container(embedder=Choosy())
    given(services, BATCH + 10)
    assert counts(finished(services)) == (BATCH + 10, BATCH + 9, 0, 1)
    assert services.backfill.progress("acme").left == 1
    assert counts(finished(services)) == (1, 0, 0, 1)


def test_an_embedder_that_is_down_leaves_the_batch_to_be_done() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    given(services, BATCH + 10)
    embedder.fail = True
    with pytest.raises(EmbeddingFailed):
        services.backfill.step("acme")
    embedder.fail = False
    assert counts(finished(services)) == (BATCH + 10, BATCH + 10, 0, 0)


def test_a_quarantined_row_gets_vectors_and_stays_out_of_the_index() -> None:
    services = container()
    given(services, 1, status=Status.QUARANTINED)
    assert counts(finished(services)) == (1, 1, 0, 0)
    assert vectors_found(services, "acme fact number 0") == 0


def test_a_request_works_a_while_and_leaves_the_rest_to_messages_that_follow_one_another() -> None:
    clock = TestClock()
    services = container(clock=clock)
    given(services, 4 * BATCH)
    step = services.backfill.step

    def slow(org_id: str) -> BackfillProgress:
        clock.forward(seconds=4)
        return step(org_id)

    services.backfill.step = slow  # type: ignore[method-assign]
    progress = services.backfill.start("acme")
    assert (progress.done, progress.left, progress.state) == (2 * BATCH, 2 * BATCH, BackfillState.RUNNING)
    clock.forward(seconds=2)
    assert services.consumer.drain().done >= 1
    clock.forward(seconds=2)
    services.consumer.drain()
    assert services.backfill.progress("acme").left == 0


def test_without_a_queue_a_request_goes_on_with_what_the_last_one_left() -> None:
    services = container(queue=None)
    given(services, BATCH)
    services.backfill.start("acme")
    assert services.backfill.start("acme").left == 0


def test_a_request_whose_embedder_is_down_is_answered_and_says_so() -> None:
    embedder = TermEmbedder()
    services = container(embedder=embedder)
    given(services, 2 * BATCH)
    services.backfill.step("acme")
    embedder.fail = True
    progress = services.backfill.start("acme")
    assert (progress.state, progress.done, progress.left) == (BackfillState.RUNNING, BATCH, BATCH)
    assert "backfill_paused" in {name for name, _ in services.ports.telemetry.events}  # type: ignore[attr-defined]


def test_a_message_of_a_run_that_ended_does_nothing() -> None:
    services = container()
    given(services, 1)
    task = BackfillOrganization(scope_key="acme/organization/acme")
    services.backfill.go_on(task.chain.org_id)
    assert services.backfill.progress("acme").state is BackfillState.IDLE


def test_the_schedule_works_on_every_organization_while_there_is_time(serving: Container) -> None:
    given(serving, BATCH)
    given(serving, 3, org_id="rival")
    context = LambdaContext(remaining_ms=BACKFILL_BATCH_MS)
    assert app.backfill(scheduled_event("backfill"), context) == {"done": 0}
    context.remaining_ms = BACKFILL_BATCH_MS + 1
    assert app.backfill(scheduled_event("backfill"), context) == {"done": BATCH + 3}
    assert serving.backfill.organizations() == []


def test_the_schedule_fails_aloud_where_the_embedder_is_down(serving: Container) -> None:
    given(serving, BATCH)
    serving.ports.embedder.fail = True  # type: ignore[attr-defined]
    with pytest.raises(JobsFailed, match="backfill"):
        app.backfill(scheduled_event("backfill"), LambdaContext())
    assert "job_failing" in {name for name, _ in serving.ports.telemetry.events}  # type: ignore[attr-defined]
