"""The document says what the routes do, and does not change unseen."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from app import app
from chalicelib.bootstrap import Container
from chalicelib.entrypoints.http import operations
from chalicelib.entrypoints.openapi import VERSION, document
from chalicelib.errors import VittoError
from tests.unit.test_application import event
from tests.unit.test_errors import family
from vitto_tools.contract import COMMITTED, as_text
from vitto_tools.contract.breaking import breaking_changes

ROOT = Path(__file__).parents[2]
DOCUMENT = document(operations(app))
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = {
    (method.upper(), path): operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}
BODIES = {
    route: operation["requestBody"]["content"]["application/json"]
    for route, operation in OPERATIONS.items()
    if "requestBody" in operation
}


def validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """What holds values to a schema of the document."""
    return jsonschema_rs.Draft202012Validator({**schema, "components": DOCUMENT["components"]}, validate_formats=True)


def walked(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of a document with its place."""
    if isinstance(value, dict):
        yield place, value
    for name, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from walked(inner, f"{place}/{name}")


def reached(schema: Any, seen: set[str]) -> set[str]:
    """The names of the schemas that `schema` refers to, directly or not."""
    for _, each in walked(schema):
        name = str(each.get("$ref", "")).rpartition("/")[2]
        if name in SCHEMAS and name not in seen:
            seen.add(name)
            reached(SCHEMAS[name], seen)
    return seen


def test_the_committed_copy_is_the_document() -> None:
    committed = COMMITTED.read_text(encoding="utf-8")
    assert committed == as_text(DOCUMENT), "the contract changed: renew its copy with `scripts/vitto openapi`"


def test_no_client_of_the_committed_copy_is_broken() -> None:
    changes = breaking_changes(json.loads(COMMITTED.read_text(encoding="utf-8")), json.loads(as_text(DOCUMENT)))
    assert not changes, "\n".join(f"BREAKING {change}" for change in changes)


def test_every_route_is_in_the_document_under_the_name_of_its_handler() -> None:
    routes = {(method, path) for path, methods in app.routes.items() for method in methods}
    assert set(OPERATIONS) == routes
    names = [operation["operationId"] for operation in OPERATIONS.values()]
    assert sorted(set(names)) == sorted(names)
    assert OPERATIONS["POST", "/engine/memories"]["operationId"] == "remember"


def test_its_version_is_the_products() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert DOCUMENT["info"]["version"] == VERSION == project["version"]


def test_every_reference_leads_somewhere() -> None:
    for place, each in walked(DOCUMENT):
        if "$ref" in each:
            found: Any = DOCUMENT
            for step in each["$ref"].removeprefix("#/").split("/"):
                assert step in found, f"{place}: {each['$ref']}"
                found = found[step]


@pytest.mark.parametrize("route", OPERATIONS, ids=" ".join)
def test_all_but_the_open_routes_need_a_credential(route: tuple[str, str]) -> None:
    security = OPERATIONS[route].get("security", DOCUMENT["security"])
    assert ({} in security) == (route[1] in {"/health", "/openapi.json"})
    assert {"bearer": []} in security
    assert {"401", "403", "422", "500", "503"} <= OPERATIONS[route]["responses"].keys()


def test_bodies_are_closed_and_answers_are_open() -> None:
    asked = reached([body["schema"] for body in BODIES.values()], set())
    answered = reached([operation["responses"] for operation in OPERATIONS.values()], set())
    objects = {name for name, schema in SCHEMAS.items() if "properties" in schema}
    assert [name for name in asked & objects if SCHEMAS[name].get("additionalProperties") is not False] == []
    assert [name for name in answered & objects if SCHEMAS[name].get("additionalProperties") is False] == []
    assert {"MemoryInput", "RecallQuery", "KeyBody", "RestoreBody", "MemoryPatch", "MemoryBatch"} <= asked


@pytest.mark.parametrize("route", BODIES, ids=" ".join)
def test_a_body_has_an_example_that_is_valid(route: tuple[str, str]) -> None:
    examples = BODIES[route]["examples"]
    assert examples
    for example in examples.values():
        validator(BODIES[route]["schema"]).validate(example["value"])


def test_the_example_of_an_error_is_valid_and_every_code_is_told() -> None:
    for example in SCHEMAS["Error"]["examples"]:
        validator(SCHEMAS["Error"]).validate(example)
    told = {code for _, each in walked(DOCUMENT) for code in each.get("x-error-codes", ())}
    # `internal`, parents of others, or what a recall goes on without
    unsaid = {"misconfigured", "embedding_failed", "embedding_mismatch", "not_supported"}
    unsaid |= {"language_model_failed", "language_model_unavailable"}
    every: list[type[VittoError]] = [VittoError, *family(VittoError)]
    assert told == {kind.code for kind in every} - unsaid


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("MemoryInput", {"content": ""}),
        ("MemoryInput", {"content": " \n"}),
        ("MemoryInput", {"content": "x" * 16_385}),
        ("MemoryInput", {"content": "x", "scopeId": "x" * 129}),
        ("MemoryInput", {"content": "x", "importance": "0.5"}),
        ("MemoryInput", {"content": "x", "typ": "fact"}),
        ("MemoryBatch", {"memories": []}),
        ("MemoryBatch", {"memories": [{"content": "x"}] * 101}),
        ("MemoryPatch", {}),
        ("MemoryPatch", {"content": None}),
        ("RecallQuery", {"query": " "}),
        ("RestoreBody", {"revision": 0}),
    ],
)
def test_what_the_service_refuses_is_against_the_schema_where_json_schema_can_say_it(name: str, wrong: Any) -> None:
    assert not validator(SCHEMAS[name]).is_valid(wrong)


def test_what_clears_a_field_is_valid() -> None:
    validator(SCHEMAS["MemoryPatch"]).validate({"summary": None, "expiresAt": None, "outcome": None})


def test_every_bound_is_said_in_words_of_json_schema() -> None:
    lost = {"ge", "le", "gt", "lt", "min_length", "max_length", "multiple_of"}
    assert [(place, lost & each.keys()) for place, each in walked(DOCUMENT) if lost & each.keys()] == []
    assert SCHEMAS["RecallQuery"]["properties"]["limit"]["anyOf"][0]["maximum"] == 100


def test_a_parameter_is_never_null() -> None:
    assert [
        place for place, each in walked(DOCUMENT["paths"]) if place.endswith("/schema") and "null" in str(each)
    ] == []


def test_it_is_served_to_anyone_and_its_etag_is_its_contents(serving: Container) -> None:
    first, second = (app(event("GET", "/openapi.json"), None) for _ in range(2))
    assert first["statusCode"] == 200
    assert json.loads(first["body"]) == json.loads(as_text(DOCUMENT))
    assert first["headers"]["ETag"] == second["headers"]["ETag"]
    assert first["headers"]["ETag"].strip('"')


def test_a_cold_start_does_not_load_it() -> None:
    code = "import sys, app; print('chalicelib.entrypoints.openapi' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={"PATH": ""}, capture_output=True, check=True)
    assert done.stdout == b"False\n"
