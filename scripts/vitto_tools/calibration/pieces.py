"""Writes the pieces by which the product estimates tokens: the most common ones of o200k, by script.

`python -m vitto_tools.calibration.pieces` writes `chalicelib/domain/text/pieces.txt`. The ranks come with `bpe-openai`, a
development dependency under the MIT licence, as those of o200k are.
"""

import base64
import gzip
import re
from importlib.resources import files
from pathlib import Path

from chalicelib.domain.text.tokens import LINE_END, LONGEST_PIECE

TARGET = Path(__file__).resolve().parents[3] / "chalicelib" / "domain" / "text" / "pieces.txt"
LATIN, OTHER, RARE = 36_000, 90_000, 120_000
"""Pieces are taken up to these ranks: o200k has learned the most of Latin text first, and few pieces of some scripts."""
SIGN_LENGTH = 3
_HIDDEN_BREAKS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")  # what `splitlines` ends a line at
_LATIN_END = "\u0250"
_FEW_PIECES = re.compile(
    "[\u4e00-\u9fff\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af\u0370-\u03ff\u0590-\u05ff\u10a0-\u10ff]"
)


def ranked() -> list[str]:
    """The pieces of o200k that are whole characters, the most common first; what is none is empty."""
    packed = files("bpe_openai").joinpath("data", "o200k_base.tiktoken.gz").read_bytes()
    found = (base64.b64decode(line.split()[0]) for line in gzip.decompress(packed).splitlines())
    return [_text(piece) for piece in found]


def chosen() -> list[str]:
    """The pieces to ship, in the order of their code points."""
    return sorted({piece for rank, piece in enumerate(ranked()) if piece and _is_worth_it(piece, rank)})


def _text(piece: bytes) -> str:
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return ""


def _is_worth_it(piece: str, rank: int) -> bool:
    if piece.isspace() or len(piece) > LONGEST_PIECE or _HIDDEN_BREAKS.search(piece):
        return False
    if not piece.isascii() and not any(c.isalpha() for c in piece):
        return len(piece.strip()) <= SIGN_LENGTH
    if max(piece) < _LATIN_END:
        return rank < LATIN
    return rank < (RARE if _FEW_PIECES.search(piece) else OTHER)


def written(pieces: list[str]) -> str:
    """The file: a piece a line."""
    return "".join(piece.replace("\n", LINE_END) + "\n" for piece in pieces)


if __name__ == "__main__":
    TARGET.write_text(written(chosen()), encoding="utf-8")
