"""One translation of pydantic's findings into the product's error: the field by its path on the wire, and what is wrong."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from pydantic import BaseModel, ValidationError

from chalicelib.errors import InvalidInput

_MOST = 20


def validated[T: BaseModel](model: type[T], value: Mapping[str, Any], prefix: str = "") -> T:
    """`value` as a `model`. InvalidInput names the first wrong field and lists all; values are never repeated back."""
    try:
        return model.model_validate(dict(value), by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        problems = [
            {"field": prefix + (".".join(str(part) for part in item["loc"]) or "body"), "message": _message(item)}
            for item in islice((one for one in found if not _follows(one, found)), _MOST)
        ]
        first = problems[0]
        raise InvalidInput(first["field"], first["message"], problems=problems) from None


def _follows(item: Any, found: Sequence[Any]) -> bool:
    """Whether a list is only found too short since some of its items are wrong."""
    return item["type"] == "too_short" and any(
        len(one["loc"]) > len(item["loc"]) for one in found if _within(one, item)
    )


def _within(one: Any, item: Any) -> bool:
    return bool(one["loc"][: len(item["loc"])] == item["loc"])


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "is not a known field"
    text = str(item["msg"]).removeprefix("Value error, ")
    return text.replace("a valid tuple", "a list").replace("Tuple should", "List should")  # JSON has no other word
