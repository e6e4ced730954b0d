"""Cleaning of what comes in: every string of every field, whichever way it came, before anything else sees it."""

from typing import Any

from pydantic.alias_generators import to_camel

from chalicelib.domain.keys import checked_id
from chalicelib.domain.memory import MAX_CONTENT_BYTES
from chalicelib.domain.text.cleaning import clean, is_blank
from chalicelib.domain.text.secrets import redact
from chalicelib.domain.validation import validated
from chalicelib.domain.wire import Wire
from chalicelib.errors import InvalidInput

_IDS = frozenset({"scope_id", "session_id", "message_id", "target"})


def cleaned[T: Wire](model: T) -> tuple[T, tuple[str, ...]]:
    """`model` with every string in one Unicode form and without secrets, and the kinds of secrets that were in it.

    InvalidInput names the field of an id that is none or looks like a secret, and of a text that is not valid Unicode.
    """
    found: dict[str, None] = {}
    changed = _cleaned_model(model, "", found)
    if changed is not model:  # what cleaning took away or put in may leave a field too short or too long
        changed = validated(type(model), changed.model_dump(by_alias=True, exclude_unset=True))
    return changed, tuple(found)


def checked_content(content: str, field: str) -> str:
    """`content` where it is not blank and within 16 KB."""
    if is_blank(content):
        raise InvalidInput(field, "must not be empty")
    return checked_size(content, field)


def checked_size(content: str, field: str) -> str:
    """`content` where it is within 16 KB; asked before cleaning too, which takes its time on a long text."""
    if (size := len(content.encode(errors="surrogatepass"))) > MAX_CONTENT_BYTES:
        raise InvalidInput(field, f"is {size} bytes; at most {MAX_CONTENT_BYTES} are allowed", limit=MAX_CONTENT_BYTES)
    return content


def checked_tags(tags: tuple[str, ...], field: str) -> tuple[str, ...]:
    """The tags, each once, none blank."""
    for i, tag in enumerate(tags):
        if is_blank(tag):
            raise InvalidInput(f"{field}.{i}", "must not be empty")
    return tuple(dict.fromkeys(tags))


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
    try:
        text, labels = redact(clean(value))
    except UnicodeEncodeError:
        raise InvalidInput(path, "is not valid Unicode") from None
    if name in _IDS:
        if labels:
            raise InvalidInput(path, f"looks like a secret ({labels[0]})")
        return checked_id(value, path)
    found.update(dict.fromkeys(labels))
    return text
