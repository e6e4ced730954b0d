"""The context of one turn, as far as it is pure: the budget shared out, the window cut, what left it compressed, what is
needed again recalled, and the prompt assembled. Who stores and who searches is not known here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chalicelib.context.recalling import Candidate, Recalled, Trigger, choose, trigger
from chalicelib.context.window import Evicted, evict_and_compress, mean_message_tokens, window_size
from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.memory import Memory
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt.assembly import assemble, genome_tokens
from chalicelib.prompt.blocks import Prompt, PromptParts
from chalicelib.prompt.toon import memory_rows, toon

RECALL_SHARE = 0.7  # docs/benchmarks.md: of what genome, memories and pinned blocks leave; tuned on LoCoMo 1 to 5
MEMORY_SHARE = 0.25


@dataclass(frozen=True)
class TurnRequest:
    """What is asked of one turn. `user` is the snapshot of user brief and genome that the session began with."""

    query: str
    total_budget: int
    response_buffer: int = 0
    asked_by: str = ""
    soul: str = ""
    system: str = ""
    user: str = ""
    memories: Sequence[Memory] = ()
    hints: Sequence[str] = ()


@dataclass(frozen=True)
class SessionView:
    """What is known of the session: its genome, the latest messages (all that are not in the genome, and up to 60), the
    candidates that a search over all of it found, best first, and the messages from which their neighbours are taken."""

    genome: ConversationGenome
    latest: Sequence[SessionMessage]
    candidates: Sequence[Candidate] = ()
    around: Mapping[int, SessionMessage] = field(default_factory=dict)


@dataclass(frozen=True)
class Composed:
    """The prompt of a turn, the genome with what left the window, why earlier messages were recalled, and which."""

    prompt: Prompt
    genome: ConversationGenome
    trigger: Trigger | None
    recalled: Recalled
    window: tuple[SessionMessage, ...]

    @property
    def came_back(self) -> tuple[SessionMessage, ...]:
        """The recalled messages that stand in the prompt as such: without those that had no room, and those that the window
        had room for after all."""
        latest = {message.id for message in self.window}
        here = self.prompt.in_context - latest
        return tuple(message for message in self.recalled.messages if message.id in here)


def compose(request: TurnRequest, session: SessionView) -> Composed:
    """The context of a turn within its budget. Pure: it appends and stores nothing."""
    free, memories = _shared_out(request, session.genome)
    narrow = session.latest[-_narrow_size(free, session.latest) :]
    why = trigger(request.query, session.genome, narrow, session.candidates)
    active = {message.position for message in narrow}
    recalled = choose(session.candidates, session.around, active, int(free * RECALL_SHARE)) if why else Recalled()
    size = window_size(free, recalled=recalled.tokens, mean_message=mean_message_tokens(session.latest))
    evicted = evict_and_compress(session.latest, size, session.genome)
    parts = PromptParts(
        soul=request.soul,
        system=request.system,
        user=request.user,
        genome=evicted.genome,
        memories=memories,
        recalled=recalled.by_worth,
        window=evicted.active,
        query=request.query,
        asked_by=request.asked_by,
        hints=request.hints,
    )
    prompt = assemble(parts, request.total_budget, request.response_buffer)
    return Composed(prompt, evicted.genome, why, recalled, evicted.active)


def settle(session: SessionView, total_budget: int) -> Evicted:
    """What the worker keeps of a session whose last turn had this budget: it compresses all but the window that is left when
    memories and earlier messages are recalled, so that a turn finds hardly anything to compress."""
    free = int(_shared_out(TurnRequest("", total_budget), session.genome)[0] * (1 - MEMORY_SHARE))
    return evict_and_compress(session.latest, _narrow_size(free, session.latest), session.genome)


def _narrow_size(free: int, latest: Sequence[SessionMessage]) -> int:
    """How many messages the window holds beside all that may be recalled."""
    return window_size(free, recalled=int(free * RECALL_SHARE), mean_message=mean_message_tokens(latest))


def _shared_out(request: TurnRequest, genome: ConversationGenome) -> tuple[int, Sequence[Memory]]:
    """The tokens that window and recalled messages share, and the memories that have room."""
    budget = max(0, request.total_budget - request.response_buffer)
    pinned = sum(estimate(text) for text in (request.soul, request.system, request.user, request.query, *request.hints))
    left = budget - pinned - genome_tokens(budget, genome)
    memories, taken = request.memories, 0
    while memories and (taken := estimate(toon(memory_rows(memories)))) > left * MEMORY_SHARE:
        memories = memories[: len(memories) * 3 // 4]
    return max(0, left - (taken if memories else 0)), memories
