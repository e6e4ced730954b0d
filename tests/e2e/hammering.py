"""Schemathesis over the whole application, in process and over the twins: what it sent as one caller, and what it found."""

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import jsonschema_rs
import pytest
import schemathesis
from schemathesis import Case, HookContext, Response
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.specs.openapi.schemas import OpenApiSchema
from schemathesis.transport.wsgi import WSGITransport

from app import wsgi
from chalicelib import bootstrap
from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.contract import IDEMPOTENCY_KEY
from tests.building import container
from tests.e2e.client import Api

SEED = 20_260_301
SHARED_KEYS = frozenset({"0", IDEMPOTENCY_KEY.example})
SOCKET_SETTINGS = ("max_redirects", "verify", "cert", "proxies")
CHECKS: Mapping[str, Any] = {
    # What JSON Schema cannot say is refused too: a cursor that no page gave, an expiry that is past, an old revision.
    "positive_data_acceptance": {"enabled": False},
    # 413 too: what is wrong by its length may be longer than any body.
    "negative_data_rejection": {
        "expected-statuses": ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
    },
    # 428 is what HTTP has for a missing If-Match (RFC 6585); 404 where the id is of nothing, which is asked first.
    "missing_required_header": {"expected-statuses": ["401", "403", "404", "422", "428"]},
}


@dataclass(frozen=True)
class Hammer:
    """Who asks and how hard. With `thorough`, each value at and over each limit, and sequences of requests too."""

    roles: tuple[Role, ...]
    examples: int
    thorough: bool = False
    acting_for: str | None = None


HAMMERS = {
    "admin": Hammer((Role.ADMIN,), examples=5, thorough=True),
    "reviewer": Hammer((Role.REVIEWER,), examples=2),
    "member": Hammer((Role.MEMBER,), examples=2),
    "observer": Hammer((Role.OBSERVER,), examples=2),
    "assistant": Hammer((Role.MEMBER,), examples=2, acting_for="bob"),
    "nobody": Hammer((), examples=2),
}


@dataclass
class Findings:
    """What came of it: requests by operation and status, failures of checks, and what kept schemathesis from its work."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def requests(self) -> int:
        """How many were sent."""
        return self.answers.total()


@functools.cache
def hammered(name: str) -> Findings:
    """The findings of a hammer, which is swung once a process."""
    found = Findings()
    with _served(HAMMERS[name]) as schema, _in_process():
        schema.hook(_receipts_refuse(schema.raw_schema))
        for event in from_schema(schema).execute():
            _note(event, schema.raw_schema, found)
    return found


@contextmanager
def _served(hammer: Hammer) -> Iterator[OpenApiSchema]:
    services = container(docs_target=InMemoryDocsTarget())
    before = bootstrap._container
    bootstrap.use(services)
    try:
        api = Api(services, wsgi(), "acme")
        serve, config = _sparing_the_caller(_with_fresh_keys(api.wsgi)), _config(hammer, _headers(hammer, api))
        yield schemathesis.openapi.from_wsgi("/openapi.json", serve, config=config)
    finally:
        bootstrap.use(before)


class Walk:
    """One request after the other, each as it should be, and each answer held to the contract."""

    def __init__(self, schema: OpenApiSchema) -> None:
        self._schema = schema
        self.done: set[tuple[str, str]] = set()

    def ask(self, method: str, path: str, body: Any = None, *, if_match: str | None = None, **given: Any) -> Any:
        """The body of an answer that is a success; `given` are the parameters of path and query."""
        in_path = {name: value for name, value in given.items() if f"{{{name}}}" in path}
        query = {name: value for name, value in given.items() if name not in in_path}
        sent = {} if body is None else {"body": body, "media_type": "application/json"}
        headers = {} if if_match is None else {"If-Match": if_match}
        case = self._schema[path][method].Case(path_parameters=in_path, query=query, headers=headers, **sent)
        response = case.call_and_validate(headers=dict(self._schema.config.headers or {}))
        assert response.status_code < 300, response.text
        self.done.add((method, path))
        return response.json()


@contextmanager
def walking() -> Iterator[Walk]:
    """A walk as an admin."""
    with _served(HAMMERS["admin"]) as schema, _in_process():
        yield Walk(schema)


def _headers(hammer: Hammer, api: Api) -> dict[str, str]:
    if not hammer.roles:
        return {}
    key = api.key("ana", *hammer.roles, spaces=("red",), universes=("blue",), act_as=hammer.acting_for is not None)
    acting = {} if hammer.acting_for is None else {"Vitto-User": hammer.acting_for}
    return {"Authorization": f"Bearer {key}"} | acting


def _config(hammer: Hammer, headers: dict[str, str]) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "seed": SEED,
            "headers": headers,
            "workers": 1,
            "continue-on-failure": True,
            "checks": CHECKS,
            "generation": {
                "deterministic": True,
                "database": "none",
                "max-examples": hammer.examples,
                "with-security-parameters": False,  # the credential is the caller's; `ignored_auth` tries others
            },
            "phases": {"coverage": {"enabled": hammer.thorough}, "stateful": {"enabled": hammer.thorough}},
        }
    )


@contextmanager
def _in_process() -> Iterator[None]:
    """Probes without a credential carry settings of sockets, which schemathesis 4.32 hands on to a WSGI client."""
    send = WSGITransport.send

    def without_sockets(self: WSGITransport, case: Case[Any], *, session: Any = None, **given: Any) -> Response:
        kept = {name: value for name, value in given.items() if name not in SOCKET_SETTINGS}
        return send(self, case, session=session, **kept)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WSGITransport, "send", without_sockets)
        yield


def _with_fresh_keys(serve: WSGIApplication) -> WSGIApplication:
    """Requests that try one limit after the other share one idempotency key; each gets its own, or all but one are a 409."""
    numbers = itertools.count()

    def served(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ.get("HTTP_IDEMPOTENCY_KEY") in SHARED_KEYS:
            environ["HTTP_IDEMPOTENCY_KEY"] = f"key-{next(numbers)}"
        return serve(environ, start)

    return served


def _sparing_the_caller(serve: WSGIApplication) -> WSGIApplication:
    """Whoever asks to be erased has nothing to ask any more, so that it is nobody whom they have erased. A walk erases."""

    def served(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        if environ["REQUEST_METHOD"] == "DELETE" and environ["PATH_INFO"] in {"/engine/users/ana", "/engine/users/bob"}:
            environ["PATH_INFO"] = environ["RAW_URI"] = "/engine/users/nobody"
        return serve(environ, start)

    return served


def _receipts_refuse(document: Mapping[str, Any]) -> Callable[..., bool]:
    """A wrong item of a batch is refused by its receipt, for the others' sake; the request itself is a 200."""
    items = jsonschema_rs.Draft202012Validator(
        {"$ref": "#/components/schemas/MemoryInput", "components": document["components"]}, validate_formats=True
    )

    def filter_failure(context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
        body: Any = case.body
        sent = body.get("memories") if isinstance(body, dict) else None
        if not (isinstance(failure, AcceptedNegativeData) and response.status_code == 200 and sent):
            return True
        receipts = response.json()["receipts"]
        wrong = [receipt for item, receipt in zip(sent, receipts, strict=True) if not items.is_valid(item)]
        return not wrong or any(receipt["outcome"] != "invalid" for receipt in wrong)

    return filter_failure


def _note(event: events.EngineEvent, document: Mapping[str, Any], found: Findings) -> None:
    if isinstance(event, events.NonFatalError):
        found.problems.append(f"{event.label}: {event.info.format()}")
    elif isinstance(event, events.FatalError):
        found.problems.append(repr(event.exception))
    elif isinstance(event, events.ScenarioFinished):
        _note_scenario(event.recorder, document, found)


def _note_scenario(recorder: ScenarioRecorder, document: Mapping[str, Any], found: Findings) -> None:
    for id_, interaction in recorder.interactions.items():
        case, response = recorder.cases[id_].value, interaction.response
        assert response is not None, f"{case.operation.label} was not answered"
        label = f"{case.method} {case.operation.path}"
        found.answers[label, response.status_code] += 1
        if response.status_code >= 400 and case.method == case.operation.method.upper():
            found.failures += _undeclared(label, case, response, document)
    for id_, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                failure, sample = check.failure_info.failure, check.failure_info.code_sample
                label = recorder.cases[id_].value.operation.label
                found.failures.append(f"{label}: {check.name}: {failure.title}: {failure.message}\n{sample}")


def _undeclared(label: str, case: Case[Any], response: Response, document: Mapping[str, Any]) -> list[str]:
    """Whether an error has a code that its route does not declare for that status."""
    declared = document["paths"][case.operation.path][case.operation.method]["responses"]
    stated = declared.get(str(response.status_code), {})
    if "$ref" in stated:
        stated = document["components"]["responses"][stated["$ref"].rpartition("/")[2]]
    code = response.json().get("error", {}).get("code")
    return [] if code in stated.get("x-error-codes", ()) else [f"{label}: {code} is not declared"]
