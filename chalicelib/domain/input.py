"""What callers may say of a memory: a new one, and changes to one."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from chalicelib.domain.memory import Attachment, Claim, Link, MemoryType, Origin
from chalicelib.domain.scope import Scope
from chalicelib.domain.wire import UtcTime, Wire

MAX_BATCH = 100  # spec/api.md "Limits"
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=50)]


class MemoryInput(Wire):
    """A memory to remember. `scope` defaults to the narrowest, the caller's own; `type` to fact; `eventTime` to now."""

    content: str
    scope: Scope = Scope.USER
    scope_id: str | None = Field(default=None, description="may be left out for organization and user scope")
    type: MemoryType = MemoryType.FACT
    summary: str | None = Field(default=None, max_length=2000)
    tags: Tags = ()
    key_entities: Tags = ()
    importance: float = Field(default=0.5, ge=0, le=1)
    overridable: bool = Field(default=True, description="false makes it policy; takes an admin")
    source: str | None = Field(default=None, max_length=200)
    origin: Origin | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    claims: Annotated[tuple[Claim, ...], Field(max_length=20)] = ()
    event_time: UtcTime | None = None
    expires_at: UtcTime | None = None
    links: Annotated[tuple[Link, ...], Field(max_length=50)] = ()
    outcome: str | None = Field(default=None, max_length=1000)
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=20)] = ()


class MemoryPatch(Wire):
    """Changes to a memory. A field that is absent stays; `null` clears summary, expiresAt and outcome."""

    content: str | None = None
    summary: str | None = Field(default=None, max_length=2000)
    tags: Tags | None = None
    key_entities: Tags | None = None
    type: MemoryType | None = None
    importance: float | None = Field(default=None, ge=0, le=1)
    overridable: bool | None = None
    event_time: UtcTime | None = None
    expires_at: UtcTime | None = None
    outcome: str | None = Field(default=None, max_length=1000)

    @field_validator("content", "tags", "key_entities", "type", "importance", "overridable", "event_time")
    @classmethod
    def _null_clears_only_what_can_be_absent[T](cls, value: T | None) -> T:
        if value is None:
            raise ValueError("cannot be null")
        return value

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("at least one field has to change")
        return self
