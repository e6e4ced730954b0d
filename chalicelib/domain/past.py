"""Memories as they were: what a reader of an earlier time would have been shown of a row, if anything."""

from datetime import datetime

from chalicelib.domain.memory import Memory, Status


def as_it_was(memory: Memory, at: datetime) -> Memory | None:
    """The memory as it was true and known at that time, in the revision of then; None where it was not.

    It was known from when it was admitted, and true from its event time until it expired or was archived. Of an earlier text
    neither vectors nor claims are kept. What was forgotten or waits for review since is shown of no time."""
    if memory.is_forgotten or memory.status is Status.QUARANTINED or memory.event_time > at:
        return None
    if max(memory.created_at, memory.admitted_at or memory.created_at) > at or memory.is_expired(at):
        return None
    if memory.status is Status.ARCHIVED and (memory.archived_at is None or memory.archived_at <= at):
        return None
    active = {"status": Status.ACTIVE, "archived_reason": None, "archived_at": None}
    return _in_revision_of(memory, at).model_copy(update=active)


def _in_revision_of(memory: Memory, at: datetime) -> Memory:
    """With the texts of that time: the latest state that had begun."""
    if memory.edited_at is None or memory.edited_at <= at:
        return memory
    state = next((state for state in reversed(memory.history) if state.edited_at <= at), None)
    if state is None:
        return memory
    update = {"content": state.content, "summary": state.summary, "tags": state.tags, "revision": state.revision}
    if state.content != memory.content:
        update |= {"embedding": None, "claims": ()}
    return memory.model_copy(update=update)
