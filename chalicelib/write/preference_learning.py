"""Preference learning as a plugin: what was remembered of a conversation, or said in a session, is looked through for what
its user wants of answers, and that becomes memories in the user's own scope, with the messages that prove them."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.conversation import Message, speaker_of
from chalicelib.domain.memory import Memory, MemoryType
from chalicelib.plugins.hooks import Answered, Identity, Session, hook

if TYPE_CHECKING:
    from chalicelib.write.preferences import Preference

SOURCE = "preference_learning"
MOST_EVIDENCE = 50  # as many as a memory has links
Remember = Callable[[Caller, list[dict[str, Any]]], Any]


class PreferenceLearning:
    """The plugin. `remember` is the write path: what is learned passes cleaning, duplicates and admission like all else."""

    name = "preference_learning"
    description = "Learns from corrections and habits how a user wants answers, and remembers it with its proof."
    answers = ("remember",)

    def __init__(self, remember: Remember) -> None:
        self._remember = remember

    @hook
    def after_response(self, answered: Answered) -> None:
        """Learn from messages that were just remembered."""
        self._learn(answered.caller, messages_of(answered.memories, answered.caller.user_id))

    @hook
    def session_end(self, session: Session) -> None:
        """Learn from all that was said."""
        self._learn(session.caller, session.messages)

    def _learn(self, who: Identity, messages: Sequence[Message]) -> None:
        if Role.OBSERVER in who.roles or not messages:
            return
        from chalicelib.write.preferences import learn  # noqa: PLC0415 - a cold start pays nothing for the wording

        if not (found := learn(messages)):
            return
        # on_behalf_by has the write audited under this name beside the user's
        caller = Caller(
            who.org_id, who.user_id, frozenset({Role.MEMBER}), credential=f"plugin:{SOURCE}", on_behalf_by=SOURCE
        )
        self._remember(caller, [item(preference) for preference in found])


def messages_of(memories: Sequence[Memory], user_id: str) -> list[Message]:
    """The messages that memories were made of, in their order: those that say in which conversation they were said and by
    whom. What is a preference already, or was learned here, is none."""
    return [
        Message(
            id=memory.origin.message_id or memory.id,
            speaker=speaker_of(memory.origin.speaker, user_id),
            text=memory.content,
            at=memory.event_time,
        )
        for memory in memories
        if memory.origin
        and memory.origin.speaker
        and memory.user_id == user_id
        and memory.type is not MemoryType.PREFERENCE
        and memory.source != SOURCE
    ]


def item(preference: "Preference") -> dict[str, Any]:
    """The memory to remember for a preference, as a caller would send it."""
    return {
        "content": preference.content,
        "summary": preference.summary,
        "type": MemoryType.PREFERENCE.value,
        "tags": [f"preference:{preference.attribute}"],
        "importance": preference.importance,
        "confidence": preference.confidence,
        "claims": [{"subject": "answers", "attribute": preference.attribute, "value": preference.value}],
        "eventTime": preference.at.isoformat(),
        "links": [{"kind": "evidence", "target": id_} for id_ in preference.evidence[-MOST_EVIDENCE:]],
        "source": SOURCE,
    }
