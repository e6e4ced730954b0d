"""A message of a conversation, as what learns from one and what listens to its tone needs it."""

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
