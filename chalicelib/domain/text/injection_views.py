"""The forms in which a text is looked at for injections: as it reads once its disguise is taken off.

What is seen through: other scripts' lookalike letters and styled ones, invisible and bidirectional characters, accents piled
on letters, letters that are spaced, dotted or written as digits, words run together, text backwards or in ROT13, letters
carried in tags and variation selectors, and what is encoded: Base64, hexadecimal, URL, HTML and escape sequences, each
decoded and looked at again. All of it is bounded, and linear in the length of the text.
"""

import base64
import binascii
import codecs
import html
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from urllib.parse import unquote

MOST_DECODED = 24  # candidates a text; each is at most as long as the text itself
DEEPEST = 2  # an encoding within an encoding
SENTENCE = "\x00"
"""Stands in `words` where a sentence ends."""


class View(StrEnum):
    """What was done to a text before it is compared. `run_together` has no spaces."""

    MARKS = "marks"
    WORDS = "words"
    RUN_TOGETHER = "run_together"
    TURNED = "turned"
    HIDDEN = "hidden"


_LOOKALIKES = {
    "A": "АΑᎪᗅ", "B": "ВΒᏴ", "C": "СᏟϹ", "D": "ᎠᗞⅮ", "E": "ЕΕᎬ", "F": "ᖴϜ", "G": "ԌᏀ", "H": "НΗᎻ", "I": "ІΙӀⅠ", "J": "ЈᎫ",
    "K": "КΚᏦ", "L": "ᏞᒪⅬ", "M": "МΜᎷϺ", "N": "ΝͶ", "O": "ОΟՕ", "P": "РΡᏢ", "Q": "Ԛ", "R": "ᎡᏒ", "S": "ЅᏚՏ", "T": "ТΤᎢ",
    "U": "ՍᑌԱ", "V": "ᏙѴ", "W": "ԜᎳ", "X": "ХΧⅩ", "Y": "УΥҮᎽ", "Z": "ΖᏃ",
    "a": "аαɑᴀɐ", "b": "ьƅʙƀ", "c": "сϲᴄɔ", "d": "ԁɗđᴅժ", "e": "еεєҽᴇǝɛ", "f": "ϝꜰɟƒ", "g": "ɡցɢƃ", "h": "һհʜɥħ",
    "i": "іιıɩɪᴉӏ", "j": "јϳᴊɾ", "k": "кκᴋʞ", "l": "ⅼʟłǀ", "m": "мⅿᴍɯ", "n": "пոηɴռ", "o": "оοօσᴏøө", "p": "рρᴘþ", "q": "ԛզ",
    "r": "гᴦʀɹ", "s": "ѕꜱʂƽ", "t": "тτᴛʇŧ", "u": "υսᴜʋц", "v": "ѵνᴠʌ", "w": "ԝωᴡʍш", "x": "хχ×", "y": "уγүʏʎ", "z": "ᴢʐƶ",
}  # fmt: skip
_STYLED = (0x1F150, 0x1F170, 0x1F1E6)  # circled, squared and flag letters, which normalisation leaves alone
LATIN = {ord(like): letter for letter, likes in _LOOKALIKES.items() for like in likes} | {
    start + n: chr(ord("a") + n) for start in _STYLED for n in range(26)
}
_SEPARATORS = {ord(c): "\n" for c in "\x85\u2028\u2029\v\f\r"}
_PILED = re.compile(
    r"[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0640\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+"
)
UNSEEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]+"
)
_ENDS = (". ", "! ", "? ", ".\n", "!\n", "?\n", "。", "।", "؟")
_BETWEEN_WORDS = re.compile(r"[^\w\x00\u0900-\u0dff\u0e00-\u109f\u1780-\u17ff]+|_+")
_ASCII_BETWEEN_WORDS = bytes(code if chr(code).isalnum() or code == 0 else 32 for code in range(128)) + bytes(
    range(128, 256)
)
_DIGITS = "013457@$!|"
_DIGITS_IN_WORDS = re.compile(r"[a-z@$][013457@$!|]+[a-z]|\b[013457@$!|][a-z]{2}")
_AS_LETTERS = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s", "!": "i", "|": "l"}
)
_TAGS = range(0xE0020, 0xE007F)  # ASCII that shows nothing
_SELECTORS, _MORE_SELECTORS = range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)
_SURROGATES = range(0xD800, 0xE000)
_FEWEST_SPELT = 6  # letters that stand alone in a row, for them to be a word that is spelt out
_HIDDEN_PARTS = re.compile(
    r"<!--(.*?)(?:-->|\Z)|\[(?://|comment)\]: ?# ?([^\n]{0,600})"
    r"|<[a-z]{1,9} [^>]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0"
    r"|color ?: ?(?:white|#fff)|\bhidden\b)[^>]{0,200}>(.*?)(?:</|\Z)",
    re.DOTALL,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}(?:\s{1,2}[A-Za-z0-9+/_-]{16,}={0,2})*")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x|%)?[0-9a-fA-F]{2}[\s,:;-]?){14,}")
_BITS = re.compile(r"(?<![0-9A-Za-z])(?:[01]{8}[\s,]?){10,}")
_URL = re.compile(r"%[0-9a-fA-F]{2}")
_ENTITY = re.compile(r"&(?:#\d{2,6}|#x[0-9a-fA-F]{2,5}|[a-z]{2,6});")
_ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4,6})\}?|x([0-9a-fA-F]{2}))")
_FEWEST_CODES = 4
_MANY_BITS = "01"  # what letters in bits begin with
_READABLE = 0.9  # what a decoded text has of letters, digits, spaces and punctuation


def one_case(text: str) -> str:
    """`text` in one case, without accents, invisible characters and styles. Patterns are brought into this form too."""
    if text.isascii():
        if not text.replace("\n", "").replace("\t", "").isprintable():
            text = UNSEEN.sub("", text.translate(_SEPARATORS))
        return text.lower()
    text = unicodedata.normalize("NFKC", UNSEEN.sub("", text.translate(_SEPARATORS)))
    bare = _PILED.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return unicodedata.normalize("NFC", bare).replace("ı", "i")


def words(plain: str) -> str:
    """The words of a text in one case: a space before, after and between them, and `SENTENCE` where a sentence ends."""
    for end in _ENDS:
        plain = plain.replace(end, f" {SENTENCE} ")
    spoken = (
        plain.encode().translate(_ASCII_BETWEEN_WORDS).decode() if plain.isascii() else _BETWEEN_WORDS.sub(" ", plain)
    )
    return f" {' '.join(spoken.split())} "


def views(text: str) -> Iterator[tuple[View, str]]:
    """Every form of `text`, and of what is encoded in it."""
    readings, left = [text], MOST_DECODED
    for depth in range(DEEPEST + 1):
        for reading in readings:
            yield from _views_of(reading)
        if depth < DEEPEST:
            readings = [found for reading in readings for found in _decoded(reading)][:left]
            left -= len(readings)


def _views_of(text: str) -> Iterator[tuple[View, str]]:
    plain = one_case(text)
    spoken = words(plain)
    yield View.MARKS, plain
    yield View.WORDS, spoken
    if "<" in plain or "]: " in plain:
        for part in _HIDDEN_PARTS.finditer(plain):
            yield View.HIDDEN, words(next((group for group in part.groups() if group), ""))
    if not text.isascii() and (latin := _in_latin(text)) != plain:
        plain, spoken = latin, words(latin)
        yield View.MARKS, latin
        yield View.WORDS, spoken
    if any(digit in plain for digit in _DIGITS) and _DIGITS_IN_WORDS.search(plain):
        yield View.WORDS, words(plain.replace("11", "ll").translate(_AS_LETTERS))
    yield from _regrouped(spoken)
    yield View.TURNED, codecs.encode(spoken, "rot13")
    yield View.TURNED, spoken[::-1]


def _in_latin(text: str) -> str:
    return one_case(unicodedata.normalize("NFKC", UNSEEN.sub("", text)).translate(LATIN))


def _regrouped(spoken: str) -> Iterator[tuple[View, str]]:
    """Words run together, letters that are spelt out, and a sentence that was cut into sentences of a word."""
    tokens = [token for token in spoken.split() if token != SENTENCE]
    yield View.RUN_TOGETHER, "".join(tokens)
    for alone, run in itertools.groupby(tokens, key=lambda token: len(token) == 1):
        if alone and len(letters := "".join(run)) >= _FEWEST_SPELT:
            yield View.RUN_TOGETHER, letters
    if spoken.count(SENTENCE) * 3 > len(tokens) > _FEWEST_SPELT // 2:
        yield View.WORDS, f" {' '.join(tokens)} "


def _decoded(text: str) -> Iterator[str]:
    """What is encoded in `text`, as far as it reads as text."""
    yield from _carried(text)
    if len(_URL.findall(text)) >= _FEWEST_CODES:
        yield unquote(text, errors="ignore").replace("+", " ")
    if len(_ENTITY.findall(text)) >= _FEWEST_CODES:
        yield html.unescape(text)
    if len(_ESCAPE.findall(text)) >= _FEWEST_CODES:
        yield _ESCAPE.sub(_character, text)
    coded = [(_BASE64, _from_base64), (_HEX, _from_hex)] + ([(_BITS, _from_bits)] if _MANY_BITS in text else [])
    for pattern, decode in coded:
        for found in pattern.finditer(text):
            if (decoded := decode(found.group())) is not None:
                yield decoded


def _carried(text: str) -> Iterator[str]:
    """Text in characters that show nothing: tags, and variation selectors, of which each is a byte."""
    if text.isascii():
        return
    if tags := "".join(chr(ord(c) - _TAGS.start + ord(" ")) for c in text if ord(c) in _TAGS):
        yield tags
    selectors = bytes(byte for c in text if (byte := _selected(ord(c))) is not None)
    if len(selectors) >= _FEWEST_CODES and (said := _readable(selectors)):
        yield said


def _selected(code: int) -> int | None:
    """The byte that a variation selector stands for: 16 have an old code, the others a newer one."""
    if code in _SELECTORS:
        return code - _SELECTORS.start
    return code - _MORE_SELECTORS.start + len(_SELECTORS) if code in _MORE_SELECTORS else None


def _character(match: re.Match[str]) -> str:
    code = int(match.group(1) or match.group(2), 16)
    return "" if code in _SURROGATES or code > sys.maxunicode else chr(code)


def _from_base64(text: str) -> str | None:
    joined = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    whole = joined[: len(joined) // 4 * 4] if len(joined) % 4 == 1 else joined + "=" * (-len(joined) % 4)
    try:
        return _readable(base64.b64decode(whole, validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(text: str) -> str | None:
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", text)
    return _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_bits(text: str) -> str | None:
    bits = "".join(c for c in text if c in "01")
    return _readable(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) // 8 * 8, 8)))


def _readable(data: bytes) -> str | None:
    """The text of `data` where it is UTF-8, or UTF-16, and reads as text."""
    if b"\x00" in data:
        data = data.replace(b"\x00", b"")
    try:
        said = data.decode()
    except UnicodeDecodeError:
        return None
    readable = sum(c.isalnum() or c.isspace() or c in _PUNCTUATION for c in said)
    return said if said and readable >= _READABLE * len(said) else None


_PUNCTUATION = frozenset(".,;:!?'\"()[]{}<>/|\\-_=+*&%$#@`~^")
