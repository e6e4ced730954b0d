"""A slice of a command as it is asked for, and as it is answered."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, JsonValue

from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.admin.commands import Turn
from chalicelib.entrypoints.admin.registry import COMMANDS
from chalicelib.errors import InvalidInput, MalformedRequest

if TYPE_CHECKING:
    from chalicelib.bootstrap import Container

SLICE_SECONDS = 60
LONGEST_SECONDS = 840  # of the 900 that the function has


class AdminRequest(Wire):
    """What the function `app.admin` is invoked with. `cursor` is the last answer's, as long as there was one; `seconds` is
    how long it may work before it answers how far it is."""

    command: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    cursor: dict[str, JsonValue] | None = None
    seconds: float = Field(default=SLICE_SECONDS, gt=0, le=LONGEST_SECONDS)


def request_of(event: Any) -> AdminRequest:
    """The request. MalformedRequest or InvalidInput, which names the field."""
    if not isinstance(event, Mapping):
        raise MalformedRequest("the payload is no JSON object")
    request = validated(AdminRequest, event)
    if request.command not in COMMANDS:
        raise InvalidInput("command", f"is none of {', '.join(sorted(COMMANDS))}")
    return request


def performed(services: "Container", request: AdminRequest, time_is_up: Callable[[], bool]) -> dict[str, Any]:
    """The answer to a request: `finished`, `failed`, `progress`, `output`, and the `cursor` to go on with."""
    command = COMMANDS[request.command]
    arguments = validated(command.arguments, request.arguments, "arguments.")
    made = command.run(services, arguments, Turn(request.cursor or {}, time_is_up))
    return {
        "finished": made.finished,
        "failed": made.failed,
        "progress": made.progress,
        "output": list(made.output),
        "cursor": made.cursor,
    }
