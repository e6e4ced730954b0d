"""Cleaning of what comes in: every string of every field, whichever way it came, before anything else sees it."""

from typing import Any

from pydantic.alias_generators import to_camel

from chalicelib.domain.keys import checked_id
from chalicelib.domain.text.cleaning import clean
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.errors import InvalidInput

_IDS = frozenset({"id", "scope_id", "space_id", "universe_id", "session_id", "message_id", "target"})


def cleaned[T: Wire](model: T, prefix: str = "") -> tuple[T, tuple[str, ...]]:
    """`model` with every string in one Unicode form and without secrets, and the kinds of secrets that were in it.

    InvalidInput names the field of an id that is none or looks like a secret, and of a text that is not valid Unicode; its
    path begins with `prefix`.
    """
    found: dict[str, None] = {}
    changed = _cleaned_model(model, prefix, found)
    if changed is not model:  # what cleaning took away or put in may leave a field too short or too long
        changed = validated(type(model), changed.model_dump(by_alias=True, exclude_unset=True), prefix)
    return changed, tuple(found)


def checked_external_id(value: str, field: str) -> str:
    """`value` where it can be an id and does not look like a secret. InvalidInput names `field` otherwise."""
    try:
        _, labels = redact(clean(value))
    except UnicodeEncodeError:
        raise InvalidInput(field, "is not valid Unicode") from None
    if labels:
        raise InvalidInput(field, f"looks like a secret ({labels[0]})")
    return checked_id(value, field)


def _cleaned_model[T: Wire](model: T, prefix: str, found: dict[str, None]) -> T:
    values = {n: _cleaned(getattr(model, n), n, prefix + to_camel(n), found) for n in type(model).model_fields}
    changed = {name: value for name, value in values.items() if value != getattr(model, name)}
    return model.model_copy(update=changed) if changed else model


def _cleaned(value: Any, name: str, path: str, found: dict[str, None]) -> Any:
    if isinstance(value, Wire):
        return _cleaned_model(value, f"{path}.", found)
    if isinstance(value, tuple):
        return tuple(_cleaned(item, name, f"{path}.{i}", found) for i, item in enumerate(value))
    if type(value) is not str:
        return value
    if name in _IDS:
        return checked_external_id(value, path)
    try:
        text, labels = redact(clean(value))
    except UnicodeEncodeError:
        raise InvalidInput(path, "is not valid Unicode") from None
    found.update(dict.fromkeys(labels))
    return text
