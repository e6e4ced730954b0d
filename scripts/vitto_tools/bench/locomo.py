"""LoCoMo as the benches use it: turns with their time, questions with evidence that exists (see data/README.md)."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from vitto_tools.bench.dialogues import DATA, Question

ADVERSARIAL = 5
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Turn:
    """One utterance. `id` is the data set's, such as D3:12; `at` the session's time, taken as UTC."""

    id: str
    speaker: str
    text: str
    caption: str
    at: datetime
    session: int

    @property
    def indexed_text(self) -> str:
        """The text that the product indexes for such a turn."""
        caption = f" [{self.caption}]" if self.caption else ""
        return f"({self.at:%-d %B %Y}) {self.speaker}: {self.text}{caption}"


@dataclass(frozen=True)
class Conversation:
    """Two people over months."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def items(self) -> Iterator[dict[str, Any]]:
        """Its turns in order, as the API takes memories."""
        counts: Counter[int] = Counter()
        for turn in self.turns:
            yield _item(turn, counts[turn.session])
            counts[turn.session] += 1


def _item(turn: Turn, place: int) -> dict[str, Any]:
    # two turns of a session may say the same; a second apart, they stay two memories
    item: dict[str, Any] = {
        "content": turn.text or "…",
        "type": "conversation",
        "eventTime": (turn.at + timedelta(seconds=place)).isoformat(),
        "origin": {"sessionId": str(turn.session), "messageId": turn.id, "speaker": turn.speaker},
    }
    if turn.caption:
        item["attachments"] = [{"type": "image", "url": "about:blank", "description": turn.caption}]
    return item


def conversations() -> list[Conversation]:
    """All ten, in the order of the file."""
    raw = json.loads((DATA / "locomo10.json").read_text())
    return [_conversation(item) for item in raw]


def _conversation(item: dict[str, Any]) -> Conversation:
    spoken = item["conversation"]
    numbers = sorted(int(name.split("_")[1]) for name in spoken if re.fullmatch(r"session_\d+", name))
    turns = [turn for number in numbers for turn in _session(spoken, number)]
    known = {turn.id for turn in turns}
    questions = [_question(qa, known) for qa in item["qa"]]
    return Conversation(item["sample_id"], tuple(turns), tuple(q for q in questions if q.evidence))


def _session(spoken: dict[str, Any], number: int) -> list[Turn]:
    at = datetime.strptime(spoken[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return [
        Turn(t["dia_id"], t["speaker"], t["text"].strip(), t.get("blip_caption", "").strip(), at, number)
        for t in spoken[f"session_{number}"]
    ]


def _question(qa: dict[str, Any], known: set[str]) -> Question:
    found = {f"D{int(a)}:{int(b)}" for text in qa["evidence"] for a, b in _EVIDENCE.findall(text)}
    return Question(str(qa["question"]), int(qa["category"]), frozenset(found & known))
