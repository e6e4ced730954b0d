"""The Soul: who the assistant is, as an organization's admin set it up. Knowledge never edits it."""

import hashlib
import json
from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.domain.wire import UtcTime, Wire

MAX_VALUES = 20
Value = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Soul(Wire):
    """Character, values, mood and persona of an assistant. An empty one says nothing. Equal ones hash alike."""

    name: str = Field(default="", max_length=100)
    character: str = Field(default="", max_length=2000, description="what it is like")
    values: tuple[Value, ...] = Field(default=(), max_length=MAX_VALUES, description="the most important first")
    mood: str = Field(default="", max_length=200)
    persona: str = Field(default="", max_length=4000, description="whom it speaks as, and how")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was set up."""
        return not (self.name or self.character or self.values or self.mood or self.persona)

    @property
    def digest(self) -> str:
        """The SHA-256 of its content, in hex: the same in every process, and another for any other content."""
        content = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(content.encode()).hexdigest()


class StoredSoul(Wire):
    """A Soul as it is kept: who set it up, and when."""

    soul: Soul
    updated_at: UtcTime
    updated_by: str
