"""The metrics of `data/README.md`, message by message."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vitto_tools.bench.dialogues import Question
from vitto_tools.bench.locomo import ADVERSARIAL

CUTS = (5, 10, 20)
Category = int | str


@dataclass(frozen=True)
class Shown:
    """A hit as it counts: the messages that it stands for, and those of them whose words it shows. They differ where a
    message was merged into the memory of an earlier one, and took the place of its words."""

    stands_for: frozenset[str]
    says: frozenset[str]

    @classmethod
    def of(cls, message: str) -> "Shown":
        """A hit that is a message."""
        only = frozenset({message})
        return cls(only, only)


@dataclass
class Scores:
    """Collects the rankings of one system, question by question."""

    recalls: dict[int, dict[Category, list[float]]] = field(default_factory=lambda: {cut: {} for cut in CUTS})
    reciprocal: dict[Category, list[float]] = field(default_factory=dict)
    updated_above: list[bool] = field(default_factory=list)

    def add(self, question: Question, ranking: Sequence[str]) -> None:
        """Count a ranking of message ids."""
        self.add_shown(question, [Shown.of(message) for message in ranking])

    def add_shown(self, question: Question, ranking: Sequence[Shown]) -> None:
        """Count a ranking of hits. A question without evidence counts nowhere."""
        if not question.evidence:
            return
        for cut in CUTS:
            seen = frozenset[str]().union(*(hit.stands_for for hit in ranking[:cut]))
            found = len(question.evidence & seen) / len(question.evidence)
            self.recalls[cut].setdefault(question.category, []).append(found)
        rank = _first(ranking, question.evidence)
        self.reciprocal.setdefault(question.category, []).append(1 / rank if rank else 0.0)
        if question.updates and question.originals - question.updates:
            self.updated_above.append(_is_above(question, ranking))

    def recall(self, cut: int, categories: Collection[Category]) -> float:
        """Mean recall at `cut` over the questions of `categories`, in percent."""
        return _percent(self.recalls[cut], categories)

    def mrr(self, categories: Collection[Category]) -> float:
        """Mean reciprocal rank over the questions of `categories`, in percent."""
        return _percent(self.reciprocal, categories)

    @property
    def updated_above_original(self) -> float:
        """The share of updated statements that rank above every original one, in percent."""
        return round(100 * sum(self.updated_above) / len(self.updated_above), 2) if self.updated_above else 0.0


OVERALL = (1, 2, 3, 4)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", ADVERSARIAL: "adversarial"}


def _first(ranking: Sequence[Shown], wanted: frozenset[str]) -> int | None:
    """The rank of the first hit that stands for one of the wanted."""
    return next((rank for rank, hit in enumerate(ranking, 1) if hit.stands_for & wanted), None)


def _is_above(question: Question, ranking: Sequence[Shown]) -> bool:
    """Whether an update shows, and no original before it or in the same hit."""
    for hit in ranking:
        if hit.says & (question.originals - question.updates):
            return False
        if hit.says & question.updates:
            return True
    return False


def _percent(values: Mapping[Category, list[float]], categories: Collection[Category]) -> float:
    chosen = [value for category in categories for value in values.get(category, [])]
    return round(100 * sum(chosen) / len(chosen), 2) if chosen else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
