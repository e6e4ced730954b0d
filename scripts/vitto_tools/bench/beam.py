"""BEAM as the benches use it: assistant chats with their messages as the API takes them, and questions with gold messages
(see data/README.md)."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.domain.memory import MAX_CONTENT_BYTES
from chalicelib.domain.text.chunks import chunks
from vitto_tools.bench.dialogues import DATA, Question

CORE = (
    "information_extraction",
    "knowledge_update",
    "contradiction_resolution",
    "preference_following",
    "instruction_following",
    "temporal_reasoning",
    "multi_session_reasoning",
)
FURTHER = ("event_ordering", "summarization")
UPDATE = "knowledge_update"
_MOST_CHARACTERS = MAX_CONTENT_BYTES // 4  # as many as fit in any script


@dataclass(frozen=True)
class Message:
    """What the user or the assistant said. `at` is the anchor date of its batch, a second later than the message before."""

    id: str
    role: str
    text: str
    batch: int
    at: datetime


@dataclass(frozen=True)
class Chat:
    """One user with an assistant, over months."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]

    def items(self) -> Iterator[dict[str, Any]]:
        """Its messages in order, as the API takes memories. One that is longer than a memory may be comes in parts, which
        all name the message."""
        for message in self.messages:
            for number, part in enumerate(_parts(message.text)):
                yield {
                    "content": part,
                    "type": "conversation",
                    "eventTime": (message.at + timedelta(milliseconds=number)).isoformat(),
                    "origin": {
                        "sessionId": f"{self.name}-{message.batch}",
                        "messageId": message.id,
                        "speaker": message.role,
                    },
                }


def chats() -> list[Chat]:
    """All twenty, in the order of the file."""
    with gzip.open(DATA / "beam100k.json.gz", "rt", encoding="utf-8") as file:
        return [_chat(item) for item in json.load(file)]


def _chat(item: dict[str, Any]) -> Chat:
    messages = tuple(_message(said, place) for place, said in enumerate(item["messages"]))
    known = {message.id for message in messages}
    questions = [_question(qa, known) for qa in item["qa"]]
    return Chat(item["sample_id"], messages, tuple(q for q in questions if q.evidence))


def _message(said: dict[str, Any], place: int) -> Message:
    at = datetime.strptime(said["anchor"], "%B-%d-%Y").replace(tzinfo=UTC) + timedelta(seconds=place)
    return Message(str(said["id"]), said["role"], said["text"].strip(), int(said["batch"]), at)


def _question(qa: dict[str, Any], known: set[str]) -> Question:
    source = qa["source"] if qa["category"] == UPDATE else {}
    gold, originals, updates = (
        frozenset(str(id_) for id_ in ids) & known
        for ids in (qa["gold"], source.get("original_info", []), source.get("updated_info", []))
    )
    return Question(qa["question"], qa["category"], gold, originals, updates)


def _parts(text: str) -> list[str]:
    """`text` whole where a memory may hold it, else in parts that each fit."""
    if len(text.encode()) <= MAX_CONTENT_BYTES:
        return [text]
    return chunks(text, _MOST_CHARACTERS)
