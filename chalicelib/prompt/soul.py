"""The Soul in a prompt: compiled to about 150 tokens of TOON on every turn, in full where the user asks about it."""

from functools import lru_cache

from chalicelib.domain.soul import Soul
from chalicelib.domain.text.cues import plain
from chalicelib.domain.text.sentences import shortened
from chalicelib.domain.text.tokens import estimate
from chalicelib.prompt.identity_wording import ASKS_IDENTITY
from chalicelib.prompt.toon import toon

BRIEF_TOKENS = 150  # spec/context.md "Soul brief"
SHORTER = 0.85  # of their characters, which the long fields keep from one try to the next
FEWEST_CHARACTERS = 24
MOST_CHARACTERS = 400
_COMPILED = 256


def soul_brief(soul: Soul) -> str:
    """The Soul in at most 150 tokens; the same bytes for the same content, which are kept."""
    return _compiled(soul) if not soul.is_empty else ""


def full_soul(soul: Soul) -> str:
    """All of it, as TOON."""
    return _written(soul, None) if not soul.is_empty else ""


def needs_full_soul(query: str) -> bool:
    """Whether the user asks who the assistant is or what it is like."""
    return plain(query) in ASKS_IDENTITY


@lru_cache(maxsize=_COMPILED)
def _compiled(soul: Soul) -> str:
    """The longest brief within the limit: long texts are cut to ever fewer characters, then values go from the last."""
    characters = MOST_CHARACTERS
    while estimate(text := _written(soul, characters)) > BRIEF_TOKENS:
        if characters > FEWEST_CHARACTERS:
            characters = int(characters * SHORTER)
        elif soul.values:
            soul = soul.model_copy(update={"values": soul.values[:-1]})
        else:
            soul = soul.model_copy(
                update={"persona": "", "mood": "", "character": soul.character if soul.persona else ""}
            )
            characters -= 1
    return text


def _written(soul: Soul, characters: int | None) -> str:
    fields = {
        "name": soul.name,
        "character": soul.character,
        "values": [_cut(value, characters) for value in soul.values],
        "mood": soul.mood,
        "persona": soul.persona,
    }
    return toon(
        {name: _cut(said, characters) if isinstance(said, str) else said for name, said in fields.items() if said}
    )


def _cut(text: str, characters: int | None) -> str:
    return text if characters is None else shortened(" ".join(text.split()), max(0, characters))
