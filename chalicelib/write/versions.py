"""What a memory said at a revision, and how much of that it may keep."""

from chalicelib.domain.memory import Memory, Revision
from chalicelib.errors import TooLarge

MAX_HISTORY_BYTES = 1_000_000
"""Nothing of a history is dropped, so it must end: an answer may have 6 MB on Lambda, a document 16 MB in MongoDB."""


def present_state(memory: Memory) -> Revision:
    """What a memory says now, as its history will keep it."""
    return Revision(
        revision=memory.revision,
        content=memory.content,
        summary=memory.summary,
        tags=memory.tags,
        edited_by=memory.edited_by or memory.user_id,
        edited_at=memory.edited_at or memory.created_at,
    )


def with_present(memory: Memory) -> tuple[Revision, ...]:
    """Its history, with what it says now as the last. TooLarge where it has as much as a memory may keep."""
    if not has_room(memory):
        raise TooLarge(
            f"the memory's history has {MAX_HISTORY_BYTES} bytes, as many as one may have: remember it as a new one",
            field="history",
            limit=MAX_HISTORY_BYTES,
        )
    return (*memory.history, present_state(memory))


def has_room(memory: Memory) -> bool:
    """Whether its history may get another state."""
    states = (*memory.history, present_state(memory))
    return sum(len(text.encode()) for state in states for text in _texts(state)) <= MAX_HISTORY_BYTES


def _texts(state: Revision) -> tuple[str, ...]:
    return (state.content, state.summary or "", *state.tags)
