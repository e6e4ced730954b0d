"""A change of the contract that breaks a client is told from one that does not, with its place."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from vitto_tools.contract.breaking import breaking_changes

Change = Callable[[dict[str, Any]], object]

BASE: dict[str, Any] = {
    "paths": {
        "/things": {
            "post": {
                "security": [{}, {"bearer": []}],
                "parameters": [
                    {"name": "limit", "in": "query", "required": False, "schema": {"type": "integer", "maximum": 50}},
                    {"name": "If-Match", "in": "header", "required": True, "schema": {"type": "string"}},
                ],
                "requestBody": {
                    "required": False,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ThingInput"}}},
                },
                "responses": {
                    "200": {"$ref": "#/components/responses/Made"},
                    "422": {"description": "", "content": {}},
                },
            },
            "get": {"responses": {}},
        },
        "/other": {"get": {"responses": {}}},
    },
    "components": {
        "responses": {
            "Made": {
                "headers": {"ETag": {}},
                "content": {"application/json": {"schema": {"anyOf": [{"$ref": "#/components/schemas/Thing"}]}}},
            }
        },
        "schemas": {
            "ThingInput": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "name": {"anyOf": [{"type": "string", "maxLength": 10}, {"type": "null"}]},
                    "kind": {"enum": ["a", "b"]},
                    "size": {"type": "number", "minimum": 0},
                    "parts": {"type": "array", "items": {"$ref": "#/components/schemas/ThingInput"}, "maxItems": 3},
                },
                "required": ["kind"],
            },
            "Thing": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "kind": {"enum": ["a", "b"]},
                    "note": {"type": ["string", "null"]},
                    "inner": {"$ref": "#/components/schemas/Thing"},
                },
                "required": ["id", "note"],
            },
        },
    },
}


def changes(change: Change) -> list[str]:
    """What breaks when `change` is made to the document."""
    new = copy.deepcopy(BASE)
    change(new)
    return breaking_changes(BASE, new)


def post(document: dict[str, Any]) -> dict[str, Any]:
    """The operation that most changes are made to."""
    found: dict[str, Any] = document["paths"]["/things"]["post"]
    return found


def asked(document: dict[str, Any]) -> dict[str, Any]:
    """The schema of its body."""
    found: dict[str, Any] = document["components"]["schemas"]["ThingInput"]
    return found


def answered(document: dict[str, Any]) -> dict[str, Any]:
    """The schema of its answer."""
    found: dict[str, Any] = document["components"]["schemas"]["Thing"]
    return found


TAG = {"name": "tag", "in": "query", "schema": {"type": "string"}}
BREAKING: dict[str, tuple[Change, str]] = {
    "a path that is gone": (lambda d: d["paths"].pop("/other"), "/other: the path is gone"),
    "an operation that is gone": (lambda d: d["paths"]["/things"].pop("get"), "GET /things: the operation is gone"),
    "a credential": (lambda d: post(d).pop("security"), "POST /things: needs a credential now"),
    "a parameter that is gone": (
        lambda d: post(d)["parameters"].pop(0),
        "POST /things: query parameter limit is no longer taken",
    ),
    "a parameter that is required": (
        lambda d: post(d)["parameters"].append(TAG | {"required": True}),
        "POST /things: query parameter tag is required now",
    ),
    "a parameter with a lower bound": (
        lambda d: post(d)["parameters"][0]["schema"].update(maximum=20),
        "POST /things: query parameter limit: maximum was 50 and is 20",
    ),
    "a body that is required": (
        lambda d: post(d)["requestBody"].update(required=True),
        "POST /things: a body is required now",
    ),
    "a body that is gone": (lambda d: post(d).pop("requestBody"), "POST /things: a body is no longer taken"),
    "an input that is required": (
        lambda d: asked(d)["required"].append("size"),
        "POST /things: body.size: the field is required now",
    ),
    "an input that is new and required": (
        lambda d: (asked(d)["properties"].update(new={}), asked(d)["required"].append("new")),
        "POST /things: body.new: the field is required now",
    ),
    "an input that is gone": (
        lambda d: asked(d)["properties"].pop("size"),
        "POST /things: body.size: the field is no longer taken",
    ),
    "an enum of an input that is narrower": (
        lambda d: asked(d)["properties"]["kind"]["enum"].remove("b"),
        "POST /things: body.kind: the enum no longer has b",
    ),
    "an input that may not be null": (
        lambda d: asked(d)["properties"].update(name={"type": "string", "maxLength": 10}),
        "POST /things: body.name: the type was null and is string",
    ),
    "an input that may be less long": (
        lambda d: asked(d)["properties"]["name"]["anyOf"][0].update(maxLength=5),
        "POST /things: body.name: maxLength was 10 and is 5",
    ),
    "an input with a form": (
        lambda d: asked(d)["properties"]["name"]["anyOf"][0].update(pattern="x"),
        "POST /things: body.name: pattern was open and is x",
    ),
    "an input of a narrower type": (
        lambda d: asked(d)["properties"]["size"].update(type="integer"),
        "POST /things: body.size: the type was number and is integer",
    ),
    "fewer parts": (
        lambda d: asked(d)["properties"]["parts"].update(maxItems=2),
        "POST /things: body.parts: maxItems was 3 and is 2",
    ),
    "an answer that is gone": (
        lambda d: post(d)["responses"].pop("200"),
        "POST /things: the answer 200 is gone",
    ),
    "a header that is gone": (
        lambda d: d["components"]["responses"]["Made"]["headers"].clear(),
        "POST /things: the header ETag of the answer 200 is gone",
    ),
    "a field of an answer that is gone": (
        lambda d: answered(d)["properties"].pop("kind"),
        "POST /things: answer 200.kind: the field is gone",
    ),
    "a field of an answer that may be missing": (
        lambda d: answered(d)["required"].remove("id"),
        "POST /things: answer 200.id: the field may be missing now",
    ),
    "a field of an answer of another type": (
        lambda d: answered(d)["properties"].update(id={"type": "integer"}),
        "POST /things: answer 200.id: the type was string and is integer",
    ),
    "a field of an answer that may be null": (
        lambda d: answered(d)["properties"].update(id={"type": ["string", "null"]}),
        "POST /things: answer 200.id: the type was string and is null",
    ),
    "another kind of answer": (
        lambda d: d["components"]["responses"]["Made"]["content"]["application/json"]["schema"]["anyOf"].append(
            {"type": "array"}
        ),
        "POST /things: answer 200: the type was object and is array",
    ),
}
FINE: dict[str, Change] = {
    "nothing": lambda _: None,
    "a new path": lambda d: d["paths"].update({"/new": {"get": {"responses": {}}}}),
    "a new parameter": lambda d: post(d)["parameters"].append(TAG),
    "a header that is not read": lambda d: post(d)["parameters"].pop(1),
    "a wider parameter": lambda d: post(d)["parameters"][0]["schema"].pop("maximum"),
    "a new input": lambda d: asked(d)["properties"].update(new={"type": "string"}),
    "an input that may be left out": lambda d: asked(d)["required"].clear(),
    "a wider enum of an input": lambda d: asked(d)["properties"]["kind"]["enum"].append("c"),
    "a longer input": lambda d: asked(d)["properties"]["name"]["anyOf"][0].update(maxLength=20),
    "an input that may be null": lambda d: asked(d)["properties"].update(
        size={"type": ["number", "null"], "minimum": 0}
    ),
    "a new field of an answer": lambda d: answered(d)["properties"].update(new={"type": "string"}),
    "a new value of an answer's enum": lambda d: answered(d)["properties"]["kind"]["enum"].append("c"),
    "a field of an answer that is never null": lambda d: answered(d)["properties"].update(note={"type": "string"}),
    "a field of an answer that is always there": lambda d: answered(d)["required"].append("kind"),
    "a further refusal": lambda d: post(d)["responses"].update({"409": {}}),
    "a refusal that is gone": lambda d: post(d)["responses"].pop("422"),
}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_a_client_is_told_with_its_place(name: str) -> None:
    change, told = BREAKING[name]
    found = changes(change)
    assert told in found, json.dumps(found, indent=1)
    assert all(line.startswith(told.split(":")[0]) for line in found)


@pytest.mark.parametrize("name", FINE)
def test_what_breaks_no_client_is_let_through(name: str) -> None:
    assert changes(FINE[name]) == []
