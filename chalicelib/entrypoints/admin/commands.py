"""What a command of an admin is: arguments that are checked, and work that is done in slices."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chalicelib.domain.wire import Wire

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

Object = dict[str, Any]
"""Of JSON."""


class NoArguments(Wire):
    """Nothing is asked beside the command."""


@dataclass(frozen=True)
class Turn:
    """One slice of a command's work: where the slice before it ended, empty in the first, and whether its own time is up."""

    cursor: Object = field(default_factory=dict)
    time_is_up: Callable[[], bool] = lambda: False

    def count(self, name: str) -> int:
        """A number that the slices before have come to."""
        found = self.cursor.get(name, 0)
        return found if isinstance(found, int) else 0


@dataclass(frozen=True)
class Progress:
    """How far a command is. `progress` counts from its beginning, `output` is what this slice alone gives out. Where there
    is a `cursor` it is not finished. `failed` says that some of the work could not be done."""

    progress: Object
    output: tuple[Object, ...] = ()
    cursor: Object | None = None
    failed: bool = False

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to do."""
        return self.cursor is None


@dataclass(frozen=True)
class Command[A: Wire]:
    """A command by its name. `run` does a slice of it and may be killed: the same command given again does what is left.
    An error of the product ends it."""

    name: str
    does: str
    arguments: type[A]
    run: "Callable[[Container, A, Turn], Progress]"
