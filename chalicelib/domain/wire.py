"""The base of every model that crosses the wire: camelCase names outside, frozen, and nothing unknown let through."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


def utc(value: datetime) -> datetime:
    """`value` in UTC, cut to milliseconds, which is what MongoDB keeps."""
    if value.tzinfo is UTC and value.microsecond % 1000 == 0:  # as every store gives it
        return value
    try:
        value = value.astimezone(UTC)
    except OverflowError:
        raise ValueError("is out of range") from None
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def epoch_ms(value: datetime) -> int:
    """Milliseconds since 1970."""
    return round(value.timestamp() * 1000)


UtcTime = Annotated[AwareDatetime, AfterValidator(utc)]
"""A time with its zone, kept in UTC. A time without a zone is refused: it would be guessed."""


class Wire(BaseModel):
    """Frozen, camelCase, and an unknown field is an error."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        defer_build=True,  # a validator is built when it is first used: together they are a fifth of a cold start
    )
