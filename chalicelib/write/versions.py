"""What a memory said at a revision."""

from chalicelib.domain.memory import Memory, Revision


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
