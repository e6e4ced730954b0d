"""The prospective index as a plugin: where an organization has it off, no questions are written, and none are matched."""

from collections.abc import Callable, Sequence

from chalicelib.domain.memory import Memory
from chalicelib.plugins.hooks import Answered, hook


class ProspectiveIndex:
    """The plugin. `ask` has the questions of stored memories written, later and elsewhere."""

    name = "prospective_index"
    description = "Has questions written that memories will answer, and finds memories by them."
    answers = ("remember",)

    def __init__(self, ask: Callable[[Sequence[Memory]], None]) -> None:
        self._ask = ask

    @hook
    def after_response(self, answered: Answered) -> None:
        """Have the questions of what was just remembered written."""
        self._ask(answered.memories)
