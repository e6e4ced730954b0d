"""Memory versioning as a plugin: where an organization has it off, answers show no history. It is kept all the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.caller import Caller
from chalicelib.domain.memory import Memory
from chalicelib.domain.plugins import HookName
from chalicelib.errors import NotFound
from chalicelib.plugins.frozen import shown
from chalicelib.plugins.hooks import Answering, Identity, ResponseChange, hook
from chalicelib.plugins.manager import NotAllowed, Plugins, given
from chalicelib.plugins.registry import Registered


class MemoryVersioning:
    """The plugin."""

    name = "memory_versioning"
    description = "Shows the earlier revisions of memories. Switched off, they are hidden, and kept."
    order = 0
    answers = ("memories",)

    @hook
    def before_response(self, answer: Answering) -> ResponseChange:  # noqa: ARG002 - the hook's form
        """Show the history of what was read."""
        return ResponseChange(history=True)


@dataclass(frozen=True)
class Versions:
    """What readers see of the history of memories."""

    plugins: Plugins

    def shown(self, caller: Caller, memories: Sequence[Memory]) -> tuple[Memory, ...]:
        """`memories` with their history, or without it where it is hidden from the caller's organization."""
        hidden = not self._are_shown(caller, memories)
        return tuple(_without_history(memory) if hidden else memory for memory in memories)

    def require(self, caller: Caller) -> None:
        """NotFound where history is hidden: an earlier revision is then nothing that there is."""
        if not self._are_shown(caller, ()):
            raise NotFound("the history of memories is hidden in this organization", plugin=MemoryVersioning.name)

    def _are_shown(self, caller: Caller, memories: Sequence[Memory]) -> bool:
        def show(_: bool) -> Answering:  # noqa: FBT001 - the state that plugins change
            seen = tuple(shown(memory) for memory in memories)
            return Answering(caller=Identity.of(caller), kind="memories", memories=seen)

        hidden = False
        is_shown, _ = self.plugins.run(
            HookName.BEFORE_RESPONSE, caller.org_id, hidden, kind="memories", show=show, accept=_shows
        )
        return is_shown


def _shows(is_shown: bool, value: Any, plugin: Registered) -> bool:  # noqa: FBT001 - the state that plugins change
    change = given(ResponseChange, value)
    if change.order is not None or change.notes or (change.history and not plugin.is_built_in):
        raise NotAllowed("it may not change memories that are read")
    return is_shown or change.history


def _without_history(memory: Memory) -> Memory:
    return memory.model_copy(update={"history": ()}) if memory.history else memory
