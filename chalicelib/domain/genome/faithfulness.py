"""Whether a text says what the entries say that it is to take the place of, and nothing else.

A language model may leave out, join and reorder; it may not add. Each word that carries meaning has to stand in the entries,
so that neither an invention nor anybody else's words get into a genome, whatever the model was talked into.
"""

import re
from collections.abc import Sequence

from chalicelib.domain.genome import wording
from chalicelib.domain.genome.entries import LABEL_SHARE
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.text.cleaning import normal_form
from chalicelib.domain.text.cues import plain
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.text.sentences import ELLIPSIS
from chalicelib.domain.text.terms import content_words, folded_words

COVERED = 0.5  # of the terms of each entry that a text takes the place of
_DATE = re.compile(r"\(\d{1,2} \w{3} \d{4}\)")


def faithful(text: str, sources: Sequence[str], characters: int) -> str | None:
    """`text`, on one line and without secrets, with the speaker whom all `sources` have in common; None where it is longer
    than `characters`, where they have several speakers, where it adds a word, turns a no into a yes or the other way round,
    loses the date that "yesterday" counts from, or leaves out most of a source."""
    labels = {_label(source, characters) for source in sources}
    if len(labels) != 1 or (line := one_line(text)) is None:
        return None
    (label,) = labels
    said = [source.removeprefix(label) for source in sources]
    line = line.removeprefix(label.strip()).strip()
    if len(label) + len(line) > characters or not _says_the_same(line, said):
        return None
    return label + line


def one_line(text: str) -> str | None:
    """`text` cleaned and redacted, on one line; None where it is not valid Unicode."""
    try:
        return redact(normal_form(text))[0]
    except UnicodeEncodeError:
        return None


def adds_nothing(line: str, sources: Sequence[str]) -> bool:
    """Whether `line` has a word that carries meaning, and all such words of it stand in `sources`."""
    known = {word for source in sources for word in folded_words(source)}
    known_terms = {term for source in sources for _, term in content_words(source)}
    words = content_words(line)
    return bool(words) and all(word in known or term in known_terms for word, term in words)


def _says_the_same(line: str, sources: Sequence[str]) -> bool:
    covers = all(_covered(source, line) >= COVERED for source in sources)
    is_as_sure = _denies(line) == any(map(_denies, sources))
    return covers and is_as_sure and adds_nothing(line, sources) and _dated(line, sources)


def _covered(source: str, line: str) -> float:
    """The part of what `source` says that `line` says too."""
    terms = sentence_of(source).terms
    return len(terms & sentence_of(line).terms) / len(terms) if terms else 0.0


def _label(source: str, characters: int) -> str:
    """Who is named as the speaker at its beginning; a name that was too long ends with an ellipsis."""
    head = source[: characters // LABEL_SHARE]
    ends = [head.find(mark) + len(mark) for mark in (": ", ELLIPSIS) if mark in head]
    return head[: min(ends)] if ends else ""


def _denies(text: str) -> bool:
    return not wording.NEGATIONS.isdisjoint(folded_words(text))


def _dated(line: str, sources: Sequence[str]) -> bool:
    dates = {date for source in sources for date in _DATE.findall(source)}
    return not dates or not wording.RELATIVE_TIME.search(plain(line)) or any(date in line for date in dates)
