"""Statements in a text: each sentence held against the patterns, and what is unsure, asked or hypothetical left out.

Precision comes before recall: a claim that is missed costs nothing, a wrong one retires somebody's memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from chalicelib.domain.claims.patterns import ENDS, LEADS, Pattern, patterns
from chalicelib.domain.claims.subjects import Attribute, Subject, attribute_of, subject_of
from chalicelib.domain.claims.values import Kind, Value, folded, value_of, words_of
from chalicelib.domain.claims.words import (
    MANY,
    MY,
    OUR,
    PARTICLES,
    PRONOUNS,
    SINGLE,
    THE,
    UNSURE,
    UNSURE_PARTS,
    word_set,
)

MOST_CLAUSES = 40
TEXTS_KEPT = 256  # a request reads a text several times: for the terms it is found by, and for what it contradicts
_MONTH = "May"  # what may be is unsure, what is in May is not
LONGEST_CLAUSE = 240
MOST_WORDS_OF_MANY = 3  # what is liked or used; longer, it is a remark
LONGEST_QUALIFICATION = 4  # words after "of" that still qualify an attribute
_OTHER_SCRIPTS = {
    "ru": "[\u0400-\u04ff]",
    "ar": "[\u0600-\u06ff]",
    "zh": "[\u4e00-\u9fff]",
    "ja": "[\u3040-\u30ff]",
}


@dataclass(frozen=True)
class Statement:
    """`subject` has `value` for `attribute`; where `negated`, has it no more. `change`: the sentence says that it is new.

    Not `sure` where the subject is only described, or the value relative. `begin` and `end`: where it stands in the text."""

    subject: str
    attribute: Attribute
    value: Value
    negated: bool = False
    change: bool = False
    sure: bool = True
    begin: int = 0
    end: int = 0

    @property
    def is_single(self) -> bool:
        """Whether there is one value at a time."""
        return self.attribute.name in SINGLE

    @property
    def attribute_text(self) -> str:
        """The attribute in words."""
        return " ".join([*sorted(self.attribute.modifiers - {self.attribute.name}), self.attribute.name])


def statements(text: str, author: str) -> list[Statement]:
    """What `text`, written or spoken by `author`, says plainly, in the order of the text."""
    return list(_statements_in(text, author))


@lru_cache(maxsize=TEXTS_KEPT)
def _statements_in(text: str, author: str) -> tuple[Statement, ...]:
    found: dict[tuple[str, Attribute, str, bool], Statement] = {}
    for begin, clause in list(_clauses(text))[:MOST_CLAUSES]:
        for one in _of_clause(clause, begin, author):
            found.setdefault((one.subject, one.attribute, one.value.text, one.negated), one)
    return tuple(found.values())


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


_SENTENCE = r"(?:[^.!?;\n。！？；]|[.](?=\S)|(?<=\b\d)[.]|(?<=\b\d\d)[.])+(?:[?？]|)"
_JOINTS = (
    r",? (?:and|but) (?=(?:i|my|we|our|he|she|it|they|the)\b)|[，、]"
    r"|, (?:und|aber|et|mais|y|pero|e|ma|mas|en|maar|и|но|ve|ama) "
)


def _clauses(text: str) -> Iterator[tuple[int, str]]:
    for sentence in _compiled(_SENTENCE).finditer(text):
        said = sentence.group()
        if said.endswith(("?", "？")) or _is_unsure(said):
            continue
        begin = 0
        for joint in [*_compiled(_JOINTS).finditer(said), None]:
            end = joint.start() if joint else len(said)
            yield sentence.start() + begin, said[begin:end]
            begin = joint.end() if joint else end


def _is_unsure(sentence: str) -> bool:
    words = {folded(word) for word in re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", sentence) if word != _MONTH}
    return not words.isdisjoint(UNSURE) or any(part in sentence for part in UNSURE_PARTS)


def _of_clause(clause: str, begin: int, author: str) -> list[Statement]:
    plain = clause.strip()
    begin += len(clause) - len(clause.lstrip())
    if lead := _compiled(LEADS).match(plain):
        begin, plain = begin + lead.end(), plain[lead.end() :]
    if not plain or len(plain) > LONGEST_CLAUSE:
        return []
    matches = ((pattern, pattern.expression.match(plain)) for pattern in _that_may_apply(plain))
    made = (_statements(pattern, match, begin, author) for pattern, match in matches if match)
    return next((some for some in made if some), [])


def _that_may_apply(clause: str) -> list[Pattern]:
    """The patterns whose script or trigger the clause has, in their order."""
    if clause.isascii():
        scripts = set()
    else:
        scripts = {language for language, script in _OTHER_SCRIPTS.items() if _compiled(script).search(clause)}
    written = clause.casefold()
    there = {trigger for trigger in _triggers() if trigger in written}
    return [
        pattern
        for pattern in patterns()
        if (pattern.language in scripts if pattern.language in _OTHER_SCRIPTS else pattern.trigger in there)
    ]


@cache
def _triggers() -> frozenset[str]:
    return frozenset(pattern.trigger for pattern in patterns() if pattern.language not in _OTHER_SCRIPTS)


def _statements(pattern: Pattern, match: re.Match[str], begin: int, author: str) -> list[Statement]:
    groups = match.groupdict()
    about = _about(pattern, groups, author)
    if about is None:
        return []
    subject, attribute = about
    kind = pattern.kind or _KINDS.get(attribute.name, Kind.TEXT)
    text = _cut(groups["v"], kind)
    value = value_of(text, kind)
    said = words_of(text)
    if value is None or said[0] in PRONOUNS or (attribute.name in MANY and len(said) > MOST_WORDS_OF_MANY):
        return []
    if kind is Kind.PLACE and value_of(text, Kind.DATE):
        return []
    if pattern.attribute == "preference":
        return _preference(subject, value, groups["w"], begin, match)
    end = begin + match.start("v") + len(text) if match.end("v") >= match.end() else begin + match.end()
    made = Statement(
        subject.name,
        attribute,
        value,
        pattern.negated,
        pattern.change or attribute.new,
        subject.definite and value.definite,
        begin,
        end,
    )
    return [made, *_left_behind(made, groups.get("w"))]


def _left_behind(made: Statement, old: str | None) -> list[Statement]:
    """Who switched from one thing to another has the first no more."""
    value = value_of(old, Kind.TEXT) if old else None
    if value is None:
        return []
    return [replace(made, value=value, negated=True, change=True)]


def _preference(subject: Subject, value: Value, other: str, begin: int, match: re.Match[str]) -> list[Statement]:
    """Of two things the one that is preferred: the pair is what the preference is of."""
    against = value_of(_compiled(ENDS).sub("", other), Kind.TEXT)
    if against is None:
        return []
    pair = Attribute("preference", frozenset({folded(value.text), folded(against.text)}))
    return [Statement(subject.name, pair, value, begin=begin, end=begin + match.end(), sure=subject.definite)]


def _cut(text: str, kind: Kind) -> str:
    """What of `text` is the value: dates and contacts are found in it, a name ends where words are written small."""
    if kind in {Kind.DATE, Kind.CONTACT}:
        return text
    text = _compiled(ENDS).sub("", text)
    if kind not in {Kind.NAME, Kind.PLACE}:
        return text
    words = text.split()
    small = next((i for i, word in enumerate(words) if word[0].islower() and folded(word) not in PARTICLES), len(words))
    return " ".join(words[:small])


_KINDS = dict.fromkeys(("deadline", "meeting", "date", "birthday"), Kind.DATE)
_KINDS |= dict.fromkeys(("budget", "price", "age", "number"), Kind.AMOUNT)
_KINDS |= dict.fromkeys(("email", "phone"), Kind.CONTACT)
_KINDS |= dict.fromkeys(("name", "spouse", "employer", "manager", "residence", "capital"), Kind.NAME)
"""How the value of an attribute that a noun names is read; as text where nothing stands here."""


def _about(pattern: Pattern, groups: dict[str, str | None], author: str) -> tuple[Subject, Attribute] | None:
    if pattern.attribute != "@":
        subject = Subject(folded(author)) if pattern.me else subject_of(groups["s"] or "", author)
        return (subject, Attribute(pattern.attribute)) if subject else None
    return _possession((groups.get("o") or "", groups["a"] or ""), author)


_OF = r"^(?P<a>.+?) (?:of|for|with|von|für|mit|de|du|d'|pour|avec|del|para|con|di|per|da|do|voor|van|met) (?P<o>.+)$"


def _possession(said: tuple[str, str], author: str) -> tuple[Subject, Attribute] | None:
    """Whose attribute, and which: "Ana's e-mail", "the deadline of Apollo", "our budget", "the price"."""
    owner, phrase = said
    if owner:
        subject, attribute = subject_of(owner, author), attribute_of([phrase])
        return (subject, attribute) if subject and attribute else None
    words = phrase.split()
    first = folded(words[0])
    if first in word_set(MY) | word_set(OUR):
        mine = subject_of("I" if first in word_set(MY) else "we", author)
        return _with_owner(mine, words[1:])
    by, _, rest = phrase.partition("'s ")
    if rest:
        return _with_owner(subject_of(by, author), rest.split())
    if found := _compiled(_OF).match(phrase):
        named = [word for word in found["a"].split() if folded(word) not in word_set(THE)]
        subject, attribute = subject_of(found["o"], author), attribute_of(named)
        return (subject, attribute) if subject and attribute else None
    named = words[1:] if first in word_set(THE) else []
    attribute = attribute_of(named) if named else None
    return (Subject("", definite=False), attribute) if attribute else None


def _with_owner(owner: Subject | None, words: list[str]) -> tuple[Subject, Attribute] | None:
    """An attribute of the owner, or of something of the owner's: "my dog's name", "my budget for books"."""
    phrase = " ".join(words)
    if owner is None or not words:
        return None
    if "'s " in phrase:
        thing, _, rest = phrase.partition("'s ")
        attribute = attribute_of(rest.split())
        return (Subject(f"{owner.name}'s {folded(thing)}"), attribute) if attribute else None
    if found := _compiled(_OF).match(phrase):
        attribute = attribute_of(found["a"].split())
        further = frozenset(words_of(found["o"])) - word_set(THE)
        if attribute and len(further) <= LONGEST_QUALIFICATION:
            return owner, Attribute(attribute.name, attribute.modifiers | further, attribute.new)
        return None
    attribute = attribute_of(words)
    return (owner, attribute) if attribute else None
