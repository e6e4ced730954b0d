"""What callers may say of a session: messages to append, and what a context is asked for; and the receipts of messages."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from chalicelib.domain.keys import MAX_ID_BYTES
from chalicelib.domain.session import MAX_MESSAGE_BYTES, MAX_MESSAGES, Extract
from chalicelib.domain.wire import JSON_NUMBER, UtcTime, Wire

MAX_BUDGET = 1_000_000
MAX_SYSTEM_CHARACTERS = 32_000
Budget = Annotated[int, Field(ge=1, le=MAX_BUDGET), JSON_NUMBER]
Id = Annotated[str, Field(json_schema_extra={"minLength": 1, "maxLength": MAX_ID_BYTES})]
"""Held in bytes where it is cleaned (`domain.incoming`)."""
Text = Annotated[
    str,
    Field(
        description=f"Not blank; at most {MAX_MESSAGE_BYTES} bytes of UTF-8.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_MESSAGE_BYTES},
    ),
]
"""Held in `context.drafting`. No pattern says that it is not blank: over so long a text, whoever makes data of the schema is
busy with it for long."""


class MessageInput(Wire):
    """A message to append. A user's is the caller's own; `name` is what the speaker is called, `at` when it was said, now
    where it is left out."""

    id: Id = Field(description="the same id with the same text gets the first receipt again, with another a 409")
    role: Literal["user", "assistant"]
    text: Text
    name: str | None = Field(default=None, min_length=1, max_length=MAX_ID_BYTES)
    at: UtcTime | None = None


class AppendRequest(Wire):
    """Messages to append, the latest last; none at all just begins the session. `spaceId` and `universeId` are named when
    it begins. `extract` and `totalBudget` hold from now on, until they are given again."""

    messages: tuple[MessageInput, ...] = Field(max_length=MAX_MESSAGES)
    space_id: Id | None = None
    universe_id: Id | None = None
    extract: Extract | None = Field(
        default=None, description="whether what users say becomes memories; the owner's to say"
    )
    total_budget: Budget | None = Field(
        default=None, description="tokens that contexts of this session have; what they leave no room for is compressed"
    )


class ContextRequest(Wire):
    """What the next turn is asked with: the query, the tokens that the whole prompt may take, of which `responseBuffer` are
    left for the answer, and the system instructions."""

    query: Text
    total_budget: Budget
    response_buffer: Annotated[int, Field(ge=0, le=MAX_BUDGET), JSON_NUMBER] = 0
    system: str = Field(default="", max_length=MAX_SYSTEM_CHARACTERS)

    @field_validator("response_buffer")
    @classmethod
    def _leaves_room(cls, value: int, info: ValidationInfo) -> int:
        total = info.data.get("total_budget")
        if total is not None and value >= total:
            raise ValueError("must be less than totalBudget, which the prompt shares with the answer")
        return value


class MessageReceipt(Wire):
    """What became of a message: `stored` at its position, or `skipped` with the reason. `redacted` are the kinds of secrets
    that were taken out of it. A repeat gets the same receipt."""

    id: str
    outcome: Literal["stored", "skipped"]
    position: int | None = None
    redacted: tuple[str, ...] = ()
    reason: str | None = None
