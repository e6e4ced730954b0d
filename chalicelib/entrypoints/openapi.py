"""The OpenAPI 3.1 document, made of what the routes declared. It is built at first use: a cold start pays nothing for it."""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter

from chalicelib import errors
from chalicelib.domain.keys import MAX_ID_BYTES
from chalicelib.domain.wire import Wire
from chalicelib.entrypoints.answers import STATUS
from chalicelib.entrypoints.contract import Operation, RequestHeader
from chalicelib.entrypoints.jsonschema import WireSchema

VERSION = "0.1.0"
"""The product's, which the Lambda package has no metadata of; a test holds it to pyproject.toml."""

JSON = "application/json"
SCHEMAS = "#/components/schemas/{model}"
_INFO = {
    "title": "Vitto Memory",
    "version": VERSION,
    "description": (
        "Long-term memory for AI assistants and coding agents. JSON with camelCase names, times in ISO 8601 with a zone. "
        "Fields, parameters and enum values that are not here are a 422 that names them; an answer may gain fields. "
        f"Ids have at most {MAX_ID_BYTES} bytes of UTF-8. Another reader's id is a 404, the same as one that does not exist."
    ),
    "license": {"name": "MIT", "identifier": "MIT"},
}
_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, or a JWT of an issuer that the service is set up with.",
    },
    "actingFor": {
        "type": "apiKey",
        "in": "header",
        "name": "Vitto-User",
        "description": (
            "The user of the organization that an API key with `actAs` acts for, as a member, beside that key: an id of at "
            f"most {MAX_ID_BYTES} bytes of UTF-8."
        ),
    },
}
_CREDENTIALS: list[dict[str, list[str]]] = [{"bearer": []}, {"bearer": [], "actingFor": []}]
_PATH_PARAMETERS: Mapping[str, Any] = {"number": {"type": "integer", "minimum": 0, "maximum": 999_999_999}}
_ID = {"type": "string", "minLength": 1}
_HEADERS: Mapping[str, Any] = {
    "Vitto-Request-Id": {
        "description": "The id of this request, as the log has it.",
        "required": True,
        "schema": {"type": "string", "pattern": "^req_[0-9a-z]+$"},
    },
    "ETag": {
        "description": "The version of what is answered; of a memory it is the revision, for If-Match.",
        "required": True,
        "schema": {"type": "string", "pattern": '^"[^"]+"$'},
    },
    "Retry-After": {
        "description": "Seconds after which to repeat; of a 409 with `in_progress` alone.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "WWW-Authenticate": {"description": "The scheme to use.", "required": True, "schema": {"const": "Bearer"}},
}
_ERROR: Mapping[str, Any] = {
    "type": "object",
    "description": "The one shape of every error.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "The stable name of what went wrong; more may come."},
                "message": {"type": "string", "description": "For people."},
                "details": {
                    "type": "object",
                    "description": "What a program may act on: `field` and `problems` of a 422 name what is wrong.",
                    "properties": {"requestId": {"type": "string"}, "field": {"type": "string"}},
                    "required": ["requestId"],
                },
            },
            "required": ["code", "message", "details"],
        }
    },
    "required": ["error"],
    "examples": [
        {
            "error": {
                "code": "stale_revision",
                "message": "the memory was changed since",
                "details": {"revision": 4, "requestId": "req_01m8q0vfyny54ze70n184th004"},
            }
        }
    ],
}


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document of these operations."""
    listed = list(operations)
    schemas, definitions = _schemas(listed)
    paths: dict[str, dict[str, Any]] = {}
    refusals: dict[str, Any] = {}
    for operation in listed:
        made = _operation(operation, schemas, definitions)
        _share_refusals(made["responses"], refusals)
        paths.setdefault(operation.path, {})[operation.method.lower()] = made
    asked = {operation.takes.query.__name__ for operation in listed}  # parameters, which stand where they are used
    shared = {name: schema for name, schema in definitions.items() if name not in asked}
    return {
        "openapi": "3.1.0",
        "info": _INFO,
        "servers": [{"url": "/"}],
        "security": _CREDENTIALS,
        "tags": [{"name": name} for name in sorted({operation.feature for operation in listed})],
        "paths": paths,
        "components": {
            "schemas": dict(sorted({**shared, "Error": _ERROR}.items())),
            "responses": dict(sorted(refusals.items())),
            "headers": _HEADERS,
            "securitySchemes": _SCHEMES,
        },
    }


def _share_refusals(responses: dict[str, Any], shared: dict[str, Any]) -> None:
    """Move refusals that other routes have too to where all can refer to them, named by their codes."""
    for status, response in responses.items():
        if response["content"][JSON]["schema"] == {"$ref": SCHEMAS.format(model="Error")}:
            name = ".".join(response["x-error-codes"])
            shared[name] = response
            responses[status] = {"$ref": f"#/components/responses/{name}"}


def _schemas(operations: Iterable[Operation]) -> tuple[dict[tuple[Any, str], Any], dict[str, Any]]:
    """Schemas by operation and place, and what they refer to."""
    places: list[tuple[Any, Any, TypeAdapter[Any]]] = []
    for operation in operations:
        places.append(((operation.name, "query"), "validation", TypeAdapter(operation.takes.query)))
        places.append(((operation.name, "answer"), "serialization", TypeAdapter(operation.gives.model)))
        if operation.takes.body is not None:
            places.append(((operation.name, "body"), "validation", TypeAdapter(operation.takes.body)))
    made, found = TypeAdapter.json_schemas(places, ref_template=SCHEMAS, schema_generator=WireSchema)
    return {place: schema for (place, _), schema in made.items()}, found.get("$defs", {})


def _operation(operation: Operation, schemas: Mapping[Any, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": operation.name,
        "summary": re.split(r"[.;:] ", operation.description)[0].rstrip("."),
        "description": operation.description,
        "tags": [operation.feature],
        "parameters": [
            *_path_parameters(operation.path),
            *_query_parameters(operation.takes.query, definitions),
            *(_header(header) for header in operation.headers),
        ],
        "responses": _responses(operation, schemas[operation.name, "answer"]),
    }
    if operation.is_open:
        said["security"] = [{}, *_CREDENTIALS]
    if operation.takes.body is not None:
        said["requestBody"] = _body(operation, schemas[operation.name, "body"], definitions)
    return said


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS.get(name, _ID)}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(model: type[Wire], definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    properties = definitions[model.__name__].get("properties", {})
    return [{"name": name, "in": "query", "required": False, "schema": _given(properties[name])} for name in properties]


def _given(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that is there: null is what it has when it is not."""
    said = {name: value for name, value in schema.items() if name != "anyOf" and value is not None}
    for choice in schema.get("anyOf", ()):
        said |= {} if choice == {"type": "null"} else choice
    return said


def _header(header: RequestHeader) -> dict[str, Any]:
    return {
        "name": header.name,
        "in": "header",
        "description": header.description,
        "required": header.required,
        "schema": dict(header.schema),
        "example": header.example,
    }


def _body(operation: Operation, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": schema}
    if operation.takes.examples:
        content["examples"] = {name: {"value": value} for name, value in operation.takes.examples.items()}
    named = definitions.get(str(schema.get("$ref", "")).rpartition("/")[2], {"required": True})
    return {"required": bool(named.get("required")), "content": {JSON: content}}


def _responses(operation: Operation, answer: Mapping[str, Any]) -> dict[str, Any]:
    refused: dict[int, list[type[errors.VittoError]]] = {}
    for kind in operation.errors:
        refused.setdefault(STATUS.get(kind, HTTPStatus.INTERNAL_SERVER_ERROR), []).append(kind)
    responses = {str(int(status)): _refusal(kinds) for status, kinds in sorted(refused.items())}
    given = _response(HTTPStatus(operation.gives.status).phrase, answer, ["ETag"] if operation.gives.etag else [])
    if operation.gives.leads_to:
        given["links"] = {name: _link(name, places) for name, places in operation.gives.leads_to.items()}
    other = operation.gives.otherwise
    if other and str(int(other)) not in responses:
        responses[str(int(other))] = _response(HTTPStatus(other).phrase, answer, [])
    elif other:
        schemas = [*answer.get("anyOf", [answer]), {"$ref": SCHEMAS.format(model="Error")}]
        responses[str(int(other))] |= _response("The same answer, or an error.", {"anyOf": schemas}, ["Retry-After"])
    return {str(int(operation.gives.status)): given} | responses


def _link(name: str, places: Mapping[str, str]) -> dict[str, Any]:
    return {"operationId": name, "parameters": {key: f"$response.body#{place}" for key, place in places.items()}}


def _refusal(kinds: list[type[errors.VittoError]]) -> dict[str, Any]:
    codes = [kind.code for kind in kinds]
    told = " ".join(f"`{kind.code}`: {_first_sentence(kind)}" for kind in kinds)
    status = STATUS.get(kinds[0], HTTPStatus.INTERNAL_SERVER_ERROR)
    extra = ["WWW-Authenticate"] if status == HTTPStatus.UNAUTHORIZED else []
    if status == HTTPStatus.SERVICE_UNAVAILABLE or errors.InProgress in kinds:
        extra = ["Retry-After"]
    return _response(told, {"$ref": SCHEMAS.format(model="Error")}, extra) | {"x-error-codes": codes}


def _first_sentence(kind: type[errors.VittoError]) -> str:
    if kind is errors.VittoError:
        return "Something went wrong here; the request id finds it in the log."
    return " ".join((kind.__doc__ or "").split()).partition(". ")[0].rstrip(".") + "."


def _response(description: str, schema: Mapping[str, Any], headers: Iterable[str]) -> dict[str, Any]:
    return {
        "description": description,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in ("Vitto-Request-Id", *headers)},
        "content": {JSON: {"schema": schema}},
    }
