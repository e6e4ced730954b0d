"""What every text that comes in passes first: one Unicode form, nothing invisible that could be content."""

import unicodedata

RECALL_FENCE = "vitto:recalled"
"""The mark that our own recall blocks carry, so that a text which brings one back is recognised."""

_INVISIBLE = frozenset("\u200b\u2060\ufeff\u00ad\u180e\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_SELECTORS = range(0xFE00, 0xFE10)  # variation selectors: they show nothing by themselves


def clean(text: str) -> str:
    """NFC, line ends as \\n, no control characters but tab and newline, trimmed.

    ValueError where the text is not valid Unicode (a lone surrogate), which no store could keep.
    """
    text.encode()
    if text.isascii() and text.isprintable():
        return text.strip()
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc").strip()


def is_blank(text: str) -> bool:
    """Whether nothing of `text` would be seen: white space, zero-width and format characters only."""
    return all(
        c.isspace() or c in _INVISIBLE or ord(c) in _SELECTORS or unicodedata.category(c) in {"Cf", "Cc", "Cn"}
        for c in text
    )


def normal_form(text: str) -> str:
    """The form in which two contents count as the same: cleaned, invisible characters out, white space folded."""
    cleaned = clean(text)
    seen = cleaned if cleaned.isascii() else "".join(c for c in cleaned if c not in _INVISIBLE)
    return " ".join(seen.split())


def carries_recall(text: str) -> bool:
    """Whether `text` brings a recall block of ours back (faults.md 30)."""
    return RECALL_FENCE in text
