"""Files of other systems as memories: their time, their words, and everything that has no place is named."""

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from chalicelib.domain.input import MemoryInput
from chalicelib.domain.memory import MAX_CONTENT_BYTES
from chalicelib.domain.validation import validated
from vitto_tools.importing.conversion import Circumstances, Conversion, pieces_of, time_of
from vitto_tools.importing.run import BATCH_BYTES, by_user, next_batch
from vitto_tools.importing.shapes import CONVERTERS, Shape, records_of, shape_of

GIVEN = Circumstances(now=datetime(2026, 3, 1, tzinfo=UTC))
MEM0 = {
    "id": "m-1",
    "memory": "Prefers morning meetings",
    "user_id": "arjun",
    "agent_id": "planner",
    "run_id": "run-7",
    "actor_id": "Arjun",
    "hash": "ab12",
    "score": 0.7,
    "metadata": {"project": "Atlas", "priority": 2, "nested": {"a": 1}, "none": None},
    "categories": ["work", "habits"],
    "created_at": "2024-05-02T10:00:00-07:00",
    "updated_at": "2024-06-01T10:00:00-07:00",
    "input": [{"role": "user", "content": "mornings please"}, {"role": "assistant", "content": "noted"}],
}
EDGE = {
    "uuid": "e-1",
    "name": "LIVES_IN",
    "fact": "Kendra lives in Porto",
    "source_node_uuid": "n-1",
    "target_node_uuid": "n-2",
    "episodes": ["ep-1"],
    "attributes": {"since": 2020},
    "created_at": "2025-01-10T00:00:00Z",
    "valid_at": "2024-12-24T18:00:00Z",
    "invalid_at": None,
    "expired_at": None,
}


def converted(value: Any, shape: Shape | None = None, given: Circumstances = GIVEN) -> Conversion:
    """What a file of `value`, or of JSON lines where it is a text, comes to; each item one that the API takes."""
    records, bad = records_of(value if isinstance(value, str) else json.dumps(value))
    found = shape or shape_of(records)
    assert found is not None
    made = CONVERTERS[found](records, given)
    made.left_out[:0] = bad
    for item in made.items:
        validated(MemoryInput, item.body)
    return made


def lines(*values: Any) -> str:
    """JSON lines."""
    return "\n".join(json.dumps(value) for value in values)


def test_mem0_keeps_words_time_user_run_and_what_is_plain_of_its_metadata() -> None:
    made = converted({"results": [MEM0]})
    (item,) = made.items
    assert item.user == "arjun"
    assert item.body == {
        "content": "Prefers morning meetings",
        "type": "fact",
        "eventTime": "2024-05-02T10:00:00-07:00",
        "tags": ["work", "habits", "project: Atlas", "priority: 2"],
        "origin": {"sessionId": "run-7", "speaker": "Arjun"},
        "messages": [{"speaker": "user", "text": "mornings please"}, {"speaker": "assistant", "text": "noted"}],
        "source": "import:mem0:m-1",
    }
    assert made.not_kept == {"agent_id": 1, "metadata": 1, "updated_at": 1}


@pytest.mark.parametrize("form", [[MEM0], {"results": [MEM0]}, {"memories": [MEM0]}, lines(MEM0), lines([MEM0], MEM0)])
def test_mem0_is_known_in_every_form_that_it_comes_in(form: Any) -> None:
    assert shape_of(records_of(form if isinstance(form, str) else json.dumps(form))[0]) is Shape.MEM0


def test_what_stands_beside_the_memories_of_mem0_is_named() -> None:
    made = converted({"results": [MEM0], "relations": [{"source": "a", "relationship": "b", "target": "c"}]})
    assert made.not_kept["relations"] == 1


@pytest.mark.parametrize(
    ("day", "kept"),
    [("2026-03-05", "2026-03-06T00:00:00+00:00"), ("2026-02-28", None), ("2026-03-01", "2026-03-02T00:00:00+00:00")],
)
def test_a_memory_of_mem0_expires_at_the_end_of_its_day(day: str, kept: str | None) -> None:
    made = converted([{**MEM0, "expiration_date": day}])
    assert [item.body["expiresAt"] for item in made.items] == ([kept] if kept else [])
    assert [one.reason for one in made.left_out] == ([] if kept else [f"it expired on {day}"])


def test_a_fact_of_zep_keeps_when_it_was_true_whom_it_is_about_and_where_it_is_from() -> None:
    nodes = [{"uuid": "n-1", "name": "Kendra", "summary": "K."}, {"uuid": "n-2", "name": "Porto"}]
    made = converted({"edges": [EDGE], "nodes": nodes, "user_id": "kendra"})
    (item,) = made.items
    assert item.user == "kendra"
    assert item.body == {
        "content": "Kendra lives in Porto",
        "type": "fact",
        "eventTime": "2024-12-24T18:00:00+00:00",
        "tags": ["LIVES_IN", "since: 2020"],
        "keyEntities": ["Kendra", "Porto"],
        "links": [{"kind": "evidence", "target": "ep-1"}],
        "source": "import:zep:e-1",
    }
    assert [(one.where, one.invalid) for one in made.left_out] == [
        ("document, nodes.1", False),
        ("document, nodes.2", False),
    ]
    assert not made.not_kept


@pytest.mark.parametrize("name", ["invalid_at", "expired_at"])
def test_a_fact_that_zep_has_invalidated_is_skipped_with_when_it_ended(name: str) -> None:
    made = converted([{**EDGE, name: "2025-06-01T00:00:00Z"}])
    assert made.items == []
    (skipped,) = made.left_out
    assert skipped.reason == "no longer true since 2025-06-01T00:00:00+00:00"
    assert skipped.text == "Kendra lives in Porto"
    assert not skipped.invalid


def test_a_fact_that_ends_later_expires_then() -> None:
    (item,) = converted([{**EDGE, "invalid_at": "2027-01-01T00:00:00Z"}]).items
    assert item.body["expiresAt"] == "2027-01-01T00:00:00+00:00"


DAY = "2024-01-02T00:00:00Z"


def test_sessions_and_episodes_of_zep_become_conversation_with_speaker_session_and_time() -> None:
    said = {
        "uuid": "m-1",
        "role": "Ana",
        "role_type": "user",
        "content": "I moved yesterday",
        "created_at": DAY,
    }
    answer = {**said, "uuid": "m-2", "role": "Helper", "role_type": "assistant", "content": "Congratulations!"}
    episode = {
        "uuid": "ep-1",
        "content": "The flat is in Porto",
        "source": "text",
        "created_at": DAY,
    }
    data = {**episode, "uuid": "ep-2", "source": "json", "content": '{"a": 1}'}
    session = {"session_id": "s-1", "user_id": "ana", "messages": [said, answer]}
    made = converted({"sessions": [session], "episodes": [episode, data]})
    assert [item.body["content"] for item in made.items] == [said["content"], answer["content"], episode["content"]]
    assert made.items[0].body["eventTime"] == "2024-01-02T00:00:00+00:00"
    assert made.items[0].body["origin"] == {"sessionId": "s-1", "messageId": "m-1", "speaker": "Ana"}
    assert made.items[1].body["origin"]["speaker"] == "assistant"
    assert {item.user for item in made.items} == {"ana", None}
    assert [one.reason for one in made.left_out] == ["an episode of JSON data"]


@pytest.mark.parametrize(
    "form",
    [{"edges": [EDGE]}, {"facts": ["a"]}, [EDGE], lines(EDGE), {"session_id": "s", "messages": []}, {"episodes": []}],
)
def test_zep_is_known_in_every_form_that_it_comes_in(form: Any) -> None:
    assert shape_of(records_of(form if isinstance(form, str) else json.dumps(form))[0]) is Shape.ZEP


MESSAGE = {
    "session": "s-1",
    "id": "m-1",
    "role": "user",
    "content": "I moved yesterday",
    "time": "2024-01-02T09:00:00+01:00",
}


def test_messages_keep_speaker_session_and_their_own_time() -> None:
    made = converted(lines(MESSAGE, {**MESSAGE, "speaker": "Ana", "mood": "happy"}))
    assert made.items[0].body == {
        "content": "I moved yesterday",
        "type": "conversation",
        "eventTime": "2024-01-02T09:00:00+01:00",
        "origin": {"sessionId": "s-1", "messageId": "m-1", "speaker": "user"},
        "source": "import:messages",
    }
    assert made.items[1].body["origin"]["speaker"] == "Ana"
    assert made.not_kept == {"mood": 1}


def test_what_an_assistant_said_stays_the_assistants_whatever_its_name() -> None:
    (item,) = converted([{**MESSAGE, "role": "assistant", "name": "Clara"}]).items
    assert item.body["origin"]["speaker"] == "assistant"


@pytest.mark.parametrize(
    "text", ["ab cd. " * 6000, "漢字" * 9000, "x" * 40_000, "😀" * 10_000, f"a\n\n{'word ' * 9000}"]
)
def test_what_is_over_16_kb_comes_in_pieces_that_lose_nothing(text: str) -> None:
    made = converted([{**MESSAGE, "content": text}])
    pieces = [item.body["content"] for item in made.items]
    assert len(pieces) > 1
    assert all(len(piece.encode()) <= MAX_CONTENT_BYTES for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert {item.body["eventTime"] for item in made.items} == {MESSAGE["time"]}
    assert made.items[0].body["source"] == f"import:messages (1 of {len(pieces)})"
    assert made.chunked == 1
    assert pieces_of("short") == ["short"]


def test_what_has_no_time_never_counts_as_of_the_import() -> None:
    bare = {"role": "user", "content": "I moved yesterday"}
    made = converted(lines(bare), Shape.MESSAGES)
    assert made.items == []
    assert "has no time" in made.left_out[0].reason
    given = Circumstances(GIVEN.now, time=datetime(2024, 1, 1, tzinfo=UTC))
    assert converted(lines(bare), Shape.MESSAGES, given).items[0].body["eventTime"] == "2024-01-01T00:00:00+00:00"


def test_a_time_without_a_zone_needs_one() -> None:
    with pytest.raises(ValueError, match="no zone"):
        time_of("2024-07-01T09:00:00", GIVEN)
    lisbon = Circumstances(GIVEN.now, zone=ZoneInfo("Europe/Lisbon"))
    assert time_of("2024-07-01T09:00:00", lisbon).isoformat() == "2024-07-01T09:00:00+01:00"


@pytest.mark.parametrize("value", [1704067200, 1704067200000, 1704067200.0])
def test_seconds_and_milliseconds_are_times(value: float) -> None:
    assert time_of(value, GIVEN) == datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", ["yesterday", True, 1e300, {"a": 1}])
def test_what_is_no_time_is_said(value: object) -> None:
    with pytest.raises(ValueError, match="its time"):
        time_of(value, GIVEN)


def test_our_own_memories_go_as_they_are_and_broken_lines_are_named() -> None:
    ours = {"content": "Ana lives in Porto", "type": "fact", "tags": ["home"]}
    made = converted(f"{json.dumps(ours)}\n\nnot json\n7\n{{}}")
    assert [item.body for item in made.items] == [ours]
    assert [(one.where, one.invalid) for one in made.left_out] == [("line 3", True), ("line 4", True), ("line 5", True)]


@pytest.mark.parametrize("shape", list(Shape))
@pytest.mark.parametrize(
    "value", [7, None, [], "text", {}, {"memory": 7}, {"fact": None}, {"content": 7}, {"messages": 7}, {"results": 7}]
)
def test_nothing_is_lost_without_a_word_whatever_a_record_is(shape: Shape, value: Any) -> None:
    made = converted(lines(value, {"content": "x"}), shape)
    assert not made.items or shape is Shape.MEMORIES
    assert any(one.where == "line 1" for one in made.left_out)


def test_nothing_is_a_shape_that_is_none() -> None:
    assert shape_of(records_of('{"a": 1}')[0]) is None


def test_batches_are_of_one_user_and_fit_into_a_request() -> None:
    made = converted(lines(*[{**MEM0, "user_id": user, "memory": f"{n}"} for n, user in enumerate("abab" * 60)]))
    items = by_user(made.items)
    sizes, done = [], 0
    while batch := next_batch(items, done):
        assert len({item.user for item in batch}) == 1
        sizes.append(len(batch))
        done += len(batch)
    assert sizes == [100, 20, 100, 20]
    large = converted(lines(*[{**MESSAGE, "id": f"{n}", "content": f"{n}" * 15_000} for n in range(10, 99)]))
    batch = next_batch(large.items, 0)
    assert 1 < len(batch) < len(large.items)
    assert len(json.dumps([item.body for item in batch])) <= BATCH_BYTES
