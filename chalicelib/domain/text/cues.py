"""Cue words and phrases by language, as data that is looked for in a text: folded, at word bounds where a script has words.

A table has a line a language; phrases are separated by bars, and `*` stands at the end of a stem. The line `ANYWHERE` is for
scripts without blanks, and for languages that write their endings onto the word: its phrases are looked for inside words.
"""

import re
import unicodedata
from collections.abc import Mapping

ANYWHERE = "anywhere"


class Cues:
    """The cues of one table, compiled when they are first needed."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._table = table
        self._found: re.Pattern[str] | None = None

    def search(self, text: str) -> re.Match[str] | None:
        """The first cue in `text`, which is `plain` already; None where there is none."""
        if self._found is None:
            self._found = re.compile(_expression(self._table))
        return self._found.search(text)

    def __contains__(self, text: str) -> bool:
        return self.search(text) is not None


def plain(text: str) -> str:
    """`text` as cues are written: one form, small letters, straight apostrophes, white space folded."""
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("i\u0307", "i")
    return " ".join(folded.split())


def word_set(words: str) -> frozenset[str]:
    """The words of a list, as `plain` writes them."""
    return frozenset(plain(words).split())


def _expression(table: Mapping[str, str]) -> str:
    words = [_written(one) for language, line in table.items() if language != ANYWHERE for one in _phrases(line)]
    inside = [re.escape(one) for one in _phrases(table.get(ANYWHERE, ""))]
    bounded = [rf"(?<!\w)(?:{'|'.join(words)})(?!\w)"] if words else []
    return "|".join([*bounded, *inside])


def _phrases(line: str) -> list[str]:
    return [plain(part) for part in line.split("|") if part.strip()]


def _written(phrase: str) -> str:
    return re.escape(phrase.removesuffix("*")) + (r"\w*" if phrase.endswith("*") else "")
