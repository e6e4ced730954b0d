"""What two revisions of a memory differ in, as data: per field before, after, and the parts of which both are made."""

import re
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import chain

from chalicelib.domain.memory import Revision
from chalicelib.domain.wire import Wire

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|.", re.DOTALL)
"""Words, blanks and signs; a sign of a script that writes no blanks between words stands alone."""
MOST_WORDS = 2000  # comparing costs the square of it at worst; longer texts are compared by line
LONGEST_LINE = 1000


class PartKind(StrEnum):
    """Where a part of a text stands: in both, in the earlier alone, in the later alone."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"


class Part(Wire):
    """A run of text. `same` and `removed` parts in their order are the earlier text, `same` and `added` ones the later."""

    kind: PartKind
    text: str


class TextDifference(Wire):
    """A text before and after; both empty where there was none."""

    before: str | None
    after: str | None
    changed: bool
    parts: tuple[Part, ...]


class TagsDifference(Wire):
    """Tags before and after, and those that came and went."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    changed: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]


def text_difference(before: str | None, after: str | None) -> TextDifference:
    """How a text became another; word by word, and line by line where they are long."""
    parts = tuple(_parts(*_cut(before or "", after or "")))
    return TextDifference(before=before, after=after, changed=before != after, parts=parts)


def tags_difference(before: Revision, after: Revision) -> TagsDifference:
    """The tags that came and went, in their order."""
    return TagsDifference(
        before=before.tags,
        after=after.tags,
        changed=before.tags != after.tags,
        added=tuple(tag for tag in after.tags if tag not in before.tags),
        removed=tuple(tag for tag in before.tags if tag not in after.tags),
    )


def _cut(*texts: str) -> list[list[str]]:
    words = [_WORDS.findall(text) for text in texts]
    if max(map(len, words)) <= MOST_WORDS:
        return words
    return [list(chain.from_iterable(_pieces(line) for line in text.splitlines(keepends=True))) for text in texts]


def _pieces(line: str) -> list[str]:
    return [line[start : start + LONGEST_LINE] for start in range(0, len(line), LONGEST_LINE)]


def _parts(before: list[str], after: list[str]) -> list[Part]:
    found: list[Part] = []
    for _, i, j, k, m in SequenceMatcher(a=before, b=after).get_opcodes():
        gone, come = "".join(before[i:j]), "".join(after[k:m])
        if gone == come:
            found.append(Part(kind=PartKind.SAME, text=gone))
            continue
        found += [Part(kind=PartKind.REMOVED, text=gone)] if gone else []
        found += [Part(kind=PartKind.ADDED, text=come)] if come else []
    return found
