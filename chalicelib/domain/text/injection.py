"""Whether a text tries to instruct the assistant that will read it: prompt injection, and escapes from what fences it.

The patterns are data (`injection_patterns`, `injection_languages`); the disguises that are seen through are in
`injection_views`. Talk about instructions is not flagged; a text that quotes an attack word by word is, since it would work
there as well as anywhere. What is not caught is fenced as data when it is recalled: this is the first of two lines.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property

from chalicelib.domain.text.injection_languages import LANGUAGES
from chalicelib.domain.text.injection_patterns import ENGLISH, HIDDEN, MARKS, RUN_TOGETHER, Kind, Pattern
from chalicelib.domain.text.injection_views import View, one_case, views

PATTERNS: tuple[Pattern, ...] = (*MARKS, *HIDDEN, *ENGLISH, *RUN_TOGETHER, *LANGUAGES)
_INDIC = 0x0900  # where the alphabets of Europe and the Near East end
_KEY = 3  # characters of a needle's first word that find it


def found_in(text: str) -> tuple[str, ...]:
    """The kinds of prompt injection in `text`, in the order of `Kind`; empty where it is clean."""
    found: set[Kind] = set()
    for view, form in views(text):
        found.update(_matchers()[view].kinds_in(form, found))
    return tuple(kind.value for kind in Kind if kind in found)


def found_in_any(texts: Iterable[str]) -> tuple[str, ...]:
    """The same of several texts that are read together, such as the fields of a memory: each may carry a part."""
    return found_in("\n".join(texts))


class _Tried:
    """A pattern as it is compared: brought into the form of the texts, its expression compiled where it is first needed."""

    def __init__(self, pattern: Pattern) -> None:
        self.kind = pattern.kind
        self.needles = tuple(one_case(needle) for needle in pattern.needles)
        self._written = pattern.expression

    @cached_property
    def expression(self) -> re.Pattern[str]:
        return re.compile(one_case(self._written))

    def matches(self, form: str) -> bool:
        return self.expression.search(form) is not None


class _Matcher:
    """Patterns of one form. Needles that begin words are looked up by the words of the text, which costs the same for ten
    patterns and for a thousand; the rest are looked for one by one."""

    def __init__(self, patterns: Sequence[Pattern], *, by_word: bool) -> None:
        self._by_key: dict[str, list[tuple[str, _Tried]]] = {}
        self._anywhere: list[tuple[str, _Tried]] = []
        for tried in map(_Tried, patterns):
            for needle in tried.needles:
                spaced = by_word and _has_spaces(needle)
                group = self._by_key.setdefault(needle.split()[0][:_KEY], []) if spaced else self._anywhere
                group.append((needle, tried))

    def kinds_in(self, form: str, known: set[Kind]) -> Iterator[Kind]:
        """The kinds that `form` has, besides those that are known."""
        for tried in dict.fromkeys(tried for needle, tried in self._looked_for(form) if needle in form):
            if tried.kind not in known and tried.matches(form):
                yield tried.kind

    def _looked_for(self, form: str) -> Iterator[tuple[str, _Tried]]:
        yield from self._anywhere
        if self._by_key:
            for key in {word[:_KEY] for word in form.split()} & self._by_key.keys():
                yield from self._by_key[key]


def _has_spaces(needle: str) -> bool:
    """Whether it is of a script that puts spaces between words, and nothing before them."""
    return all(ord(character) < _INDIC for character in needle)


@cache
def _matchers() -> dict[View, _Matcher]:
    return {
        View.MARKS: _Matcher(MARKS, by_word=False),
        View.HIDDEN: _Matcher(HIDDEN, by_word=False),
        View.WORDS: _Matcher((*ENGLISH, *LANGUAGES), by_word=True),
        View.TURNED: _Matcher(ENGLISH, by_word=True),
        View.RUN_TOGETHER: _Matcher(RUN_TOGETHER, by_word=False),
    }
