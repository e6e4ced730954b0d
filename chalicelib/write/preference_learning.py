"""Preference learning as a plugin: what was remembered of a conversation, or said in a session, is looked through for what
its user wants of answers, and that becomes memories in the user's own scope, with the messages that prove them."""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.conversation import Message, speaker_of
from chalicelib.domain.keys import key
from chalicelib.domain.memory import Memory, MemoryType, Origin, Status
from chalicelib.domain.scope import Chain
from chalicelib.errors import IdempotencyConflict
from chalicelib.plugins.hooks import Answered, Session, hook
from chalicelib.ports import MemoryStore

if TYPE_CHECKING:
    from chalicelib.write.preferences import Preference

NAME = SOURCE = "preference_learning"
MOST_EVIDENCE = 50  # as many as a memory has links
Remember = Callable[[Caller, list[dict[str, Any]], str | None], Any]
"""Remembers items for a caller; under a name, for the first time alone."""


class PreferenceLearning:
    """The plugin. `later` has memories looked through from the queue, and says whether that will be done: learning takes
    longer on a busy machine than a plugin has, and a preference must not be lost. Where it will not, `learner` does it at
    once, and so it does with a session's messages, which are no memories that could be read again."""

    name = NAME
    description = "Learns from corrections and habits how a user wants answers, and remembers it with its proof."
    answers = ("remember",)

    def __init__(self, learner: "PreferenceLearner", later: Callable[[Sequence[Memory]], bool]) -> None:
        self._learner = learner
        self._later = later

    @hook
    def after_response(self, answered: Answered) -> None:
        """Have messages that were just remembered learned from."""
        said = [memory for memory in answered.memories if is_message(memory, answered.caller.user_id)]
        if said and not self._later(said):
            self._learner.learn(
                answered.caller.org_id, answered.caller.user_id, [message_of(memory) for memory in said]
            )

    @hook
    def session_end(self, session: Session) -> None:
        """Learn from all that was said."""
        who = session.caller
        if Role.OBSERVER not in who.roles:
            self._learner.learn(who.org_id, who.user_id, session.messages)


class PreferenceLearner:
    """Learns, in whichever process. `remember` is the write path: what is learned passes cleaning, duplicates and admission
    like all else."""

    def __init__(self, store: MemoryStore, remember: Remember, is_on: Callable[[str], bool]) -> None:
        self._store = store
        self._remember = remember
        self._is_on = is_on

    def learn_from(self, chain: Chain, ids: Sequence[str]) -> None:
        """Learn from memories of `chain`, each author for itself; what was forgotten meanwhile, or waits for review, teaches
        nothing, and nothing does where the plugin is off. A repeat changes nothing, not even what was forgotten since."""
        if not self._is_on(chain.org_id):
            return
        rows = {row.memory.id: row.memory for row in self._store.fetch(chain, ids)}
        said: dict[str, list[Message]] = {}
        for memory in (rows[id_] for id_ in ids if id_ in rows):
            counts = not memory.is_forgotten and memory.status is not Status.QUARANTINED
            if counts and is_message(memory, memory.user_id):
                said.setdefault(memory.user_id, []).append(message_of(memory))
        for user_id, messages in said.items():
            with contextlib.suppress(IdempotencyConflict):  # learned before one of the messages was edited
                self.learn(chain.org_id, user_id, messages, once=key(*chain.keys, *ids))

    def learn(self, org_id: str, user_id: str, messages: Sequence[Message], *, once: str | None = None) -> None:
        """Remember what messages show of what their user wants, in the user's own scope; with `once`, once under that
        name."""
        from chalicelib.write.preferences import learn  # noqa: PLC0415 - a cold start pays nothing for the wording

        if not (found := learn(messages)):
            return
        # on_behalf_by has the write audited under this name beside the user's
        caller = Caller(org_id, user_id, frozenset({Role.MEMBER}), credential=f"plugin:{SOURCE}", on_behalf_by=SOURCE)
        named = once and hashlib.sha256(once.encode()).hexdigest()
        self._remember(caller, [item(preference) for preference in found], named)


def is_message(memory: Memory, user_id: str) -> bool:
    """Whether a memory is something that was said in a conversation which the user remembered, and by whom is known. What is
    a preference already, or was learned here, is none."""
    spoken = memory.origin is not None and memory.origin.speaker is not None
    is_learned = memory.type is MemoryType.PREFERENCE or memory.source == SOURCE
    return spoken and memory.user_id == user_id and not is_learned


def message_of(memory: Memory) -> Message:
    """The message that such a memory was made of."""
    origin = memory.origin or Origin()
    return Message(
        id=origin.message_id or memory.id,
        speaker=speaker_of(origin.speaker or "", memory.user_id),
        text=memory.content,
        at=memory.event_time,
    )


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
