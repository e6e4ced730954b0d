"""What a prompt is made from and what comes out: parts, blocks with their tokens, and what was cut."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.memory import Memory


class BlockName(StrEnum):
    """The blocks in the order of a prompt; the first three are the same on every turn of a session."""

    SOUL = "soul"
    SYSTEM = "system"
    USER = "user"
    GENOME = "genome"
    RECALLED = "recalled"
    WINDOW = "window"


STABLE = frozenset({BlockName.SOUL, BlockName.SYSTEM, BlockName.USER})


@dataclass(frozen=True)
class PromptParts:
    """What may stand in a prompt. `user` is the user brief and genome, as they were when the session began. `memories` and
    `recalled` come best first; `window` in order of time; `query` is what is asked now, said by `asked_by`. `hints` are
    lines for the assistant that hold for this turn."""

    soul: str = ""
    system: str = ""
    user: str = ""
    genome: ConversationGenome | None = None
    memories: Sequence[Memory] = ()
    recalled: Sequence[SessionMessage] = ()
    window: Sequence[SessionMessage] = ()
    query: str = ""
    asked_by: str = ""
    hints: Sequence[str] = ()


@dataclass(frozen=True)
class Turn:
    """A message as a model gets it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class Block:
    """A part of the prompt and its tokens, with what a provider adds to mark it."""

    name: BlockName
    text: str
    tokens: int

    @property
    def is_stable(self) -> bool:
        """Whether it is the same on every turn of a session."""
        return self.name in STABLE


@dataclass(frozen=True)
class Cut:
    """Something that is not in the prompt as it was given: a message or memory by its id, else a block by its name."""

    block: BlockName
    what: str
    how: Literal["left out", "shortened"]


@dataclass(frozen=True)
class Prompt:
    """A prompt within its budget: the blocks that have text, in order, the turns that the window block stands for, and
    what was cut. `in_context` are the ids of the messages that are in it whole."""

    blocks: tuple[Block, ...]
    turns: tuple[Turn, ...]
    cut: tuple[Cut, ...]
    budget: int
    in_context: frozenset[str] = field(default=frozenset())

    @property
    def tokens(self) -> int:
        """All of it."""
        return sum(block.tokens for block in self.blocks)

    def text_of(self, name: BlockName) -> str:
        """The text of a block; empty where it has none."""
        return next((block.text for block in self.blocks if block.name is name), "")
