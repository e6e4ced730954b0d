"""How many tokens a model counts in a text, estimated without its tokenizer, in any script.

A text is split as o200k splits it, and each part taken apart greedily into the most common of its real pieces
(`pieces.txt`, written by `vitto_tools.calibration.pieces`). What the tokenizer knows besides only makes its count
smaller: so the estimate hardly ever understates, and stands some tenth above. A limit that is kept by it is kept in truth.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import groupby
from pathlib import Path

from chalicelib.domain.text.sentences import boundary

LONGEST_PIECE = 24
LONGEST_CACHED = 48  # characters; what is longer hardly comes twice
MANY_PIECES = 4  # of so many the tokenizer, which merges from the inside, may need one more
BLANKS_IN_ONE = 16
LONGEST_KEPT = 1000  # characters of a text whose estimate is kept
_LONGEST_CUT = 2000  # characters of one part that a cut looks into
LINE_END = "\u23ce"  # how the file of pieces writes one
_CASED = (0xC0, 0x590, 0x1E00, 0x2000)  # Latin, Greek, Cyrillic, Armenian; and their extensions


class _Shapes(dict[int, str]):
    """Characters as `_split` takes them: a combining mark, which \\w leaves out, as the letter that it belongs to."""

    def __missing__(self, code: int) -> str:
        self[code] = shape = "a" if unicodedata.category(chr(code))[0] == "M" else chr(code)
        return shape


_SHAPES = _Shapes()


def estimate(text: str) -> int:
    """The tokens of `text`; 0 for an empty one. A text is at most 3 % more, and on the average a tenth less."""
    return _cached_estimate(text) if len(text) <= LONGEST_KEPT else _estimate_of_page(text)


def parts(text: str) -> list[str]:
    """`text` in the parts that a tokenizer never merges over: a word with the blank before it, up to three digits, signs."""
    if text.isascii():
        return _split().findall(text)
    shape = text.translate(_SHAPES)
    if shape == text:
        return _split().findall(text)
    return [text[found.start() : found.end()] for found in _split().finditer(shape)]


def cost(part: str) -> int:
    """The tokens of one part."""
    return _cached_cost(part) if len(part) <= LONGEST_CACHED else _cost(part)


def cut(text: str, tokens: int) -> str:
    """The beginning of `text` that has at most `tokens` tokens: cut between words, inside one only where nothing else is
    left or its script writes no blanks, never inside a character."""
    begin = _length(parts(text), tokens)
    part = next(iter(parts(text[begin:])), "")
    if begin and part.isascii():
        return text[:begin]
    within = range(1, min(len(part), _LONGEST_CUT))
    left = tokens - estimate(text[:begin])
    more = bisect_right(within, left, key=lambda length: cost(part[:length]))
    end = boundary(text, begin + more)
    return text[:end] if estimate(text[:end]) <= tokens else text[:begin]


def end_of(text: str, tokens: int) -> str:
    """The end of `text` that has at most `tokens` tokens, cut as `cut` does."""
    split = parts(text)
    begin = len(text) - _length(reversed(split), tokens)
    part = next((one for one in reversed(parts(text[:begin]))), "")
    if begin < len(text) and part.isascii():
        return text[begin:]
    within = range(1, min(len(part), _LONGEST_CUT))
    left = tokens - estimate(text[begin:])
    begin_inside = begin - bisect_right(within, left, key=lambda length: cost(part[-length:]))
    while begin_inside < begin and boundary(text, begin_inside) != begin_inside:
        begin_inside += 1
    return text[begin_inside:] if estimate(text[begin_inside:]) <= tokens else text[begin:]


def _length(split: Iterable[str], tokens: int) -> int:
    """How many characters of these parts, from the first, have at most `tokens` tokens."""
    length = 0
    for part in split:
        tokens -= cost(part)
        if tokens < 0:
            break
        length += len(part)
    return length


def _estimate(text: str) -> int:
    return sum(map(cost, parts(text)))


_cached_estimate = lru_cache(maxsize=8192)(_estimate)  # a window's messages are counted again on every turn
_estimate_of_page = lru_cache(maxsize=64)(_estimate)  # a block is counted more than once while its prompt is made


def _cost(part: str) -> int:
    if part.isspace():
        return sum(-(-len(list(run)) // BLANKS_IN_ONE) for _, run in groupby(part))
    count = _greedy(part)
    return count + count // MANY_PIECES if part.isascii() else count


_cached_cost = lru_cache(maxsize=65536)(_cost)


def _greedy(part: str) -> int:
    """How many pieces `part` is made of, the longest first; what no piece holds counts as its bytes."""
    pieces, length, part = _pieces(), len(part), part.replace("\n", LINE_END)
    begin = count = 0
    while begin < length:
        end = min(length, begin + LONGEST_PIECE)
        while end > begin and part[begin:end] not in pieces:
            end -= 1
        count += 1 if end > begin else len(part[begin].encode(errors="surrogatepass"))
        begin = max(end, begin + 1)
    return count


@cache
def _pieces() -> frozenset[str]:
    return frozenset((Path(__file__).parent / "pieces.txt").read_text(encoding="utf-8").split("\n"))


@cache
def _split() -> re.Pattern[str]:
    low, high, further, last = _CASED
    capitals = "A-Z" + "".join(c for c in map(chr, (*range(low, high), *range(further, last))) if c.isupper())
    word = rf"(?:[{capitals}]*[^\W\d_{capitals}]+|[{capitals}]+)(?:'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL]))?"
    return re.compile(rf"(?:[^\r\n\w]|_)?{word}|\d{{1,3}}| ?(?:[^\s\w]|_)+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
