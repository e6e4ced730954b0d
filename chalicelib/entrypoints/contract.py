"""What a route takes, gives and may refuse, said once where it is registered.

Requests are read by it (`http`), answers take their status from it, and the OpenAPI document is made of it (`openapi`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, ClassVar

from pydantic import BaseModel

from chalicelib import errors
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire

REVISION_HEADER = r'^(W/)?"?[0-9]{1,9}"?$'
IDEMPOTENCY_KEY_CHARACTERS = 255

ANYWHERE = (
    errors.Unauthenticated,
    errors.Forbidden,
    errors.BeingErased,
    errors.TooLarge,
    errors.InvalidInput,
    errors.StoreUnavailable,
    errors.VittoError,
)
"""What every route may answer, the open ones too: a credential that does not hold is refused wherever it is shown."""


class NoQuery(Wire):
    """A route without query parameters."""


class Answer(Wire):
    """What a route answers. A field that is None is left out, unless it is one of `said_when_null`."""

    said_when_null: ClassVar[tuple[str, ...]] = ()


class Listing(Answer):
    """A page of a list."""

    said_when_null = ("cursor",)


def on_wire(answer: BaseModel) -> dict[str, Any]:
    """An answer as JSON has it."""
    said = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    for name in answer.said_when_null if isinstance(answer, Answer) else ():
        said.setdefault(name, None)
    return said


@dataclass(frozen=True)
class Takes[Q: Wire, B]:
    """The model of the query string; how a body is read, what it is documented as, and an example a kind of it."""

    query: type[Q]
    read: Callable[[dict[str, Any]], B]
    body: Any = None
    examples: Mapping[str, Any] = field(default_factory=dict)


def _unread(_: dict[str, Any]) -> None:
    return None


NOTHING: Takes[NoQuery, None] = Takes(NoQuery, _unread)
"""Neither a query nor a body."""


def in_query[Q: Wire](model: type[Q]) -> Takes[Q, None]:
    """Query parameters, and no body."""
    return Takes(model, _unread)


def in_body[B: Wire](model: type[B], **examples: Any) -> Takes[NoQuery, B]:
    """A body that the handler gets as a `model`."""
    return Takes(NoQuery, lambda sent: validated(model, sent), model, examples)


def as_sent(documented: Any, **examples: Any) -> Takes[NoQuery, dict[str, Any]]:
    """A body that the handler gets as it came, for a core that reads it by the model that is `documented` itself."""
    return Takes(NoQuery, dict, documented, examples)


@dataclass(frozen=True)
class RequestHeader:
    """A header that a route reads besides the credential."""

    name: str
    description: str
    schema: Mapping[str, Any]
    example: str
    required: bool = False


IDEMPOTENCY_KEY = RequestHeader(
    "Idempotency-Key",
    "The same key and body get the first receipts again for 7 days; another body is a 409.",
    {"type": "string", "minLength": 1, "maxLength": IDEMPOTENCY_KEY_CHARACTERS},
    "import-7f3a-0001",
)
_REVISION = {"type": "string", "pattern": REVISION_HEADER}
EDITED_REVISION = RequestHeader(
    "If-Match", "The revision that the change was made against, as `ETag` gave it.", _REVISION, '"1"', required=True
)
RESTORED_OVER = RequestHeader(
    "If-Match", "The present revision; without it an earlier state is restored over whichever it is.", _REVISION, '"2"'
)


@dataclass(frozen=True)
class Gives:
    """The model of the answer, or a union of them, and its status. `otherwise` is a further status that has the same
    model; with `etag`, the revision of what is answered is in that header. `leads_to` names operations that the answer has
    the parameters of, each by its place in the answer."""

    model: Any
    status: HTTPStatus = HTTPStatus.OK
    otherwise: HTTPStatus | None = None
    etag: bool = False
    leads_to: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """One route, as the contract has it. `raises` are the errors of its own, besides those of `ANYWHERE`."""

    method: str
    path: str
    name: str
    feature: str
    description: str
    takes: Takes[Any, Any]
    gives: Gives
    raises: tuple[type[errors.VittoError], ...] = ()
    headers: tuple[RequestHeader, ...] = ()
    is_open: bool = False

    @property
    def errors(self) -> tuple[type[errors.VittoError], ...]:
        """Every error that it may answer."""
        unreadable = () if self.is_open else (errors.MalformedRequest,)  # a body where none is taken is read too
        lost = (errors.NotFound,) if "{" in self.path else ()
        return tuple(dict.fromkeys((*ANYWHERE, *unreadable, *lost, *self.raises)))
