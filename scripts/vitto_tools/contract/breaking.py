"""What of a new OpenAPI document would break the clients of an old one, each with its place.

What is asked for may only widen and what is answered may only narrow. Not breaking: new routes, optional inputs, fields of
answers, and enum values of answers, which clients are told to expect.
"""

from collections.abc import Iterator
from typing import Any

from vitto_tools.contract.schemas import Pair, schema_breaks

Document = dict[str, Any]
Found = Iterator[str]
_METHODS = frozenset({"get", "put", "post", "patch", "delete"})


def breaking_changes(old: Document, new: Document) -> list[str]:
    """One line a change that breaks, with where it is; none where every client of `old` can go on with `new`."""
    return list(dict.fromkeys(_path_breaks(old, new)))


def _path_breaks(old: Document, new: Document) -> Found:
    for path, operations in old["paths"].items():
        if path not in new["paths"]:
            yield f"{path}: the path is gone"
            continue
        for method in operations.keys() & _METHODS:
            place = f"{method.upper()} {path}"
            if method not in new["paths"][path]:
                yield f"{place}: the operation is gone"
                continue
            yield from _operation_breaks(Pair(old, new), operations[method], new["paths"][path][method], place)


def _operation_breaks(pair: Pair, old: Document, new: Document, place: str) -> Found:
    if {} in old.get("security", ()) and {} not in new.get("security", ()):
        yield f"{place}: needs a credential now"
    yield from _parameter_breaks(pair, old, new, place)
    yield from _body_breaks(pair, old.get("requestBody"), new.get("requestBody"), place)
    yield from _answer_breaks(pair, old["responses"], new["responses"], place)


def _parameter_breaks(pair: Pair, old: Document, new: Document, place: str) -> Found:
    before, after = _parameters(old), _parameters(new)
    for key in before.keys() - after.keys():
        if before[key]["in"] != "header":  # a header that nobody reads any more harms nobody
            yield f"{place}: {key} is no longer taken"
    for key, parameter in after.items():
        if parameter.get("required") and not before.get(key, {}).get("required"):
            yield f"{place}: {key} is required now"
        if key in before:
            yield from schema_breaks(pair, before[key]["schema"], parameter["schema"], f"{place}: {key}", asked=True)


def _parameters(operation: Document) -> dict[str, Document]:
    return {f"{each['in']} parameter {each['name']}": each for each in operation.get("parameters", ())}


def _body_breaks(pair: Pair, old: Document | None, new: Document | None, place: str) -> Found:
    if new is None:
        if old is not None:
            yield f"{place}: a body is no longer taken"
        return
    if new.get("required") and not (old or {}).get("required"):
        yield f"{place}: a body is required now"
    if old is not None:
        yield from _content_breaks(pair, old, new, f"{place}: body", asked=True)


def _answer_breaks(pair: Pair, old: Document, new: Document, place: str) -> Found:
    for status in old:
        if not status.startswith("2"):
            continue
        if status not in new:
            yield f"{place}: the answer {status} is gone"
            continue
        before, after = pair.of_old(old[status]), pair.of_new(new[status])
        for header in before.get("headers", {}).keys() - after.get("headers", {}).keys():
            yield f"{place}: the header {header} of the answer {status} is gone"
        yield from _content_breaks(pair, before, after, f"{place}: answer {status}", asked=False)


def _content_breaks(pair: Pair, old: Document, new: Document, place: str, *, asked: bool) -> Found:
    for media_type, content in old["content"].items():
        if media_type not in new["content"]:
            yield f"{place}: {media_type} is gone"
            continue
        yield from schema_breaks(pair, content["schema"], new["content"][media_type]["schema"], place, asked=asked)
