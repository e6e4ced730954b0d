"""The metrics of `data/README.md`, turn by turn."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from vitto_tools.bench.locomo import ADVERSARIAL, Question

CUTS = (5, 10, 20)


@dataclass
class Scores:
    """Collects the rankings of one system, question by question."""

    recalls: dict[int, dict[int, list[float]]] = field(default_factory=lambda: {cut: {} for cut in CUTS})
    reciprocal: dict[int, list[float]] = field(default_factory=dict)

    def add(self, question: Question, ranking: Sequence[str]) -> None:
        """Count a ranking of turn ids."""
        for cut in CUTS:
            found = len(question.evidence & set(ranking[:cut])) / len(question.evidence)
            self.recalls[cut].setdefault(question.category, []).append(found)
        rank = next((i for i, turn in enumerate(ranking, 1) if turn in question.evidence), None)
        self.reciprocal.setdefault(question.category, []).append(1 / rank if rank else 0.0)

    def recall(self, cut: int, categories: Collection[int]) -> float:
        """Mean recall at `cut` over the questions of `categories`, in percent."""
        return _percent(self.recalls[cut], categories)

    def mrr(self, categories: Collection[int]) -> float:
        """Mean reciprocal rank over the questions of `categories`, in percent."""
        return _percent(self.reciprocal, categories)


OVERALL = (1, 2, 3, 4)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", ADVERSARIAL: "adversarial"}


def _percent(values: Mapping[int, list[float]], categories: Collection[int]) -> float:
    chosen = [value for category in categories for value in values.get(category, [])]
    return round(100 * sum(chosen) / len(chosen), 2) if chosen else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
