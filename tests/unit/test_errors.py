"""Every error has a status and a place in the docs, and what is not expected says nothing of itself."""

import json
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from chalice.app import Request, Response

from chalicelib import bootstrap, errors
from chalicelib.bootstrap import Container
from chalicelib.entrypoints.answers import STATUS, answered
from chalicelib.errors import VittoError
from tests.unit.fake_secrets import AWS_KEY

ROOT = Path(__file__).parents[2]
HINT = "bob's diary and " + AWS_KEY


def family(kind: type[VittoError]) -> list[type[VittoError]]:
    """Every error under `kind`."""
    return [one for child in kind.__subclasses__() for one in (child, *family(child))]


ALL = family(VittoError)
EVERY: list[type[VittoError]] = [VittoError, *ALL]


def raised(error: BaseException) -> Response:
    """The response to a request whose handler raises."""

    def work(*_: Any) -> Any:
        raise error

    return answered(cast("Request", SimpleNamespace(headers={}, path="/x")), work)


def body(response: Response) -> dict[str, Any]:
    """The error in a response."""
    said: dict[str, Any] = json.loads(response.body)["error"]
    return said


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_of_its_own_entry(kind: type[VittoError]) -> None:
    assert kind in STATUS


def test_every_error_is_told_in_the_tree_and_has_a_code_of_its_own() -> None:
    assert errors.__doc__
    assert [kind.__name__ for kind in ALL if kind.__base__ is VittoError and kind.__name__ not in errors.__doc__] == []
    assert len({kind.code for kind in EVERY}) == len(EVERY)


def test_every_code_is_in_the_docs() -> None:
    told = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert [kind.code for kind in EVERY if f"`{kind.code}`" not in told] == []


def test_a_known_error_is_answered_with_its_code_its_message_and_its_details(serving: Container) -> None:
    response = raised(errors.InvalidInput("memories.0.content", "must not be empty", limit=3))
    said = body(response)
    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert (said["code"], said["message"]) == ("invalid_input", "memories.0.content: must not be empty")
    assert said["details"] == {
        "field": "memories.0.content",
        "limit": 3,
        "requestId": response.headers["Vitto-Request-Id"],
    }


@pytest.mark.parametrize(
    ("error", "status", "header"),
    [
        (errors.Unauthenticated("x"), 401, "WWW-Authenticate"),
        (errors.InProgress("x"), 409, "Retry-After"),
        (errors.StoreUnavailable("mongo", "no answer"), 503, "Retry-After"),
    ],
    ids=str,
)
def test_a_caller_is_told_what_to_do_next(serving: Container, error: VittoError, status: int, header: str) -> None:
    response = raised(error)
    assert response.status_code == status
    assert header in response.headers


UNEXPECTED: list[Exception] = [
    RuntimeError(HINT),
    KeyError(HINT),
    UnicodeDecodeError("utf-8", HINT.encode(), 0, 1, HINT),
    VittoError(HINT, secret=HINT),
    errors.Misconfigured("VITTO_MONGO_URI " + HINT),
    RecursionError(HINT),
]


@pytest.mark.parametrize("error", UNEXPECTED, ids=lambda error: type(error).__name__)
def test_an_unknown_exception_is_a_500_without_its_message_or_its_trace(serving: Container, error: Exception) -> None:
    response = raised(error)
    assert response.status_code == 500
    assert body(response)["code"] == "internal"
    assert body(response)["details"] == {"requestId": response.headers["Vitto-Request-Id"]}
    text = f"{response.body} {response.headers}"
    for shown in ("diary", AWS_KEY, "Traceback", "Error", ".py"):
        assert shown not in text


def test_what_is_logged_of_it_names_the_request_and_the_place_and_no_value(serving: Container) -> None:
    response = raised(RuntimeError(HINT))
    ((name, fields),) = serving.ports.telemetry.events  # type: ignore[attr-defined]
    assert (name, fields["level"]) == ("request_failed", "error")
    assert fields["request_id"] == response.headers["Vitto-Request-Id"]
    assert "RuntimeError" in fields["reason"]
    assert "test_errors.py" in fields["reason"]
    assert "diary" not in str(fields)
    assert AWS_KEY not in str(fields)


def test_a_service_that_is_misconfigured_answers_500_and_says_which_setting_in_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.use(None)
    monkeypatch.delenv("VITTO_MONGO_URI", raising=False)
    response = answered(cast("Request", SimpleNamespace(headers={}, path="/x")), lambda *_: {})
    assert response.status_code == 500
    assert "VITTO" not in response.body
    assert "VITTO_MONGO_URI" in capsys.readouterr().out


def test_errors_of_the_caller_are_not_logged_as_failures(serving: Container) -> None:
    for error in (errors.NotFound("x"), errors.InvalidInput("a", "b"), errors.Unauthenticated("x")):
        raised(error)
    assert serving.ports.telemetry.events == []  # type: ignore[attr-defined]


def test_an_interrupt_is_not_swallowed(serving: Container) -> None:
    with pytest.raises(KeyboardInterrupt):
        raised(KeyboardInterrupt())
