"""The active window: how many of the latest messages go to the model as they are, and what leaves it."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.genome.update import incremental_update
from chalicelib.domain.text.tokens import estimate

FEWEST, MOST = 4, 60  # spec/context.md "Window"
UNKNOWN_MEAN = 300.0  # tokens of a message, until the session has some
MESSAGE_OVERHEAD = 4  # tokens by which a provider marks a message's role, and a name


@dataclass(frozen=True)
class Evicted:
    """The window after an eviction: the messages in it, the genome with those that left, and how many left."""

    active: tuple[SessionMessage, ...]
    genome: ConversationGenome
    evicted: int


def mean_message_tokens(messages: Sequence[SessionMessage]) -> float:
    """The mean length of a message with what marks its role; 300 tokens where there is none."""
    if not messages:
        return UNKNOWN_MEAN
    return sum(estimate(message.text) + MESSAGE_OVERHEAD for message in messages) / len(messages)


def window_size(  # noqa: PLR0917 - the parts of a budget in their order
    total_budget: int,
    pinned: int = 0,
    genome: int = 0,
    recalled: int = 0,
    skills: int = 0,
    response_buffer: int = 0,
    *,
    mean_message: float = UNKNOWN_MEAN,
) -> int:
    """How many messages the window holds: what the other parts leave of the budget, by the session's mean message length,
    between 4 and 60. All in tokens."""
    left = total_budget - pinned - genome - recalled - skills - response_buffer
    return max(FEWEST, min(MOST, int(left / max(1.0, mean_message))))


def evict_and_compress(messages: Sequence[SessionMessage], size: int, genome: ConversationGenome) -> Evicted:
    """The last `size` messages stay active; those before them are taken into the genome, once. Pure."""
    ordered = sorted({message.position: message for message in messages}.values(), key=lambda one: one.position)
    cut = max(0, len(ordered) - max(0, size))
    leaving, active = ordered[:cut], ordered[cut:]
    fresh = sum(message.position >= genome.message_range.to for message in leaving)
    return Evicted(tuple(active), incremental_update(genome, leaving), fresh)
