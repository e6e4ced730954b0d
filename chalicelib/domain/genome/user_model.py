"""The genome of a user as it is kept; `domain.genome.user` has what makes it."""

from pydantic import Field

from chalicelib.domain.genome.model import Decision, Fact, Topic
from chalicelib.domain.wire import UtcTime, Wire

MAX_TOPICS, MAX_ENTRIES = 15, 12
MAX_SESSIONS = 50


class MergedSession(Wire):
    """Up to which position a session's messages were taken in."""

    session_id: str
    to: int


class UserGenome(Wire):
    """What is kept of a user across sessions and channels. `merges` counts how often something was taken in."""

    user_id: str
    topics: tuple[Topic, ...] = Field(default=(), max_length=MAX_TOPICS)
    decisions: tuple[Decision, ...] = Field(default=(), max_length=MAX_ENTRIES)
    facts: tuple[Fact, ...] = Field(default=(), max_length=MAX_ENTRIES)
    action_items: tuple[str, ...] = Field(default=(), max_length=MAX_ENTRIES)
    sessions: tuple[MergedSession, ...] = Field(default=(), max_length=MAX_SESSIONS)
    token_count: int = 0
    last_updated: UtcTime | None = None
    merges: int = 0
    version: int = 0
    recompiled: int = Field(default=0, description="the version that a language model last went over; 0 for none")

    def merged_to(self, session_id: str) -> int:
        """Before which position the messages of a session are in it."""
        return next((one.to for one in self.sessions if one.session_id == session_id), 0)
