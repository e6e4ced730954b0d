"""Sentences of a text in any script, and a text cut short at a word, never inside a character."""

import re
import unicodedata

_ENDS = re.compile(r"(?:(?<!\d)\.(?=\s|$)|(?<=\d\d)\.(?=\s|$)|[!?…]+(?=\s|$)|[。！？｡।؟۔\n])[\s\"'”’)」』]*")
_SHORT_WORDS = """
    dr mr mrs ms prof st sr sra srta dña jr mme mlle hr fr frl dott ing sig проф ул гос
    vs e.g i.e z.b d.h u.a bzw
"""
_SHORT = frozenset(_SHORT_WORDS.split())
"""Words that are written with a full stop and go on, a title before its name above all."""
_COUNTING_WORDS = "ca approx nr jan feb mar apr jun jul aug sep sept oct okt nov dec dez"
_BEFORE_NUMBERS = frozenset(_COUNTING_WORDS.split())
"""Such words where a number follows; else Jan and Mar are names, and CA is a place."""
_LAST_WORD = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*$")
_LONGEST_WORD = 24  # characters looked back for one
_JOINERS = frozenset("\u200d\u20e3")
_MODIFIERS = range(0x1F3FB, 0x1F400)  # skin tones
_SELECTORS = range(0xFE00, 0xFE10)
_FLAGS = range(0x1F1E6, 0x1F200)
_BREAKS = re.compile(r"[\s,;:、，；：。！？]")
SHORTEST_SHARE = 2  # a cut at a word keeps at least one part of so many
ELLIPSIS = "…"


def sentences(text: str) -> list[str]:
    """The sentences of `text` with their end marks, white space folded; a line is a sentence too."""
    found, begin = [], 0
    for end in [*(match.end() for match in _ENDS.finditer(text) if not _goes_on(text, match)), len(text)]:
        if sentence := " ".join(text[begin:end].split()):
            found.append(sentence)
        begin = end
    return found


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the full stop belongs to a word that is written short, and the sentence goes on behind it."""
    if not match.group().startswith(".") or "\n" in match.group() or match.end() == len(text):
        return False
    word = _LAST_WORD.search(text, max(0, match.start() - _LONGEST_WORD), match.start())
    short = word.group().casefold() if word else ""
    return short in _SHORT or (short in _BEFORE_NUMBERS and text[match.end()].isdigit())


def shortened(text: str, characters: int) -> str:
    """`text` within `characters`, cut after a word where there are words, with an ellipsis where anything is gone."""
    if len(text) <= characters:
        return text
    room = characters - len(ELLIPSIS)
    if room <= 0:
        return ""
    if not _BREAKS.match(text[room]):
        breaks = [found.start() for found in _BREAKS.finditer(text, 0, room)]
        room = breaks[-1] if breaks and breaks[-1] >= room // SHORTEST_SHARE else boundary(text, room)
    return (text[:room].rstrip(" ,;:、，；：") + ELLIPSIS) if room else ""


def boundary(text: str, position: int) -> int:
    """The last place at or before `position` that is not inside a character as it is seen: accents, joined emoji, flags."""
    while 0 < position < len(text) and _belongs(text, position):
        position -= 1
    return position


def _belongs(text: str, position: int) -> bool:
    """Whether the character at `position` is a part of the one before it."""
    character, before = text[position], text[position - 1]
    if before in _JOINERS or character in _JOINERS or unicodedata.category(character)[0] == "M":
        return True
    if ord(character) in _MODIFIERS or ord(character) in _SELECTORS:
        return True
    return ord(character) in _FLAGS and _flags_before(text, position) % 2 == 1


def _flags_before(text: str, position: int) -> int:
    begin = position
    while begin and ord(text[begin - 1]) in _FLAGS:
        begin -= 1
    return position - begin
