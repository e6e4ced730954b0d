"""What language a text can be of, by its script and its function words, and whether two texts are of different ones."""

from collections import Counter
from dataclasses import dataclass

from chalicelib.domain.text.stopwords import STOPWORDS
from chalicelib.domain.text.terms import folded_words, script_of

MOST_CHARACTERS = 600
"""As much of a text as is looked at."""


@dataclass(frozen=True)
class Shown:
    """The script of most words, and the languages that most of the function words are of; empty where there are none."""

    script: str
    languages: frozenset[str]


def shown(text: str) -> Shown:
    """What a text shows of its language."""
    words = folded_words(text[:MOST_CHARACTERS])
    scripts = Counter(script for script in map(script_of, words) if script)
    votes = {name: sum(word in listed for word in words) for name, listed in STOPWORDS.items()}
    most = max(votes.values())
    languages = frozenset(name for name, count in votes.items() if most and count == most)
    return Shown(scripts.most_common(1)[0][0] if scripts else "", languages)


def differ(one: Shown, other: Shown) -> bool:
    """Whether they are surely of different languages."""
    if not one.script or not other.script:
        return False
    if one.script != other.script:
        return True
    return bool(one.languages and other.languages) and not one.languages & other.languages
