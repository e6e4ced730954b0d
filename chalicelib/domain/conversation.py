"""Messages: as what learns from a conversation and listens to its tone needs one, and as a session keeps one."""

from typing import Literal

from pydantic import Field

from chalicelib.domain.wire import UtcTime, Wire

Speaker = Literal["user", "assistant", "other"]
_ASSISTANTS = frozenset({"assistant", "ai", "bot", "agent", "model", "chatbot", "copilot", "system", "tool"})
_USERS = frozenset({"user", "human", "me"})


class Message(Wire):
    """What somebody said. `speaker` is the user whose memory it is, the assistant, or somebody else."""

    id: str = Field(min_length=1, max_length=128)
    speaker: Speaker
    text: str
    at: UtcTime


class SessionMessage(Wire):
    """A message as its session keeps it. `position` is its place in the session, from 0 and without gaps; `author` the user
    who said it, none where the assistant did; `name` what that speaker is called, where it differs from the author's id."""

    id: str = Field(min_length=1, max_length=128)
    position: int = Field(ge=0)
    role: Literal["user", "assistant"]
    author: str | None = Field(default=None, min_length=1, max_length=128)
    name: str | None = Field(default=None, min_length=1, max_length=128)
    text: str
    at: UtcTime

    @property
    def said_by(self) -> str:
        """Under what name it is quoted."""
        return self.name or self.author or self.role


def is_assistant(name: str) -> bool:
    """Whether a speaker of that name is an assistant."""
    return name.strip().casefold() in _ASSISTANTS


def is_role(name: str) -> bool:
    """Whether it is the name of a part in a conversation, and nobody's own."""
    return name.strip().casefold() in _ASSISTANTS | _USERS


def speaker_of(name: str, user_id: str) -> Speaker:
    """Who `name` is to the user: a name that is neither theirs nor an assistant's is somebody else's."""
    folded = name.strip().casefold()
    if is_assistant(name):
        return "assistant"
    return "user" if folded in _USERS or folded == user_id.casefold() else "other"
