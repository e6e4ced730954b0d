"""Long texts in pieces that an embedding model takes whole."""

import re

_BREAKS = (re.compile(r"\n\s*\n"), re.compile(r"[.!?。！？…]+[\s\"'”’)]*|\n"), re.compile(r"\s+"))


def chunks(text: str, limit: int) -> list[str]:
    """`text` in pieces of at most `limit` characters, cut after a paragraph, else a sentence, else a word, else anywhere.

    Nothing is lost but white space between pieces; a text within the limit is its own only piece.
    """
    pieces = []
    rest = text.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return [*pieces, rest] if rest or not pieces else pieces


def _cut(text: str, limit: int) -> int:
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, 0, limit)]
        if ends and ends[-1] > limit // 2:
            return ends[-1]
    return limit
