"""Whether one JSON schema breaks what was built for another: of what is asked it may only take more, of what is answered it
may only promise more."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]
Found = Iterator[str]
_LOWER_BOUNDS = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum")
_UPPER_BOUNDS = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum")
_FORMS = ("pattern", "format")


@dataclass(frozen=True)
class Pair:
    """The two documents that schemas refer into, and the pairs of names that are being compared already."""

    old: Schema
    new: Schema
    _under_way: set[tuple[str, str, bool]] = field(default_factory=set)

    def of_old(self, schema: Schema) -> Schema:
        """What a schema of the old document refers to, or itself."""
        return _resolved(self.old, schema)

    def of_new(self, schema: Schema) -> Schema:
        """What a schema of the new document refers to, or itself."""
        return _resolved(self.new, schema)

    def begins(self, old: Schema, new: Schema, *, asked: bool) -> bool:
        """Whether this comparison is the first of its kind; a schema that holds itself is compared once."""
        if "$ref" not in old or "$ref" not in new:
            return True
        key = (old["$ref"], new["$ref"], asked)
        known = key in self._under_way
        self._under_way.add(key)
        return not known

    def ends(self, old: Schema, new: Schema, *, asked: bool) -> None:
        """The comparison is over: at another place it is made again, for its own message."""
        self._under_way.discard((old.get("$ref", ""), new.get("$ref", ""), asked))


def schema_breaks(pair: Pair, old: Schema, new: Schema, place: str, *, asked: bool) -> Found:
    """What breaks, each with its place. Where a schema has alternatives, each that was taken must still be taken, and each
    that is answered must have been one before."""
    if not pair.begins(old, new, asked=asked):
        return
    before, after = _alternatives(pair.of_old(old)), _alternatives(pair.of_new(new))
    for fixed in before if asked else after:
        others = after if asked else before
        tries = [
            list(_one(pair, *((fixed, other) if asked else (other, fixed)), place, asked=asked)) for other in others
        ]
        yield from min(tries, key=len)
    pair.ends(old, new, asked=asked)


def _one(pair: Pair, old: Schema, new: Schema, place: str, *, asked: bool) -> Found:
    old, new = pair.of_old(old), pair.of_new(new)
    if "anyOf" in old or "anyOf" in new:
        yield from schema_breaks(pair, old, new, place, asked=asked)
        return
    wider, narrower = (new, old) if asked else (old, new)
    if not _takes_type(wider.get("type"), narrower.get("type")):
        yield f"{place}: the type was {old.get('type', 'any')} and is {new.get('type', 'any')}"
        return
    if asked:
        yield from _narrowed(old, new, place)
    yield from _field_breaks(pair, old, new, place, asked=asked)
    for inner, step in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(old.get(inner), dict) and isinstance(new.get(inner), dict):
            yield from schema_breaks(pair, old[inner], new[inner], f"{place}{step}", asked=asked)


def _field_breaks(pair: Pair, old: Schema, new: Schema, place: str, *, asked: bool) -> Found:
    before, after = old.get("properties", {}), new.get("properties", {})
    needed_before, needed = set(old.get("required", ())), set(new.get("required", ()))
    for name in before.keys() - after.keys():
        if not asked:
            yield f"{place}.{name}: the field is gone"
        elif new.get("additionalProperties") is False:
            yield f"{place}.{name}: the field is no longer taken"
    for name in needed - needed_before if asked else (needed_before & after.keys()) - needed:
        yield f"{place}.{name}: the field {'is required now' if asked else 'may be missing now'}"
    for name in before.keys() & after.keys():
        yield from schema_breaks(pair, before[name], after[name], f"{place}.{name}", asked=asked)


def _narrowed(old: Schema, new: Schema, place: str) -> Found:
    values, kept = _values(old), _values(new)
    if kept is not None and (values is None or not all(value in kept for value in values)):
        gone = "anything else" if values is None else ", ".join(str(v) for v in values if v not in kept)
        yield f"{place}: the enum no longer has {gone}"
    for bound in _LOWER_BOUNDS:
        if bound in new and new[bound] > old.get(bound, float("-inf")):
            yield f"{place}: {bound} was {old.get(bound, 'open')} and is {new[bound]}"
    for bound in _UPPER_BOUNDS:
        if bound in new and new[bound] < old.get(bound, float("inf")):
            yield f"{place}: {bound} was {old.get(bound, 'open')} and is {new[bound]}"
    for form in _FORMS:
        if form in new and new[form] != old.get(form):
            yield f"{place}: {form} was {old.get(form, 'open')} and is {new[form]}"
    if new.get("additionalProperties") is False and old.get("additionalProperties") is not False:
        yield f"{place}: unknown fields are no longer taken"


def _takes_type(wider: Any, narrower: Any) -> bool:
    return wider in {None, narrower} or (wider, narrower) == ("number", "integer")


def _values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _alternatives(schema: Schema) -> list[Schema]:
    if "anyOf" in schema:
        rest = {name: value for name, value in schema.items() if name != "anyOf"}
        return [{**rest, **choice} for choice in schema["anyOf"]]
    kinds = schema.get("type")
    return [{**schema, "type": kind} for kind in kinds] if isinstance(kinds, list) else [schema]


def _resolved(document: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Any = document
    for step in schema["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    rest = {name: value for name, value in schema.items() if name != "$ref"}
    return {**_resolved(document, found), **rest}
