"""Builders of conversations for tests: messages in their order, a minute apart, from short notations."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.update import incremental_update
from tests.building import NOW


def said(text: str, position: int = 0, author: str | None = "ana", at: datetime | None = None) -> SessionMessage:
    """One message; of the assistant where `author` is None."""
    role = "user" if author else "assistant"
    time = at or NOW + timedelta(minutes=position)
    return SessionMessage(id=f"m{position}", position=position, role=role, author=author, text=text, at=time)


def talk(*texts: str, start: int = 0, at: datetime | None = None) -> list[SessionMessage]:
    """Messages of ana and, where a text begins with `>`, of the assistant."""
    return [
        said(text.removeprefix(">").strip(), start + i, None if text.startswith(">") else "ana", at)
        for i, text in enumerate(texts)
    ]


def empty(user_id: str = "ana") -> ConversationGenome:
    """A genome that nothing was taken into."""
    return ConversationGenome(session_id="s1", user_id=user_id)


def genome_of(messages: Sequence[SessionMessage], step: int = 10, user_id: str = "ana") -> ConversationGenome:
    """The genome after the messages left the window, `step` at a time."""
    genome = empty(user_id)
    for start in range(0, len(messages), step):
        genome = incremental_update(genome, messages[start : start + step])
    return genome
