"""Sessions as callers have them: isolation first, then appending, ending, deleting, and what the worker makes of them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from chalicelib.adapters.memory.cache import InMemoryRecallCache
from chalicelib.adapters.memory.embedder import TermEmbedder
from chalicelib.adapters.memory.index import GenerationCounter, InMemoryHotIndex
from chalicelib.adapters.memory.sessions import InMemorySessionGenomeStore
from chalicelib.adapters.telemetry import RecordedTelemetry
from chalicelib.bootstrap import Container
from chalicelib.context.assembling import MessagesFound, TurnContext
from chalicelib.context.drafting import BROUGHT_BACK
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.query import MissingCode, RecallQuery
from chalicelib.domain.session import Session
from chalicelib.domain.session_input import AppendRequest, ContextRequest, MessageReceipt
from chalicelib.domain.vector import Vector, unit
from chalicelib.errors import Conflict, EmbeddingFailed, Forbidden, InvalidInput, NotFound, StoreUnavailable, VittoError
from chalicelib.ports import Browse, CacheEntry
from chalicelib.prompt.blocks import BlockName
from chalicelib.prompt.fencing import fenced
from tests.building import NOW, TestClock, caller, container

ANA, BOB = caller(user="ana", spaces=("red",)), caller(user="bob", spaces=("red",))
EVE = caller(user="eve", spaces=("blue",))
AWS_KEY = "AKIA" + "IOSFODNN7EXAMPLE"


def said(*texts: str, start: int = 0, role: str = "user", **fields: Any) -> AppendRequest:
    """An append of messages with ids by their number."""
    messages = [{"id": f"m{n}", "role": role, "text": text} for n, text in enumerate(texts, start)]
    return AppendRequest.model_validate({"messages": messages, **fields})


def append(made: Container, who: Caller, *texts: str, session: str = "s1", **fields: Any) -> tuple[MessageReceipt, ...]:
    """The receipts of an append."""
    return made.conversation.sessions.append(who, session, said(*texts, **fields)).receipts


def asked(
    made: Container, who: Caller, query: str, budget: int = 2000, session: str = "s1", **more: Any
) -> TurnContext:
    """A context."""
    request = ContextRequest.model_validate({"query": query, "totalBudget": budget, **more})
    return made.conversation.context.assemble(who, session, request)


def work(made: Container) -> None:
    """Have the worker empty the queue."""
    drained = made.consumer.drain()
    assert (drained.failed, drained.died) == (0, 0), made.ports.telemetry
    made.after_response.settle()
    made.consumer.drain()


def texts_of(made: Container, who: Caller, session: str = "s1") -> list[str]:
    """What a member reads."""
    return [one.text for one in made.conversation.sessions.read(who, session, 0, 200)]


def refusals(made: Container, who: Caller, session: str = "s1") -> set[tuple[type[VittoError], str]]:
    """What somebody is told who asks a session everything there is to ask."""
    kept = made.conversation.sessions
    asks = (
        lambda: kept.append(who, session, said("mine")),
        lambda: kept.append(who, session, said()),
        lambda: kept.read(who, session, 0, 10),
        lambda: kept.read_latest(who, session, 10),
        lambda: kept.genome(who, session),
        lambda: kept.end(who, session),
        lambda: kept.delete(who, session),
        lambda: asked(made, who, "what is the pin?"),
    )
    found = set()
    for ask in asks:
        with pytest.raises(VittoError) as refused:
            ask()
        found.add((type(refused.value), refused.value.message))
    return found


def test_a_session_is_there_for_no_other_user() -> None:
    made = container()
    append(made, ANA, "the pin is 4921", spaceId="red")
    assert refusals(made, EVE) == {(NotFound, "no such session")}
    assert texts_of(made, ANA) == ["the pin is 4921"]


def test_without_a_space_it_is_its_owners_alone() -> None:
    made = container()
    append(made, ANA, "the pin is 4921")
    assert refusals(made, BOB) == {(NotFound, "no such session")}


def test_a_user_of_the_space_is_a_member_once_they_appended() -> None:
    made = container()
    append(made, ANA, "the pin is 4921", spaceId="red")
    for read in (made.conversation.sessions.genome, made.conversation.sessions.end):
        with pytest.raises(NotFound):
            read(BOB, "s1")
    with pytest.raises(NotFound):  # who says nothing joins nothing
        made.conversation.sessions.append(BOB, "s1", said())
    append(made, BOB, "I forgot it", start=1)
    assert texts_of(made, BOB) == ["the pin is 4921", "I forgot it"]
    assert made.conversation.sessions.visible(ANA, "s1").members == ("bob",)
    with pytest.raises(Forbidden):
        made.conversation.sessions.delete(BOB, "s1")
    with pytest.raises(Forbidden):
        append(made, BOB, start=2, extract="off")


def test_the_same_id_in_another_organization_is_another_session() -> None:
    made = container()
    other = caller("other", "ana", spaces=("red",))
    append(made, ANA, "ours", spaceId="red")
    with pytest.raises(NotFound):
        made.conversation.sessions.read(other, "s1", 0, 10)
    append(made, other, "theirs", spaceId="red")
    work(made)
    assert (texts_of(made, ANA), texts_of(made, other)) == (["ours"], ["theirs"])
    assert "theirs" not in str(asked(made, ANA, "what did we say?").composed.prompt)
    made.conversation.sessions.delete(other, "s1")
    assert texts_of(made, ANA) == ["ours"]


def test_a_space_that_the_credential_does_not_grant_cannot_be_named() -> None:
    made = container()
    for field in ("spaceId", "universeId"):
        with pytest.raises(NotFound, match=field):
            append(made, ANA, "hello", **{field: "blue"})
        with pytest.raises(NotFound):
            made.conversation.sessions.visible(ANA, "s1")
    append(made, ANA, "hello", spaceId="red")
    with pytest.raises(Conflict, match="spaceId"):
        append(made, caller(spaces=("red", "blue")), start=1, spaceId="blue")


def test_an_observer_reads_and_changes_nothing() -> None:
    made, observer = container(), caller("acme", "ana", Role.OBSERVER)
    append(made, ANA, "hello there")
    kept = made.conversation.sessions
    for change in (
        lambda: append(made, observer, "x"),
        lambda: kept.end(observer, "s1"),
        lambda: kept.delete(observer, "s1"),
    ):
        with pytest.raises(Forbidden):
            change()
    assert texts_of(made, observer) == ["hello there"]
    assert asked(made, observer, "who is there?").composed.prompt.tokens


def test_a_repeat_gets_the_first_receipts() -> None:
    made = container()
    first = append(made, ANA, "one", f"my key is {AWS_KEY}", fenced("memories", "x"))
    assert [(one.outcome, one.position, one.redacted) for one in first] == [
        ("stored", 0, ()),
        ("stored", 1, ("aws_access_key",)),
        ("skipped", None, ()),
    ]
    assert first[2].reason == BROUGHT_BACK
    assert append(made, ANA, "one", f"my key is {AWS_KEY}", fenced("memories", "x")) == first
    with pytest.raises(Conflict) as refused:
        append(made, ANA, "another")
    assert refused.value.details == {"messageId": "m0"}
    assert texts_of(made, ANA) == ["one", "my key is [REDACTED:aws_access_key]"]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ({"text": " \u200b"}, "messages.1.text"),
        ({"text": "x" * 65_537}, "messages.1.text"),
        ({"text": "\ud800"}, "messages.1.text"),
        ({"id": AWS_KEY}, "messages.1.id"),
        ({"id": "\u0001"}, "messages.1.id"),
        ({"id": "ü" * 65}, "messages.1.id"),
        ({"name": "\u0000"}, "messages.1.name"),
    ],
)
def test_a_batch_with_a_message_that_is_none_appends_nothing(message: dict[str, Any], field: str) -> None:
    made = container()
    batch = [{"id": "m0", "role": "user", "text": "fine"}, {"id": "m1", "role": "user", "text": "b"} | message]
    with pytest.raises(InvalidInput) as refused:
        made.conversation.sessions.append(ANA, "s1", AppendRequest.model_validate({"messages": batch}))
    assert refused.value.field == field
    made.conversation.sessions.append(ANA, "s1", said())
    assert texts_of(made, ANA) == []


def test_an_id_of_a_session_must_be_one() -> None:
    made = container()
    for id_ in (" ", "a\nb", "x" * 129, AWS_KEY):
        with pytest.raises(InvalidInput, match="sessionId"):
            append(made, ANA, "hello", session=id_)


def test_what_is_appended_is_found_at_once_by_its_words_and_then_by_meaning() -> None:
    made = container()
    append(made, ANA, *(f"we talked about matter number {n}" for n in range(90)))
    append(made, ANA, "the vault opens at noon", start=90, totalBudget=400)
    append(made, ANA, *(f"and of another thing {n}" for n in range(90)), start=91)
    before = asked(made, ANA, "when does the vault open?", 400)
    assert "m90" in before.composed.prompt.in_context
    work(made)
    after = asked(made, ANA, "when does the vault open?", 400)
    assert "m90" in after.composed.prompt.in_context
    assert after.composed.trigger
    kept = made.ports.sessions.kept(made.conversation.sessions.visible(ANA, "s1"), ["m90"])
    assert kept[0].embedding
    assert kept[0].pending_since is None


def test_without_redis_and_where_it_lost_messages_the_store_is_searched() -> None:
    made = container(hot=None, cache=None)
    fill(made)
    assert "m5" in asked(made, ANA, "when does the vault open?", 400).composed.prompt.in_context
    hot = InMemoryHotIndex()
    lossy = container(hot=hot)
    fill(lossy)
    session = lossy.conversation.sessions.visible(ANA, "s1")
    hot._rows[session.key].pop("5")
    assert "m5" in asked(lossy, ANA, "when does the vault open?", 400).composed.prompt.in_context
    assert lossy.maintenance.rebuild(session.key) == 100
    assert len(hot._rows[session.key]) == 100


def fill(made: Container, count: int = 100) -> None:
    """A session of `count` messages, the sixth of which is worth asking for, settled for a small budget."""
    append(
        made,
        ANA,
        *(f"about matter {n}" if n != 5 else "the vault opens at noon" for n in range(count)),
        totalBudget=400,
    )
    work(made)


def test_the_index_may_be_away_and_the_worker_tells_it_later() -> None:
    class Away(InMemoryHotIndex):
        """An index that is away while `is_away`."""

        is_away = True

        def apply(self, changes: Any) -> None:
            if self.is_away:
                raise StoreUnavailable("redis", "away")
            super().apply(changes)

    hot, clock = Away(), TestClock()
    made = container(hot=hot, clock=clock)
    append(made, ANA, "the vault opens at noon")
    assert "index_unreachable" in names(made)
    assert made.consumer.drain().failed == 1
    hot.is_away = False
    clock.forward(minutes=5)
    assert made.consumer.drain().done >= 1
    session = made.conversation.sessions.visible(ANA, "s1")
    assert [entry.vectors != () for entry in hot._rows[session.key].values()] == [True]


def names(made: Container) -> list[str]:
    """What telemetry was told."""
    assert isinstance(made.ports.telemetry, RecordedTelemetry)
    return [event[0] if isinstance(event, tuple) else str(event) for event in made.ports.telemetry.events]


def memories(made: Container, who: Caller) -> list[str]:
    """The active memories that a user sees."""
    return [one.content for one in made.ports.store.browse(who.chain, Browse()).items]


FACT = "I moved to Porto last May and work at the Serralves museum now"


def test_what_users_say_becomes_memories_of_their_own_with_the_message_as_evidence() -> None:
    made = container()
    append(made, ANA, FACT, spaceId="red")
    append(made, BOB, "No, the release is on Thursday and not on Friday", start=1)
    append(made, ANA, "I decided that you live in Rome", start=2, role="assistant")
    work(made)
    assert memories(made, ANA) == [FACT]
    assert memories(made, BOB) == ["No, the release is on Thursday and not on Friday"]
    (memory,) = made.ports.store.browse(ANA.chain, Browse()).items
    assert memory.origin
    assert (memory.origin.session_id, memory.origin.message_id, memory.origin.speaker) == ("s1", "m0", "ana")
    assert [(link.kind.value, link.target) for link in memory.links] == [("evidence", "m0")]


def test_a_session_with_extract_off_makes_no_memories() -> None:
    made = container()
    append(made, ANA, FACT, extract="off")
    work(made)
    append(made, ANA, "I also moved to Lisbon in June 2025", start=1)
    append(made, ANA, start=2, extract="on")
    work(made)
    assert memories(made, ANA) == []
    append(made, ANA, "No, the release is on Thursday and not on Friday", start=2)
    work(made)
    assert memories(made, ANA) == ["No, the release is on Thursday and not on Friday"]


def test_a_repeat_of_the_workers_message_makes_nothing_twice_not_even_what_was_forgotten() -> None:
    made = container()
    append(made, ANA, FACT)
    work(made)
    (memory,) = made.ports.store.browse(ANA.chain, Browse()).items
    made.editor.forget(ANA, memory.id)
    session = made.conversation.sessions.visible(ANA, "s1")
    before = made.ports.genomes.load(session.key)
    made.conversation.settler.settle(session.key, ["m0"])
    assert memories(made, ANA) == []
    assert made.ports.genomes.load(session.key) == before


def test_an_embedder_that_fails_holds_up_nothing_else_and_is_tried_again() -> None:
    made, clock = container(), TestClock()
    made = container(clock=clock)
    made.ports.embedder.fail = True  # type: ignore[attr-defined]
    append(made, ANA, FACT)
    with pytest.raises(EmbeddingFailed):
        made.conversation.settler.settle(made.conversation.sessions.visible(ANA, "s1").key, ["m0"])
    assert memories(made, ANA) == [FACT]
    made.ports.embedder.fail = False  # type: ignore[attr-defined]
    clock.forward(minutes=2)
    assert made.conversation.settler.settle_left() == 1
    assert made.conversation.settler.settle_left() == 0


def test_messages_whose_task_was_lost_are_seen_to_all_the_same() -> None:
    clock = TestClock()
    made = container(queue=None, clock=clock)
    append(made, ANA, FACT)
    assert made.conversation.settler.settle_left() == 0
    clock.forward(minutes=2)
    assert made.conversation.settler.settle_left() == 1
    assert memories(made, ANA) == [FACT]


def long_session(made: Container, who: Caller = ANA, count: int = 40) -> None:
    """Messages of which a budget of 400 tokens leaves most outside the window."""
    text = "We decided to meet at {} o'clock in Porto because the museum of Serralves opens then, and Bob brings the tickets"
    append(made, who, *(text.format(n) for n in range(count)), totalBudget=400)


def test_what_leaves_the_window_is_in_the_genome_once_however_often_it_is_settled() -> None:
    made = container()
    long_session(made)
    work(made)
    state = made.conversation.sessions.genome(ANA, "s1")
    assert state.genome.version == 1
    assert state.genome.message_range.to + state.outside == 40
    assert 4 <= state.outside < 40
    session = made.conversation.sessions.visible(ANA, "s1")
    assert made.conversation.settler.compress(session) == state.genome


def test_a_worker_that_is_cut_off_between_eviction_and_store_changes_nothing_wrong() -> None:
    class Dying(InMemorySessionGenomeStore):
        """A store before which the worker dies once, and after which it dies once."""

        deaths = 0

        def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
            self.deaths += 1
            done = self.deaths != 1 and super().put(session_key, genome, expected_version)
            if self.deaths <= 2:
                raise StoreUnavailable("mongo", "killed")
            return done

    clock = TestClock()
    whole, made = container(), container(genomes=Dying(), clock=clock)
    for each in (whole, made):
        long_session(each)
    work(whole)
    for _ in range(2):
        assert made.consumer.drain().failed == 1
        clock.forward(minutes=20)
    work(made)
    session = made.conversation.sessions.visible(ANA, "s1")
    assert made.ports.genomes.load(session.key) == whole.conversation.sessions.genome(ANA, "s1").genome
    assert len(texts_of(made, ANA)) == 40


def test_of_two_workers_the_second_begins_from_what_the_first_kept() -> None:
    class Racing(InMemorySessionGenomeStore):
        """A store that another worker is first to, once."""

        other: ConversationGenome | None = None

        def put(self, session_key: str, genome: ConversationGenome, expected_version: int) -> bool:
            if self.other is None:
                self.other = genome
                super().put(session_key, genome, expected_version)
                return False
            return super().put(session_key, genome, expected_version)

    made = container(genomes=Racing())
    long_session(made)
    work(made)
    assert made.conversation.sessions.genome(ANA, "s1").genome.version == 1


def test_a_worker_far_behind_catches_up_in_slices() -> None:
    made = container(queue=None)
    for start in range(0, 500, 100):
        append(
            made, ANA, *(f"about matter {n} of Porto" for n in range(start, start + 100)), start=start, totalBudget=400
        )
    session = made.conversation.sessions.visible(ANA, "s1")
    genome = made.conversation.settler.compress(session)
    assert genome.version > 1
    assert genome.message_range.to > 440
    again = made.conversation.settler.compress(session)  # the genome took its room meanwhile
    assert made.conversation.settler.compress(session) == again
    assert again.message_range.to <= 500 - 4


def test_a_context_is_whole_without_the_worker_and_stores_nothing() -> None:
    made = container()
    long_session(made)
    session = made.conversation.sessions.visible(ANA, "s1")
    found = asked(made, ANA, "when do we meet?", 600)
    assert found.composed.genome.version == 1
    assert found.composed.genome.message_range.to > 0
    assert found.genome.version == 0
    assert made.ports.genomes.load(session.key) is None
    assert made.conversation.sessions.visible(ANA, "s1") == session
    assert len(texts_of(made, ANA)) == 40
    assert found.composed.prompt.tokens <= 600


def test_a_context_has_what_memory_holds_but_not_twice_what_was_said_in_it() -> None:
    made = container()
    made.remember.remember(ANA, [{"content": "Ana keeps the vault key in the museum"}], key=None, single=True)
    append(made, ANA, FACT)
    work(made)
    for scope in ANA.chain.keys:
        made.maintenance.rebuild(scope)
    found = asked(made, ANA, "where do I work and where is the vault key kept, at the museum?")
    recalled = found.composed.prompt.text_of(BlockName.RECALLED)
    assert "Ana keeps the vault key in the museum" in recalled
    assert FACT not in recalled
    assert FACT in found.composed.prompt.text_of(BlockName.WINDOW)
    assert {hit["memory"]["content"] for hit in found.recall["hits"]} >= {"Ana keeps the vault key in the museum"}


def test_a_turn_embeds_its_query_once_also_where_a_speakers_name_is_taken_out_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = container()
    embedder = made.ports.embedder
    assert isinstance(embedder, TermEmbedder)
    told = {"content": "The harbour is closed on Mondays", "type": "fact", "origin": {"speaker": "Marlene"}}
    made.remember.remember(ANA, [told], key=None, single=True)
    append(made, ANA, "Marlene says that the harbour is closed on Mondays", "And the garden is open")
    work(made)
    searched: list[Vector | None] = []
    search = made.conversation.context._search

    def noted(session: Session, query: str, vector: Vector | None, count: int) -> MessagesFound:
        searched.append(vector)
        return search(session, query, vector, count)

    monkeypatch.setattr(made.conversation.context, "_search", noted)
    for query in ("What did Marlene say of the harbour?", "When is the harbour closed?"):
        before = embedder.calls
        found, again = asked(made, ANA, query), asked(made, ANA, query)
        assert embedder.calls == before + 1
        assert not found.degraded
        assert (found.recall["cached"], again.recall["cached"]) == (False, True)
        assert searched[-1] == searched[-2] is not None
    assert searched[0] == embedder.embed_query("What did say of the harbour?")


def test_a_vector_that_its_cached_answer_outlived_is_made_again_of_the_same_text() -> None:
    class Forgetful(InMemoryRecallCache):
        """A cache of answers alone."""

        def close(self, entry: CacheEntry | None, vectors: tuple[str, bytes] | None, audit: str) -> None:  # noqa: ARG002
            super().close(entry, None, audit)

    generations, clock = GenerationCounter(), TestClock()
    made = container(hot=InMemoryHotIndex(generations), clock=clock, cache=Forgetful(generations, clock))
    embedder = made.ports.embedder
    assert isinstance(embedder, TermEmbedder)
    append(made, ANA, "The harbour is closed on Mondays")
    work(made)
    asked(made, ANA, "What of the harbour?")
    before = embedder.calls
    assert asked(made, ANA, "What of the harbour?").recall["cached"]
    assert embedder.calls == before + 1


def test_a_recall_that_fails_fails_the_turn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = container()
    append(made, ANA, "The harbour is closed")
    embedder = made.ports.embedder
    assert isinstance(embedder, TermEmbedder)
    done: list[str] = []

    def fails(*_: object) -> dict[str, Any]:
        raise StoreUnavailable("mongo", "gone")

    monkeypatch.setattr(made.conversation.context, "_recall", fails)
    monkeypatch.setattr(made.conversation.context, "_search", lambda *_: done.append("searched"))
    monkeypatch.setattr(made.conversation.context._hooks, "hints", lambda *_: done.append("hinted"))
    before = embedder.calls
    with pytest.raises(StoreUnavailable, match="gone"):
        asked(made, ANA, "What is closed?")
    assert (done, embedder.calls) == ([], before)


def test_secrets_in_a_query_reach_neither_prompt_nor_recall() -> None:
    made = container()
    append(made, ANA, "hello there")
    found = asked(made, ANA, f"is {AWS_KEY} still right?", system=f"the key is {AWS_KEY}")
    assert AWS_KEY not in str(found)
    for query in ("", " \u200b ", "x" * 65_537):
        with pytest.raises(InvalidInput, match="query"):
            asked(made, ANA, query)


@pytest.mark.parametrize("buffer", [100, 500])
def test_a_buffer_that_leaves_no_room_for_a_prompt_is_refused(buffer: int) -> None:
    with pytest.raises(ValidationError, match="must be less than totalBudget"):
        ContextRequest.model_validate({"query": "who pays?", "totalBudget": 100, "responseBuffer": buffer})


def test_a_very_long_query_is_answered() -> None:
    made = container()
    append(made, ANA, "hello there")
    assert asked(made, ANA, "word " * 5000).composed.prompt.tokens <= 2000


def test_a_session_ends_once_and_goes_on_with_the_next_message() -> None:
    clock = TestClock()
    made = container(clock=clock)
    append(made, ANA, "hello there")
    ended, _ = made.conversation.sessions.end(ANA, "s1")
    clock.forward(minutes=1)
    assert made.conversation.sessions.end(ANA, "s1")[0].ended_at == ended.ended_at == NOW
    append(made, ANA, "one more thing", start=1)
    assert made.conversation.sessions.visible(ANA, "s1").ended_at is None
    assert made.conversation.sessions.end(ANA, "s1")[0].ended_at == NOW + timedelta(minutes=1)


def test_a_deleted_session_leaves_nothing_and_its_id_can_be_begun_anew_by_anyone() -> None:
    hot = InMemoryHotIndex()
    made = container(hot=hot)
    long_session(made)
    work(made)
    session = made.conversation.sessions.visible(ANA, "s1")
    assert made.conversation.sessions.delete(ANA, "s1") == 40
    assert refusals_of_reading(made, ANA) == {NotFound}
    assert made.ports.genomes.load(session.key) is None
    assert not hot._rows.get(session.key)
    assert made.ports.store.marked_for_repair() == []
    append(made, EVE, "mine now")
    made.conversation.settler.settle(session.key, ["m0"])
    work(made)
    assert texts_of(made, EVE) == ["mine now"]
    assert "Porto" not in str(asked(made, EVE, "when do we meet in Porto?").composed.prompt.blocks[:-1])


def refusals_of_reading(made: Container, who: Caller) -> set[type[VittoError]]:
    """How a session refuses to be read."""
    found = set()
    for read in (made.conversation.sessions.genome, made.conversation.sessions.end, made.conversation.sessions.delete):
        with pytest.raises(VittoError) as refused:
            read(who, "s1")
        found.add(type(refused.value))
    return found


def test_a_removal_that_was_cut_off_is_finished_by_the_worker() -> None:
    class Away(InMemoryHotIndex):
        """An index that cannot be emptied while `is_away`."""

        is_away = True

        def begin_rebuild(self, scope_key: str) -> str:
            if self.is_away:
                raise StoreUnavailable("redis", "away")
            return super().begin_rebuild(scope_key)

    hot = Away()
    made = container(hot=hot)
    append(made, ANA, "the pin is 4921")
    session = made.conversation.sessions.visible(ANA, "s1")
    made.conversation.sessions.delete(ANA, "s1")
    assert [key for key, _ in made.ports.store.marked_for_repair()] == [session.key]
    assert hot._rows[session.key]
    hot.is_away = False
    assert made.maintenance.rebuild_wanted() >= 1
    assert not hot._rows[session.key]
    assert made.ports.store.marked_for_repair() == []


def test_another_model_embeds_the_messages_again_and_until_then_their_words_find_them() -> None:
    made = container()
    for org, name in (("acme", "s1"), ("globex", "s1")):
        append(
            made, caller(org), *(f"The harbour is closed on day {n}" for n in range(60)), session=name, extract="off"
        )
    work(made)
    before = made.conversation.sessions.visible(caller("acme"), "s1")
    later = container(**vars(made.ports) | {"embedder": TermEmbedder(model="newer")})
    assert [missing.code for missing in asked(later, caller("acme"), "harbour closed day 3").degraded] == [
        MissingCode.EMBEDDING_MISMATCH
    ]
    assert later.maintenance.indexed("acme") == [before.key]
    assert [later.maintenance.embed_again(before.key) for _ in range(2)] == [(60, 0), (0, 0)]
    assert later.maintenance.rebuild(before.key) == 60
    assert not asked(later, caller("acme"), "harbour closed day 3").degraded
    assert [missing.code for missing in asked(later, caller("globex"), "harbour closed day 3").degraded] == [
        MissingCode.EMBEDDING_MISMATCH
    ]


def test_a_message_that_the_embedder_refuses_holds_up_no_other_and_one_that_is_down_is_not_asked_for_all() -> None:
    class Refusing(TermEmbedder):
        """An embedder of another model that takes no text with this word."""

        word = "harbour 7"

        def embed_passages(self, texts: Sequence[str]) -> list[tuple[Vector, ...]]:
            self.calls += 1
            if any(self.word in text for text in texts):
                raise EmbeddingFailed("refused")
            return [(unit([1.0] * 256),) for _ in texts]

    made = container()
    append(made, ANA, *(f"This is harbour {n}" for n in range(10)), extract="off")
    work(made)
    refusing = Refusing(model="newer")
    later = container(**vars(made.ports) | {"embedder": refusing})
    session = made.conversation.sessions.visible(ANA, "s1")
    assert later.maintenance.embed_again(session.key) == (9, 1)
    refusing.word, refusing.calls = "harbour", 0
    append(made, ANA, *(f"This is harbour {n}" for n in range(20)), session="s2", extract="off")
    assert later.maintenance.embed_again(made.conversation.sessions.visible(ANA, "s2").key) == (0, 20)
    assert refusing.calls == 4  # all at once, and three alone
    assert later.maintenance.embed_again("acme/session/gone") == (0, 0)


def test_sessions_do_not_trouble_the_upkeep_of_memories() -> None:
    made = container()
    fill(made, 100)
    fill_more = [f"more of matter {n}" for n in range(100)]
    append(made, ANA, *fill_more, start=100)
    append(made, ANA, *fill_more, start=200)
    assert made.maintenance.refresh_statistics() == 0
    made.maintenance.rebuild_wanted()
    answer = made.recall.recall(ANA, RecallQuery(query="matter 3"))
    assert all(hit["memory"]["scope"] == "user" for hit in answer["hits"])
