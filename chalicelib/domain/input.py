"""What callers may say of a memory: a new one, and changes to one."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, StringConstraints, field_validator, model_validator

from chalicelib.domain.keys import MAX_ID_BYTES
from chalicelib.domain.memory import MAX_CONTENT_BYTES, Attachment, Claim, Link, MemoryType, Origin
from chalicelib.domain.scope import Scope
from chalicelib.domain.wire import SAYS_SOMETHING, Flag, Share, UtcTime, Wire

MAX_BATCH = 100  # spec/api.md "Limits"
MAX_MESSAGES = 20  # a judgement looks at the last few
NEVER_NULL = ("content", "tags", "key_entities", "type", "importance", "overridable", "event_time")
Content = Annotated[
    str,
    Field(
        description=f"Not blank; at most {MAX_CONTENT_BYTES} bytes of UTF-8.",
        json_schema_extra={**SAYS_SOMETHING, "maxLength": MAX_CONTENT_BYTES},
    ),
]
"""Its limits are documented here and held in `write.cleaning`, in bytes, which JSON Schema cannot count."""
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=50)]


class SaidMessage(Wire):
    """What somebody said: evidence for a memory, or what came before it."""

    speaker: str | None = Field(default=None, min_length=1, max_length=128)
    text: str = Field(max_length=MAX_CONTENT_BYTES)


class MemoryInput(Wire):
    """A memory to remember. `scope` defaults to the narrowest, the caller's own; `type` to fact; `eventTime` to now."""

    content: Content
    scope: Scope = Scope.USER
    scope_id: str | None = Field(
        default=None,
        description=f"may be left out for organization and user scope; at most {MAX_ID_BYTES} bytes of UTF-8",
        json_schema_extra={"minLength": 1, "maxLength": MAX_ID_BYTES},
    )
    type: MemoryType = MemoryType.FACT
    summary: str | None = Field(default=None, max_length=2000)
    tags: Tags = ()
    key_entities: Tags = ()
    importance: Share = 0.5
    overridable: Flag = Field(default=True, description="false makes it policy; takes an admin")
    source: str | None = Field(default=None, max_length=200)
    origin: Origin | None = None
    confidence: Share | None = None
    claims: Annotated[tuple[Claim, ...], Field(max_length=20)] = ()
    event_time: UtcTime | None = None
    expires_at: UtcTime | None = None
    links: Annotated[tuple[Link, ...], Field(max_length=50)] = ()
    outcome: str | None = Field(default=None, max_length=1000)
    attachments: Annotated[tuple[Attachment, ...], Field(max_length=20)] = ()
    messages: Annotated[tuple[SaidMessage, ...], Field(max_length=MAX_MESSAGES)] = Field(
        default=(),
        description="what it was taken from, or what was said before it, the latest last; judged, not stored",
    )


class RequestFlags(Wire):
    """How to remember."""

    dry_run: Flag = Field(default=False, description="true answers the verdicts and stores nothing")


class BatchFlags(RequestFlags):
    """How to remember a batch."""

    trusted: Flag = Field(
        default=False, description="true admits whatever the scores, but no injection; takes an admin"
    )


class MemoryRequest(MemoryInput, RequestFlags):
    """One memory to remember."""


class MemoryBatch(BatchFlags):
    """Memories to remember, each with a receipt of its own."""

    memories: tuple[MemoryInput, ...] = Field(min_length=1, max_length=MAX_BATCH)


def _documented_patch(schema: dict[str, Any]) -> None:
    """What the validators of a patch hold, said in its JSON schema: a change at least, and null only where it clears."""
    schema["minProperties"] = 1
    for name, field in MemoryPatch.model_fields.items():
        said = schema["properties"][field.alias or name]
        if name in NEVER_NULL:
            (kind,) = (choice for choice in said.pop("anyOf") if choice != {"type": "null"})
            said.update(kind)
        said.pop("default", None)


class MemoryPatch(Wire):
    """Changes to a memory. A field that is absent stays; `null` clears summary, expiresAt and outcome."""

    model_config = ConfigDict(json_schema_extra=_documented_patch)

    content: Content | None = None
    summary: str | None = Field(default=None, max_length=2000)
    tags: Tags | None = None
    key_entities: Tags | None = None
    type: MemoryType | None = None
    importance: Share | None = None
    overridable: Flag | None = None
    event_time: UtcTime | None = None
    expires_at: UtcTime | None = None
    outcome: str | None = Field(default=None, max_length=1000)

    @field_validator(*NEVER_NULL)
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
