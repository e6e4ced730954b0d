"""The base of every model that crosses the wire: camelCase names outside, frozen, and nothing unknown let through."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue
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


_DATE_FIRST = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:")


def _no_number(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and _DATE_FIRST.match(value)):
        return value
    raise ValueError("must be an ISO 8601 time such as 2026-03-01T12:00:00Z")


def _no_word(value: Any) -> Any:
    if isinstance(value, bool) or (isinstance(value, str) and value in {"true", "false"}):
        return value
    raise ValueError("must be true or false")


def _no_flag_or_text(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic reports ValueError alone
    return value


UtcTime = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(utc)]
"""A time with its zone, kept in UTC. A time without a zone is refused, and so is a number: they would be guessed."""

Flag = Annotated[bool, BeforeValidator(_no_word)]
"""true or false of JSON or of a query string, and nothing that could be taken for it."""

JSON_NUMBER = BeforeValidator(_no_flag_or_text)
"""Takes a number of JSON, and no flag or text that could be read as one. Bounds stand before it, or no schema has them."""

Share = Annotated[float, Field(ge=0, le=1), JSON_NUMBER]
"""A number of JSON from 0 to 1."""


class Wire(BaseModel):
    """Frozen, camelCase, and an unknown field is an error."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        frozen=True,
        extra="forbid",
        defer_build=True,  # a validator is built when it is first used: together they are a fifth of a cold start
    )


SAYS_SOMETHING: dict[str, JsonValue] = {"minLength": 1, "pattern": r"\S"}
"""How the schema of a text says that it may not be blank; what counts as blank is held where the text is cleaned."""
