"""Prompt assembly: blocks in a fixed order, the stable ones first, all within one budget, and what was cut is listed.

The stable prefix is given its room before anything else is looked at, from the budget alone: whatever is recalled or said,
its bytes stay the same.
"""

from collections.abc import Sequence

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.genome.hydration import DEFAULT_BUDGET, hydrate
from chalicelib.domain.genome.model import ConversationGenome
from chalicelib.domain.memory import Memory
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt import lines
from chalicelib.prompt.blocks import Block, BlockName, Cut, Prompt, PromptParts, Turn
from chalicelib.prompt.fencing import HEADING, fenced
from chalicelib.prompt.fitting import first_lines, fitting_fence, shortened_inside
from chalicelib.prompt.toon import memory_rows, toon
from chalicelib.prompt.windowing import guaranteed_tokens, turn_tokens, windowed

PREFIX_SHARE = 0.75  # of the budget, that the stable blocks may take: what is asked needs room as well
GENOME_SHARE, GENOME_FEWEST = 0.15, 300  # spec/context.md: the genome takes 300 to 500
GENOME_MOST_OF_REST = 3
WINDOW_SHARE = 0.5  # of what the stable blocks leave, that the last four messages may claim before anything is recalled
HINTS = "Notes for this turn:"
_MERGED = "\n/"  # a tokenizer takes a slash at the beginning of a line together with the signs that end the line before
BLOCK_OVERHEAD = 4  # tokens by which a provider marks a block


def assemble(parts: PromptParts, total_budget: int, response_buffer: int = 0) -> Prompt:
    """These parts in at most `total_budget` less `response_buffer` tokens. The same parts give the same bytes."""
    building = _Building(max(0, total_budget - response_buffer))
    building.add_prefix(parts)
    building.add_query(parts)
    held = min(guaranteed_tokens(parts.window), int(building.left * WINDOW_SHARE))
    building.add_genome(parts, held)
    building.add_recalled(parts, held)
    building.add_window(parts)
    return building.prompt()


def genome_tokens(budget: int, genome: ConversationGenome) -> int:
    """The most that the genome's block takes of a budget, its fence included; 0 where there is nothing to tell."""
    wanted = min(max(GENOME_FEWEST, min(DEFAULT_BUDGET, int(budget * GENOME_SHARE))), budget // GENOME_MOST_OF_REST)
    return 0 if genome.is_empty else min(wanted, genome.token_count + estimate(fenced("genome", "x")) + BLOCK_OVERHEAD)


class _Building:
    """A prompt as it grows; `left` are the tokens that nothing has taken yet."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.left = budget
        self._blocks: list[Block] = []
        self._cut: list[Cut] = []
        self._whole: set[str] = set()
        self._turns: tuple[Turn, ...] = ()
        self._query: tuple[Turn, ...] = ()
        self._window_tokens = 0

    def add_prefix(self, parts: PromptParts) -> None:
        """The stable blocks, within their share of the whole."""
        room = int(self._budget * PREFIX_SHARE)
        for name, text in ((BlockName.SOUL, parts.soul), (BlockName.SYSTEM, parts.system)):
            room -= self._add(name, shortened_inside(text, room - BLOCK_OVERHEAD), text)
        user = fitting_fence("user", lambda tokens: first_lines(parts.user, tokens), room - BLOCK_OVERHEAD)
        self._add(BlockName.USER, user, fenced("user", parts.user))

    def add_query(self, parts: PromptParts) -> None:
        """What is asked, which the window ends with."""
        if not parts.query:
            return
        text = shortened_inside(parts.query, self.left - BLOCK_OVERHEAD)
        if text != parts.query:
            self._cut.append(Cut(BlockName.WINDOW, "query", "shortened" if text else "left out"))
        if text:
            self._query = (Turn("user", text),)
            self._window_tokens = turn_tokens(text)
            self.left -= self._window_tokens

    def add_genome(self, parts: PromptParts, held: int) -> None:
        """The conversation genome, by its value within its share."""
        if parts.genome is None or parts.genome.is_empty:
            return
        genome = parts.genome
        room = min(genome_tokens(self._budget, genome), (self.left - held) // GENOME_MOST_OF_REST) - BLOCK_OVERHEAD
        whole = fenced("genome", hydrate(genome, genome.token_count))
        if estimate(whole) <= room:
            self._add(BlockName.GENOME, whole, whole)
        else:
            self._add(BlockName.GENOME, fitting_fence("genome", lambda tokens: hydrate(genome, tokens), room), whole)

    def add_recalled(self, parts: PromptParts, held: int) -> None:
        """Hints for this turn, recalled memories, then recalled messages, the best of each that fit."""
        room = self.left - held - BLOCK_OVERHEAD
        hints, told = _hints(parts.hints, room)
        room -= estimate(f"{hints}\n\n") if hints else 0
        memories, kept = _memories(parts.memories, room)
        shown = {message.id for message in parts.window}
        earlier = [message for message in parts.recalled if message.id not in shown]
        messages, quoted, taken = _messages(earlier, room - estimate(f"{memories}\n\n"))
        text = "\n\n".join(part for part in (hints, memories, messages) if part)
        # what stands before the messages ends with a line and they begin with a bracket: no part of a text spans both
        self._add(BlockName.RECALLED, text, text, estimate(text.removesuffix(messages)) + taken)
        whole = {message.id for message in quoted}
        self._whole |= whole
        left_out = [*(one.id for one in parts.memories[kept:]), *(one.id for one in earlier if one.id not in whole)]
        self._cut += [Cut(BlockName.RECALLED, "hint", "left out") for _ in parts.hints[told:]]
        self._cut += [Cut(BlockName.RECALLED, identity, "left out") for identity in left_out]

    def add_window(self, parts: PromptParts) -> None:
        """The latest messages, in all that is left."""
        found = windowed(parts.window, self.left)
        self._turns, self._window_tokens = found.turns, self._window_tokens + found.tokens
        self.left -= found.tokens
        self._cut += found.cut
        self._whole |= found.whole

    def prompt(self) -> Prompt:
        """What was built."""
        turns = (*self._turns, *self._query)
        if turns:
            text = "\n".join(f"{turn.role}: {turn.text}" for turn in turns)
            self._blocks.append(Block(BlockName.WINDOW, text, self._window_tokens))
        return Prompt(tuple(self._blocks), turns, tuple(self._cut), self._budget, frozenset(self._whole))

    def _add(self, name: BlockName, text: str, wanted: str, counted: int | None = None) -> int:
        """Add a block and tell what it takes; a text that is not the one wanted is told as cut. Its tokens are `counted`
        where that is known."""
        if text != wanted:
            self._cut.append(Cut(name, name.value, "shortened" if text else "left out"))
        if not text:
            return 0
        tokens = (estimate(text) if counted is None else counted) + BLOCK_OVERHEAD
        self._blocks.append(Block(name, text, tokens))
        self.left -= tokens
        return tokens


def _hints(hints: Sequence[str], tokens: int) -> tuple[str, int]:
    """The first hints that fit, one a line, and how many they are."""
    for kept in range(len(hints), 0, -1):
        text = "\n".join((HINTS, *(f"- {' '.join(hint.split())}" for hint in hints[:kept])))
        if estimate(text) <= tokens:
            return text, kept
    return "", 0


def _memories(memories: Sequence[Memory], tokens: int) -> tuple[str, int]:
    """The best memories that fit, as a fenced TOON list, and how many they are."""
    rows = memory_rows(memories)
    kept = len(rows)
    while kept:
        text = fenced("memories", toon({"memories": rows[:kept]}))
        over = estimate(text) - tokens
        if over <= 0:
            return text, kept
        kept -= max(1, min(kept, int(kept * over / (over + tokens)))) if tokens > 0 else kept
    return "", 0


def _messages(messages: Sequence[SessionMessage], tokens: int) -> tuple[str, list[SessionMessage], int]:
    """The best messages that fit, fenced, in order of time; which they are, and what they take."""
    fence = estimate(fenced("messages", "x", HEADING))
    kept = _within(messages, tokens - fence)
    while kept:
        ordered = sorted(kept, key=lambda message: message.position)
        said = lines.lines(ordered)
        text = fenced("messages", said, HEADING)
        # nothing was escaped, and no line goes together with the end of another
        is_of_lines = said in text and _MERGED not in said
        taken = fence + lines.costs(ordered) if is_of_lines else estimate(text)
        if taken <= tokens:
            return text, kept, taken
        kept = kept[:-1]
    return "", [], 0


def _within(messages: Sequence[SessionMessage], tokens: int) -> list[SessionMessage]:
    """Those that fit by the cost of their lines, the best first; a long one that does not makes room for shorter ones."""
    kept: list[SessionMessage] = []
    days = set()
    for message in messages:
        day = message.at.date()
        cost = lines.cost(message) + (0 if day in days else lines.heading_cost(day))
        if cost <= tokens:
            tokens -= cost
            kept.append(message)
            days.add(day)
    return kept
