"""Chat messages, one a record: a text, who said it, in which session, and when."""

from chalicelib.domain.conversation import is_assistant
from vitto_tools.importing.conversion import (
    Circumstances,
    Conversion,
    Fields,
    Record,
    first,
    short,
    text_of,
    time_of,
    without_none,
)

TEXTS = ("content", "text", "message")
NAMES, ROLES = ("name", "speaker", "author", "sender"), ("role", "role_type")
SESSIONS = ("session", "sessionId", "session_id", "thread_id", "threadId", "conversation_id", "conversationId")
IDS = ("id", "messageId", "message_id", "uuid", "uuid_")
TIMES = ("time", "at", "timestamp", "created_at", "createdAt", "eventTime", "date")
USERS = ("user_id", "userId")
KEPT = (*TEXTS, *NAMES, *ROLES, *SESSIONS, *IDS, *TIMES, *USERS)


def convert(records: list[Record], given: Circumstances) -> Conversion:
    """Each message as a memory of type `conversation`, with its speaker, its session and its own time."""
    made = Conversion()
    for record in records:
        add_message(made, record, given, source="import:messages")
    return made


def add_message(
    made: Conversion, record: Record, given: Circumstances, *, source: str, session: object = None, user: object = None
) -> None:
    """Take a message in, or say why not. What it says of its session and its user goes before what is given."""
    value = record.value
    if not isinstance(value, dict):
        return made.refuse(record, "not an object")
    try:
        text, when = text_of(value, *TEXTS), time_of(first(value, *TIMES), given)
    except ValueError as error:
        return made.skip(record, str(error), first(value, *TEXTS) or "")
    id_ = first(value, *IDS)
    origin = {
        "sessionId": short(first(value, *SESSIONS) or session),
        "messageId": short(id_),
        "speaker": _speaker(value),
    }
    body = {
        "content": text,
        "type": "conversation",
        "eventTime": when.isoformat(),
        "origin": without_none(origin),
        "source": source,
    }
    made.lose(record, KEPT)
    return made.add(record, without_none(body), short(first(value, *USERS) or user))


def _speaker(value: Fields) -> str | None:
    """Who said it: by name, but an assistant by its role, so that its words are never taken for a user's."""
    name, role = short(first(value, *NAMES)), short(first(value, *reversed(ROLES)))
    return role if role and is_assistant(role) and not is_assistant(name or "") else name or short(first(value, *ROLES))
