"""Text made to fit: shortened in the middle, and fenced parts that keep a number of tokens with their fence."""

from collections.abc import Callable

from chalicelib.domain.text.sentences import ELLIPSIS
from chalicelib.domain.text.tokens import cut, end_of, estimate
from chalicelib.prompt.fencing import fenced

HEAD_SHARE = 0.6  # of a shortened text: who says something new says it early
FEWEST_TOKENS = 8  # below them a shortened text says nothing
_TRIES = 6
_GAP = f" {ELLIPSIS} "


def shortened_inside(text: str, tokens: int) -> str:
    """The head and the tail of `text` within `tokens`; the whole where it fits, nothing where there is hardly room."""
    if estimate(text) <= tokens:
        return text
    room = tokens - estimate(_GAP) - 1
    if room < FEWEST_TOKENS:
        return ""
    head = cut(text, int(room * HEAD_SHARE))
    joined = head.rstrip() + _GAP + end_of(text[len(head) :], room - int(room * HEAD_SHARE)).lstrip()
    return joined if estimate(joined) <= tokens else ""


def first_lines(text: str, tokens: int) -> str:
    """The lines that fit, from the first."""
    kept, left = [], tokens
    for line in text.splitlines():
        left -= estimate(f"{line}\n")
        if left < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def fitting_fence(kind: str, make: Callable[[int], str], tokens: int, heading: str = "") -> str:
    """What `make` gives for a number of tokens, fenced, within `tokens`; escaping may take room, so it is asked again."""
    room = tokens - estimate(fenced(kind, "x", heading))
    for _ in range(_TRIES):
        if room <= 0:
            return ""
        text = fenced(kind, make(room), heading)
        if (over := estimate(text) - tokens) <= 0:
            return text
        room -= over + 1
    return ""
