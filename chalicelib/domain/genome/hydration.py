"""A genome as text for a prompt: sections in a fixed order, the most valuable entries first where not all have room."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.genome.model import ConversationGenome, Keyword, Topic, TopicStatus
from chalicelib.domain.genome.reading import sentence_of
from chalicelib.domain.genome.topics import terms_of, topic_worth
from chalicelib.domain.text.tokens import cut, estimate

DEFAULT_BUDGET = 500
SECTIONS = (
    "Session summary",
    "Active topics",
    "Resolved",
    "Decisions made",
    "Established facts",
    "Pending actions",
)
_SUMMARY, _ACTIVE, _RESOLVED, _DECISIONS, _FACTS, _ACTIONS = range(len(SECTIONS))
WORDS_A_LINE = 15
_STANDING = 100.0  # decisions, facts and tasks come before topics, and topics before loose words


@dataclass(frozen=True)
class Line:
    """A line of a section, and what it is worth against others where room is short."""

    section: int
    text: str
    worth: float


def hydrate(genome: ConversationGenome, budget: int = DEFAULT_BUDGET) -> str:
    """`genome` as prompt text of at most `budget` tokens; empty where there is nothing to tell, or no room for it."""
    if genome.is_empty or budget <= 0:
        return ""
    lines = list(_lines(genome))
    if estimate(whole := _written(lines)) <= budget:
        return whole
    return _fitting(lines, budget)


def rendered(genome: ConversationGenome) -> str:
    """All of it as prompt text."""
    return _written(list(_lines(genome)))


def dated(text: str, day: str) -> str:
    """An entry with the day it is of."""
    return text if text.endswith(")") and day[-4:] in text[-14:] else f"{text} ({day})"


def shown_keywords(genome: ConversationGenome) -> list[Keyword]:
    """The keywords that have room, of those that no other entry says already."""
    said = entry_terms(genome)
    return [keyword for keyword in genome.keywords if keyword.term not in said][: genome.keywords_told]


def entry_terms(genome: ConversationGenome) -> frozenset[str]:
    """The terms of all topics, decisions, facts and tasks."""
    texts = (
        *(decision.description for decision in genome.decisions),
        *(fact.content for fact in genome.facts),
        *genome.action_items,
    )
    return frozenset().union(*map(terms_of, genome.topics), *(sentence_of(text).terms for text in texts))


def topic_line(topic: Topic) -> str:
    """A topic with its key points on one line."""
    mark = " (abandoned)" if topic.status is TopicStatus.ABANDONED else ""
    points = "; ".join(topic.key_points)
    return f"{topic.name}{mark}: {points}" if points else f"{topic.name}{mark}"


def _lines(genome: ConversationGenome) -> Iterator[Line]:
    """Every line there is to tell, in order."""
    if genome.summary:
        yield Line(_SUMMARY, genome.summary, 2 * _STANDING)
    words = shown_keywords(genome)
    for start in range(0, len(words), WORDS_A_LINE):
        yield Line(_SUMMARY, _words(words[start : start + WORDS_A_LINE]), -start)
    for section, active in ((_ACTIVE, True), (_RESOLVED, False)):
        for topic in genome.topics:
            if (topic.status is TopicStatus.ACTIVE) is active:
                yield Line(section, topic_line(topic), topic_worth(topic, genome.message_range.to)[1] + 30 * active)
    for decision in genome.decisions:
        yield _standing(_DECISIONS, decision.description, f"{decision.made_at:%-d %b %Y}")
    for fact in genome.facts:
        yield _standing(_FACTS, fact.content, f"{fact.established_at:%-d %b %Y}")
    for task in genome.action_items:
        yield Line(_ACTIONS, task, _STANDING + sentence_of(task).worth)


def _standing(section: int, text: str, day: str) -> Line:
    return Line(section, dated(text, day), _STANDING + sentence_of(text).worth)


def _words(keywords: Sequence[Keyword]) -> str:
    return " ".join(keyword.word for keyword in keywords)


def _written(lines: Sequence[Line]) -> str:
    found: list[str] = []
    for section, heading in enumerate(SECTIONS):
        own = [f"- {line.text}" for line in lines if line.section == section]
        found += [f"{heading}:", *own] if own else []
    return "\n".join(found)


def _fitting(lines: Sequence[Line], budget: int) -> str:
    """The most valuable lines that fit together; where none fits, the beginning of the best."""
    chosen: list[int] = []
    used, headed = 0, set[int]()
    for i in sorted(range(len(lines)), key=lambda i: (-lines[i].worth, i)):
        line = lines[i]
        cost = estimate(f"- {line.text}\n") + (
            0 if line.section in headed else estimate(f"{SECTIONS[line.section]}:\n")
        )
        if used + cost <= budget:
            chosen.append(i)
            headed.add(line.section)
            used += cost
    text = _written([lines[i] for i in sorted(chosen)])
    return text or cut(_written([max(lines, key=lambda line: line.worth)]), budget)
