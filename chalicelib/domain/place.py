"""Where in a conversation a memory was said and by whom: what the index keeps of it, so that a recall can tell what stood
around a hit, and whose words it is, without reading rows."""

from dataclasses import dataclass

from chalicelib.domain.conversation import is_assistant
from chalicelib.domain.memory import Memory
from chalicelib.domain.text.names import name_words

_QUESTION_MARKS = "?\uff1f\u061f\u055e\u1367\u2e2e"
_CLOSING = " \t\n\"'\u201d\u2019\u00bb)]*_"


@dataclass(frozen=True)
class Place:
    """`session` and `speaker` are None where the memory comes from no conversation. `asks` says that it ends with a
    question, which what follows may answer."""

    session: str | None = None
    speaker: str | None = None
    asks: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The words under which a question may name the speaker; none for an assistant and a user, who have no names."""
        return name_words(self.speaker) if self.speaker else ()

    @property
    def is_assistants(self) -> bool:
        """Whether an assistant said it."""
        return self.speaker is not None and is_assistant(self.speaker)


NOWHERE = Place()


@dataclass(frozen=True)
class Situation:
    """A row among the others of its session: `position` is how many of them come before it, by event time and then by id,
    and None where that is not known. `length` is in terms, `event_ms` in milliseconds since 1970."""

    place: Place
    position: int | None
    length: int
    event_ms: int


def place_of(memory: Memory) -> Place:
    """The place of a memory."""
    origin = memory.origin
    if origin is None:
        return Place(asks=asks(memory.content))
    return Place(origin.session_id, origin.speaker, asks(memory.content))


def asks(text: str) -> bool:
    """Whether a text ends with a question."""
    return text.rstrip(_CLOSING)[-1:] in _QUESTION_MARKS and bool(text.rstrip(_CLOSING))
