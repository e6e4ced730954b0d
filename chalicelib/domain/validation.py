"""One translation of pydantic's findings into the product's error: the field by its path on the wire, and what is wrong."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from chalicelib.errors import InvalidInput

_MOST = 20


def validated[T: BaseModel](model: type[T], value: Mapping[str, Any], prefix: str = "") -> T:
    """`value` as a `model`. InvalidInput names the first wrong field and lists all; values are never repeated back."""
    try:
        return model.model_validate(dict(value), by_name=False)
    except ValidationError as error:
        problems = [
            {"field": prefix + (".".join(str(part) for part in item["loc"]) or "body"), "message": _message(item)}
            for item in error.errors(include_url=False, include_input=False)[:_MOST]
        ]
        first = problems[0]
        raise InvalidInput(first["field"], first["message"], problems=problems) from None


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "is not a known field"
    return str(item["msg"]).removeprefix("Value error, ")
