"""The documented grammar of `$vectorSearch` and of its index definitions, checked as strictly as a cluster does.

Where releases differ it keeps to what all of them take: no `$exists`, no null, no range over object ids. What is refused
raises OperationFailure with the code and the wording that a cluster is known to use where that is known (a wrong place of
the stage, an undeclared path, other dimensions, a read concern), and code 8 with words of its own elsewhere.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import bson
from bson.binary import VECTOR_SUBTYPE, Binary
from bson.objectid import ObjectId
from pymongo.errors import OperationFailure

MOST_CANDIDATES = 10_000
MOST_DIMENSIONS = 8192
MOST_INT = 2**31 - 1
_UNKNOWN_ERROR = 8
_NOT_FIRST = 40602
_REQUIRED = {"index", "path", "queryVector", "limit"}
_OPTIONAL = {"filter", "numCandidates", "exact"}
_RANGES = {"$gt", "$gte", "$lt", "$lte"}
_LISTS = {"$in", "$nin"}
_LOGICAL = {"$and", "$or", "$nor"}
_VALUES = (bool, int, float, str, datetime, ObjectId, UUID)
_ORDERED = (int, float, str, datetime)
_FLOAT32 = b"\x27\x00"

Document = Mapping[str, Any]


def refuse(message: str, code: int = _UNKNOWN_ERROR) -> OperationFailure:
    """The error of a refused search."""
    if code == _UNKNOWN_ERROR:
        message = f"PlanExecutor error during aggregation :: caused by :: {message}"
    return OperationFailure(message, code, {"ok": 0.0, "errmsg": message, "code": code})


def check(condition: object, message: str) -> None:
    """Refuse the search unless `condition` holds."""
    if not condition:
        raise refuse(message)


def searches(pipeline: Any) -> bool:
    """Whether the pipeline begins with a search. One in any other place is refused."""
    if not isinstance(pipeline, Sequence) or not all(isinstance(s, Mapping) and len(s) == 1 for s in pipeline):
        raise refuse("a pipeline is a list of stages of one field each", 40323)
    names = [next(iter(stage)) for stage in pipeline]
    if "$vectorSearch" in names[1:]:
        raise refuse("$vectorSearch is only valid as the first stage in a pipeline", _NOT_FIRST)
    return names[:1] == ["$vectorSearch"]


def check_stage(stage: Any) -> None:
    """Refuse a stage that is wrong by itself, whatever the index."""
    check(isinstance(stage, Mapping), "$vectorSearch takes a document")
    bson.encode(dict(stage))
    for name in stage:
        check(name in _REQUIRED | _OPTIONAL, f'unrecognized field "{name}"')
    for name in _REQUIRED:
        check(name in stage, f'"{name}" is required')
    for name in ("index", "path"):
        check(isinstance(stage[name], str) and stage[name], f'"{name}" must be a non-empty string')
    check(isinstance(stage.get("exact", False), bool), '"exact" must be a boolean')
    check(_is_int(stage["limit"]) and stage["limit"] > 0, '"limit" must be a positive int')
    _check_candidates(stage)


def _check_candidates(stage: Document) -> None:
    if stage.get("exact"):
        check("numCandidates" not in stage, "numCandidates must be omitted for exact search")
        return
    check("numCandidates" in stage, "numCandidates is required for approximate vector search")
    wanted = stage["numCandidates"]
    check(_is_int(wanted) and 1 <= wanted <= MOST_CANDIDATES, '"numCandidates" must be within bounds [1, 10000]')
    check(stage["limit"] <= wanted, "limit should be less than or equal to numCandidates")


def check_against(stage: Document, definition: Document) -> list[float]:
    """Refuse a stage that the index cannot answer; the query's vector."""
    vectors = {f["path"]: f for f in definition["fields"] if f["type"] == "vector"}
    field = vectors.get(stage["path"])
    if field is None:
        raise refuse(f"{stage['path']} is not indexed as vector")
    values = vector(stage["queryVector"])
    size = field["numDimensions"]
    check(len(values) == size, f"vector field is indexed with {size} dimensions but queried with {len(values)}")
    check_filter(stage.get("filter", {}), {f["path"] for f in definition["fields"] if f["type"] == "filter"})
    return values


def vector(value: Any) -> list[float]:
    """The values of a vector as the stage and documents give it."""
    if isinstance(value, Binary):
        check(value.subtype == VECTOR_SUBTYPE and value[:2] == _FLOAT32, "a vector in binary form is of float32")
        values = list(value.as_vector().data)
    else:
        check(isinstance(value, list) and all(isinstance(v, int | float) for v in value), "a vector is of numbers")
        values = [float(v) for v in value]
    check(all(isinstance(v, int | float) and math.isfinite(v) for v in values), "non-finite value")
    return [float(v) for v in values]


def check_filter(clause: Any, declared: set[str]) -> None:
    """Refuse a filter that is not of the grammar, or that names a path the index does not declare."""
    check(isinstance(clause, Mapping), "filter must be a document")
    for name, value in clause.items():
        if name in _LOGICAL:
            check(isinstance(value, list) and value, f"{name} takes a list of one clause at least")
            for inner in value:
                check_filter(inner, declared)
        else:
            check(not name.startswith("$"), f'unrecognized operator "{name}"')
            check(name in declared, f"Path '{name}' needs to be indexed as filter")
            _check_operators(value)


def _check_operators(value: Any) -> None:
    if not isinstance(value, Mapping):
        check(isinstance(value, _VALUES), f"{value!r} is not a value that can be filtered by")
        return
    check(value, "an operator is required")
    for operator, operand in value.items():
        if operator == "$not":
            check(isinstance(operand, Mapping), "$not takes operators")
            _check_operators(operand)
        elif operator in _LISTS:
            check(isinstance(operand, list) and operand, f"{operator} takes a list of one value at least")
            check(all(isinstance(o, _VALUES) for o in operand), f"{operator} takes values that can be filtered by")
            check(len({type(o) for o in operand}) == 1, f"{operator} takes values of one type")
        elif operator in _RANGES:
            check(
                isinstance(operand, _ORDERED) and not isinstance(operand, bool), f"{operator} takes what has an order"
            )
        else:
            check(operator in {"$eq", "$ne"}, f'unrecognized operator "{operator}"')
            check(isinstance(operand, _VALUES), f"{operand!r} is not a value that can be filtered by")


def check_definition(definition: Any) -> None:
    """Refuse a definition that is no index of the type vectorSearch."""
    check(isinstance(definition, Mapping) and set(definition) == {"fields"}, "a definition holds fields")
    fields = definition["fields"]
    check(isinstance(fields, list) and all(isinstance(f, Mapping) for f in fields), "fields is a list of documents")
    check(any(f.get("type") == "vector" for f in fields), "an index has a vector")
    paths = [f.get("path") for f in fields]
    check(all(isinstance(p, str) and p for p in paths), "each field has a path")
    check(len(set(paths)) == len(paths), "no path is indexed twice")
    for field in fields:
        _check_field(field)


def _check_field(field: Document) -> None:
    if field.get("type") == "filter":
        check(set(field) == {"type", "path"}, "a filter has a path and nothing else")
        return
    check(field.get("type") == "vector", "a field is a vector or a filter")
    check(set(field) == {"type", "path", "numDimensions", "similarity"}, "a vector has its size and its similarity")
    size = field["numDimensions"]
    check(_is_int(size) and 1 <= size <= MOST_DIMENSIONS, "numDimensions is an int of 1 to 8192")
    check(field["similarity"] in {"cosine", "dotProduct", "euclidean"}, "similarity is one of three")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -MOST_INT <= value <= MOST_INT
