"""The conversation genome: one flat record a session, of bounded lists, which prompts and the genome endpoint show.

Beside what is shown it carries what its upkeep needs: how often a topic or word came up, what was compressed, what was
dropped. Its size is counted as it is rendered for a prompt (`hydration.rendered`).
"""

from enum import StrEnum

from pydantic import Field

from chalicelib.domain.wire import UtcTime, Wire

MAX_TOKENS = 800  # spec/context.md, as all limits here
MAX_TOPICS, MAX_KEY_POINTS = 10, 3
MAX_DECISIONS = MAX_FACTS = MAX_ACTIONS = 5
DECISION_CHARACTERS, FACT_CHARACTERS, ACTION_CHARACTERS = 100, 80, 60
NAME_CHARACTERS, WORD_CHARACTERS, SUMMARY_CHARACTERS = 60, 24, 200
KEY_POINT_CHARACTERS = 80
MAX_KEYWORDS = 500


class TopicStatus(StrEnum):
    """Whether a topic is still being talked about, was settled, or was left untouched for long."""

    ACTIVE = "active"
    RESOLVED = "resolved"
    ABANDONED = "abandoned"


class Topic(Wire):
    """Something the session talks about. `mentions` counts messages; `position` is that of the last one."""

    name: str = Field(max_length=NAME_CHARACTERS)
    first_mentioned: UtcTime
    last_mentioned: UtcTime
    status: TopicStatus = TopicStatus.ACTIVE
    key_points: tuple[str, ...] = Field(default=(), max_length=MAX_KEY_POINTS)
    mentions: int = 1
    position: int = 0


class Decision(Wire):
    """What was decided, in the words of whoever said it."""

    description: str = Field(max_length=DECISION_CHARACTERS)
    made_at: UtcTime


class Fact(Wire):
    """What a user said of themselves or of the matter, in their words."""

    content: str = Field(max_length=FACT_CHARACTERS)
    established_at: UtcTime


class MessageRange(Wire):
    """The positions that are compressed: `from` inclusive, `to` exclusive."""

    from_: int = Field(default=0, ge=0, alias="from")
    to: int = Field(default=0, ge=0)


class Keyword(Wire):
    """A word that comes up often, with the term it is found under; `count` is at least its true count."""

    word: str = Field(max_length=WORD_CHARACTERS)
    term: str
    count: int


class Dropped(Wire):
    """How many entries had to go, by kind, over the session's life."""

    topics: int = 0
    key_points: int = 0
    decisions: int = 0
    facts: int = 0
    action_items: int = 0


class ConversationGenome(Wire):
    """What is kept of the messages that left the window. An empty one has version 0."""

    session_id: str
    user_id: str
    topics: tuple[Topic, ...] = Field(default=(), max_length=MAX_TOPICS)
    decisions: tuple[Decision, ...] = Field(default=(), max_length=MAX_DECISIONS)
    facts: tuple[Fact, ...] = Field(default=(), max_length=MAX_FACTS)
    action_items: tuple[str, ...] = Field(default=(), max_length=MAX_ACTIONS)
    summary: str = Field(default="", max_length=SUMMARY_CHARACTERS)
    message_range: MessageRange = Field(default_factory=MessageRange)
    token_count: int = 0
    last_updated: UtcTime | None = None
    version: int = 0
    keywords: tuple[Keyword, ...] = Field(default=(), max_length=MAX_KEYWORDS)
    keywords_told: int = Field(default=0, description="how many keywords, the most frequent first, have room")
    source_tokens: int = Field(default=0, description="tokens of the messages that were compressed")
    dropped: Dropped = Field(default_factory=Dropped)
    recompiled: int = Field(default=0, description="the version that a language model last went over; 0 for none")

    @property
    def compression_ratio(self) -> float:
        """Tokens of the compressed messages for each token kept; 1 where nothing was compressed yet."""
        return round(self.source_tokens / self.token_count, 2) if self.token_count and self.source_tokens else 1.0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to tell."""
        return not (self.topics or self.decisions or self.facts or self.action_items or self.keywords)
