"""The tone of what a user wrote last, as a hint for the next answer. It says something of messages, never of a person.

Pure. Signs that every language shares come first: repeated marks, capitals, emoji; then what people of a dozen languages say
in a mood. Later messages weigh more, and what is not plain is neutral.
"""

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from chalicelib.domain.conversation import Message
from chalicelib.domain.tone_wording import EMOJI, LEXICON, NEGATIONS
from chalicelib.domain.wire import Share, Wire

LATEST = 5  # messages of the user that count
FADING = 0.6  # what a message weighs of the one after it
PLAIN = 0.5  # the strength from which a mood is named
LONG_TEXT = 600  # characters of a pasted text, in which a mood is somebody else's
SHOUTED_LETTERS, SHOUTED_SHARE = 8, 0.7
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARKS = re.compile(r"[!！?？]{2,}")
_QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|^\s*>.*$|https?://\S+", re.DOTALL | re.MULTILINE)


class Mood(StrEnum):
    """How messages sound. `agitated` is loud without saying why."""

    NEUTRAL = "neutral"
    JOYFUL = "joyful"
    GRATEFUL = "grateful"
    FRUSTRATED = "frustrated"
    SAD = "sad"
    URGENT = "urgent"
    AGITATED = "agitated"


class Tone(Wire):
    """The mood of recent messages, how plain it is from 0 to 1, and by which kinds of signs."""

    mood: Mood = Mood.NEUTRAL
    strength: Share = 0.0
    signs: tuple[str, ...] = ()


_HINTS = {
    Mood.JOYFUL: "sound glad; match it lightly",
    Mood.GRATEFUL: "are thankful; accept it in a few words",
    Mood.FRUSTRATED: "sound frustrated; acknowledge it in a few words and go straight to what solves it",
    Mood.SAD: "sound sad; be warm and take your time",
    Mood.URGENT: "sound urgent; begin with what can be done at once",
    Mood.AGITATED: "sound agitated; stay calm and clear",
}


def tone(messages: Sequence[Message]) -> Tone:
    """The tone of the user's latest messages, the oldest first. What others said has no part in it."""
    own = [message.text for message in messages if message.speaker == "user"][-LATEST:]
    scores: Counter[Mood] = Counter()
    signs: dict[Mood, dict[str, None]] = {}
    for age, text in enumerate(reversed(own)):
        for mood, sign, weight in _signs(text):
            scores[mood] += weight * FADING**age  # type: ignore[assignment]
            signs.setdefault(mood, {})[sign] = None
    if not scores:
        return Tone()
    mood, score = max(scores.items(), key=lambda item: (item[1], item[0] is not Mood.AGITATED, item[0].value))
    strength = round(min(1.0, score), 3)
    return Tone(mood=mood, strength=strength, signs=tuple(signs[mood])) if strength >= PLAIN else Tone()


def mood_of(text: str) -> Mood:
    """The mood of one text."""
    scores: Counter[Mood] = Counter()
    for mood, _, weight in _signs(text):
        scores[mood] += weight  # type: ignore[assignment]
    return max(scores, key=lambda mood: scores[mood]) if scores and max(scores.values()) >= PLAIN else Mood.NEUTRAL


def hint(found: Tone) -> str | None:
    """One line for the assistant; None where there is nothing to say."""
    if found.mood is Mood.NEUTRAL:
        return None
    return f"The user's latest messages {_HINTS[found.mood]}. This is the tone of the moment, no fact about the user."


def _signs(text: str) -> list[tuple[Mood, str, float]]:
    """The signs in a text: of what mood, of what kind, and how much each weighs."""
    own = _QUOTED.sub(" ", text)
    if len(own) > LONG_TEXT:
        return []
    said = [*_emoji(own), *_words(own)]
    loud = [*_marks(own), *_shouting(own)]
    if said and loud:  # loudness makes a mood plainer, whichever it is
        mood = max(said, key=lambda sign: sign[2])[0]
        return [*said, *((mood, kind, weight / 2) for _, kind, weight in loud)]
    return [*said, *loud]


def _emoji(text: str) -> list[tuple[Mood, str, float]]:
    counts = {mood: sum(text.count(sign) for sign in signs) for mood, signs in EMOJI.items()}
    return [(Mood(mood), "emoji", min(0.9, 0.5 + 0.2 * (count - 1))) for mood, count in counts.items() if count]


def _marks(text: str) -> list[tuple[Mood, str, float]]:
    runs = _MARKS.findall(text)
    longest = max((len(run) for run in runs), default=0)
    return [(Mood.AGITATED, "marks", min(0.6, 0.17 * longest + 0.1 * (len(runs) - 1)))] if runs else []


def _shouting(text: str) -> list[tuple[Mood, str, float]]:
    """Capitals, where a script has them and a sentence is made of them; a single acronym is none."""
    words = [word for word in text.split() if any(c.isupper() or c.islower() for c in word)]
    letters = [c for word in words for c in word if c.isupper() or c.islower()]
    upper = sum(c.isupper() for c in letters)
    if len(words) > 1 and len(letters) >= SHOUTED_LETTERS and upper >= SHOUTED_SHARE * len(letters):
        return [(Mood.AGITATED, "capitals", 0.5)]
    return []


def _words(text: str) -> list[tuple[Mood, str, float]]:
    folded = _folded(text)
    found = {mood: _lexicon(mood).findall(folded) for mood in LEXICON}
    joy = [match for match in _lexicon("joyful").finditer(folded) if not _is_denied(folded, match.start())]
    denied = len(found["joyful"]) - len(joy)
    found["joyful"] = found["joyful"][: len(joy)]
    signs = [(Mood(mood), "words", min(1.0, 0.6 + 0.2 * (len(hits) - 1))) for mood, hits in found.items() if hits]
    return [*signs, (Mood.FRUSTRATED, "words", 0.5)] if denied else signs


def _is_denied(folded: str, at: int) -> bool:
    return bool(NEGATIONS & set(folded[:at].split()[-2:]))


@functools.cache
def _lexicon(mood: str) -> re.Pattern[str]:
    """Compiled at first use, see `text.terms`; the longest first, so that a phrase counts once."""
    phrases = sorted({_folded(phrase) for phrase in LEXICON[mood]}, key=len, reverse=True)
    whole = [re.escape(phrase) for phrase in phrases if not _UNSPACED.search(phrase)]
    parts = [re.escape(phrase) for phrase in phrases if _UNSPACED.search(phrase)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(whole)})(?!\w)|{'|'.join(parts)}")


def _folded(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'").replace("i\u0307", "i")
    return " ".join(folded.split())
