"""The active window in a prompt: the latest messages whole, the last four at least in part."""

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.domain.conversation import SessionMessage
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt.blocks import BlockName, Cut, Turn
from chalicelib.prompt.fitting import FEWEST_TOKENS, shortened_inside

GUARANTEED = 4  # spec/context.md "Window"
TURN_OVERHEAD = 4  # tokens by which a provider marks a turn


@dataclass(frozen=True)
class Windowed:
    """The turns that fit, in order, their tokens, what was cut, and the ids of the messages that are whole."""

    turns: tuple[Turn, ...]
    tokens: int
    cut: tuple[Cut, ...]
    whole: frozenset[str]


def turn_tokens(text: str) -> int:
    """The tokens of a turn of that text."""
    return estimate(text) + TURN_OVERHEAD


def guaranteed_tokens(messages: Sequence[SessionMessage]) -> int:
    """What the last four messages take when they are whole."""
    named = _are_several(messages)
    return sum(turn_tokens(_said(message, named=named)) for message in messages[-GUARANTEED:])


def windowed(messages: Sequence[SessionMessage], tokens: int) -> Windowed:
    """As many of the latest messages as fit whole; of the last four, those that do not are shortened head and tail."""
    named = _are_several(messages)
    turns: list[Turn] = []
    cut: list[Cut] = []
    whole: set[str] = set()
    left = tokens
    for rank, message in enumerate(reversed(messages)):
        text = _said(message, named=named)
        waiting = max(0, min(GUARANTEED, len(messages)) - rank - 1)
        room = left if rank >= GUARANTEED else _share(left, waiting)
        shown = text if turn_tokens(text) <= room else ""
        if not shown and rank < GUARANTEED:
            shown = shortened_inside(text, room - TURN_OVERHEAD)
        if not shown:
            cut += [Cut(BlockName.WINDOW, one.id, "left out") for one in reversed(messages[: len(messages) - rank])]
            break
        left -= turn_tokens(shown)
        turns.append(Turn(message.role, shown))
        if shown == text:
            whole.add(message.id)
        else:
            cut.append(Cut(BlockName.WINDOW, message.id, "shortened"))
    return Windowed(tuple(reversed(turns)), tokens - left, tuple(reversed(cut)), frozenset(whole))


def _share(left: int, waiting: int) -> int:
    """What a message may take where `waiting` earlier ones still have to come in, at least in part."""
    return max(left // (waiting + 1), left - waiting * (FEWEST_TOKENS * 4 + TURN_OVERHEAD))


def _are_several(messages: Sequence[SessionMessage]) -> bool:
    """Whether more than one person speaks, so that a role does not say who."""
    return len({message.author for message in messages if message.role == "user"}) > 1


def _said(message: SessionMessage, *, named: bool) -> str:
    return f"{message.said_by}: {message.text}" if named and message.role == "user" else message.text
