"""Prompt injection in a memory: whichever way a text came in, one that tries to instruct the assistant waits for review."""

from collections.abc import Iterator
from typing import Any

from chalicelib.domain.memory import Memory, QuarantineReason, Status
from chalicelib.domain.text.injection import found_in_any


def texts_of(memory: Memory) -> Iterator[str]:
    """Every text of a memory that a reader may be shown."""
    yield memory.content
    if origin := memory.origin:
        yield from (text for text in (origin.session_id, origin.message_id, origin.speaker) if text)
    yield from (text for text in (memory.summary, memory.source, memory.outcome) if text)
    yield from (*memory.tags, *memory.key_entities)
    for claim in memory.claims:
        yield from (claim.subject, claim.attribute, claim.value)
    for attachment in memory.attachments:
        yield from (attachment.type, attachment.url, attachment.description)


def injections(memory: Memory) -> tuple[str, ...]:
    """The kinds of prompt injection in any text of the memory, or in several of them read together."""
    return found_in_any(texts_of(memory))


def newly_injected(before: Memory, after: Memory) -> tuple[str, ...]:
    """The kinds that a change brings in: by a text that changed, or by a row that comes back from being forgotten. A text
    that a reviewer let in stays in, as long as nobody changes it; and anything may be forgotten."""
    if after.is_forgotten:
        return ()
    if list(texts_of(before)) == list(texts_of(after)) and (not before.is_forgotten or _was_let_in(before)):
        return ()
    return injections(after)


def _was_let_in(memory: Memory) -> bool:
    return memory.quarantine_reason == QuarantineReason.INJECTION and memory.admitted_at is not None


def quarantined(memory: Memory) -> Memory:
    """The memory as it waits for review."""
    update: dict[str, Any] = {"status": Status.QUARANTINED, "quarantine_reason": QuarantineReason.INJECTION}
    return memory.model_copy(update=update | {"admitted_at": None, "archived_reason": None, "archived_at": None})


def told(kinds: tuple[str, ...]) -> str:
    """What a receipt says of it."""
    return f"quarantined: the text would instruct the assistant ({', '.join(kinds)}); it is not recalled, a reviewer decides"
