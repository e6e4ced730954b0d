"""The function that admins invoke: what is asked is checked by name, work is done in slices, nobody's contents are told."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import app
from chalicelib.adapters.memory.docs import InMemoryDocsTarget
from chalicelib.adapters.memory.upkeep import InMemoryOldRows
from chalicelib.bootstrap import Container
from chalicelib.domain.caller import Role
from chalicelib.domain.erasure import Person
from chalicelib.domain.query import RecallQuery
from chalicelib.domain.session_input import AppendRequest
from chalicelib.entrypoints.admin.commands import Turn
from chalicelib.entrypoints.admin.registry import COMMANDS
from chalicelib.entrypoints.admin.running import LONGEST_SECONDS, performed, request_of
from chalicelib.entrypoints.auth.api_keys import ApiKeyVerifier
from chalicelib.errors import Conflict, Misconfigured, StoreUnavailable, Unauthenticated
from tests.building import TestClock, caller, container, in_memory_ports, row
from tests.lambda_context import LambdaContext

NOTHING_TO_DO = ("backfill", "sweep", "purge", "migrate", "retry-pending", "indexes", "reindex", "queue")
ANA = caller("acme", "ana")


def asked(
    command: str, cursor: Any = None, *, context: LambdaContext | None = None, **arguments: Any
) -> dict[str, Any]:
    """What the function answers."""
    payload = {"command": command, "arguments": arguments} | ({"cursor": cursor} if cursor else {})
    answer: dict[str, Any] = app.admin(payload, context or LambdaContext(remaining_ms=900_000))
    return answer


def in_slices(services: Container, command: str, **arguments: Any) -> list[dict[str, Any]]:
    """Every answer of a command whose time is up each time it looks."""
    answers: list[dict[str, Any]] = []
    while not answers or not answers[-1]["finished"]:
        looks = iter(range(10_000))
        payload = {"command": command, "arguments": arguments, "cursor": answers[-1]["cursor"] if answers else None}
        answer = performed(services, request_of(payload), _after_one(looks))
        answers.append(json.loads(json.dumps(answer)))
        assert len(answers) < 100
    return answers


def _after_one(looks: Iterator[int]) -> Callable[[], bool]:
    return lambda: next(looks) > 0


def refusal(answer: dict[str, Any]) -> tuple[str, str]:
    """The code, and the field or the message."""
    return answer["error"]["code"], answer["error"]["details"].get("field") or answer["error"]["message"]


@pytest.mark.parametrize(
    ("payload", "code", "field"),
    [
        ({}, "invalid_input", "command"),
        ({"command": "drop-everything"}, "invalid_input", "command"),
        ({"command": "sweep", "arguments": {"dryrun": True}}, "invalid_input", "arguments.dryrun"),
        ({"command": "sweep", "arguments": {"dryRun": "perhaps"}}, "invalid_input", "arguments.dryRun"),
        ({"command": "backfill", "arguments": {"organization": ""}}, "invalid_input", "arguments.organization"),
        ({"command": "keys-create", "arguments": {"organization": "acme"}}, "invalid_input", "arguments.user"),
        ({"command": "sweep", "seconds": 0}, "invalid_input", "seconds"),
        ({"command": "sweep", "seconds": LONGEST_SECONDS + 1}, "invalid_input", "seconds"),
        ({"command": "sweep", "secs": 5}, "invalid_input", "secs"),
        ({"command": "sweep", "cursor": 5}, "invalid_input", "cursor"),
        ([], "malformed_request", "the payload is no JSON object"),
        ("sweep", "malformed_request", "the payload is no JSON object"),
    ],
)
@pytest.mark.usefixtures("serving")
def test_a_payload_that_is_wrong_is_refused_by_the_field(payload: Any, code: str, field: str) -> None:
    assert refusal(app.admin(payload, LambdaContext())) == (code, field)


def test_a_key_opens_its_organization_and_no_other(serving: Container) -> None:
    serving.remember.remember(ANA, [{"content": "Ana lives in Porto"}], key=None, single=True)
    ((made,),) = [asked("keys-create", organization="rivals", user="ana", role=["member"], days=1)["output"]]
    verified = ApiKeyVerifier(serving.ports.keys, serving.ports.clock, 0).verify(made["key"], None)
    assert (verified.org_id, verified.user_id) == ("rivals", "ana")
    assert serving.recall.recall(verified, RecallQuery(query="where does Ana live?"))["hits"] == []


def test_keys_are_listed_without_secrets_and_revoked_in_their_organization_alone(serving: Container) -> None:
    (made,) = asked("keys-create", organization="acme", user="ana", role=["admin"])["output"]
    (listed,) = asked("keys-list", organization="acme")["output"]
    assert listed["id"] == made["id"]
    assert not {"key", "secretHash"} & listed.keys()
    assert asked("keys-list", organization="other")["output"] == []
    assert refusal(asked("keys-revoke", organization="other", id=made["id"]))[0] == "not_found"
    verifier = ApiKeyVerifier(serving.ports.keys, serving.ports.clock, 0)
    verifier.verify(made["key"], None)
    assert asked("keys-revoke", organization="acme", id=made["id"])["progress"]["revoked"]
    with pytest.raises(Unauthenticated):
        verifier.verify(made["key"], None)
    events = serving.ports.audit.list("acme", None, 10).items
    assert [(event.action, event.target) for event in events] == [
        ("revoke_key", made["id"]),
        ("create_key", made["id"]),
    ]


def test_keys_are_listed_page_by_page(serving: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        asked("keys-create", organization="acme", user=f"u{number}", role=["member"])
    monkeypatch.setattr("chalicelib.entrypoints.admin.keys.PAGE", 2)
    answers = in_slices(serving, "keys-list", organization="acme")
    assert [len(answer["output"]) for answer in answers] == [2, 2, 1]
    assert {one["userId"] for answer in answers for one in answer["output"]} == {f"u{n}" for n in range(5)}
    assert answers[-1]["progress"] == {"listed": 5}


def test_who_asked_is_told_as_a_claim_and_no_secret_is(serving: Container) -> None:
    class Client:
        custom = {"caller": "arn:aws:iam::1:user/eve"}  # noqa: RUF012 - as Lambda's own has it

    (made,) = asked(
        "keys-create", organization="acme", user="ana", role=["admin"], context=LambdaContext(client_context=Client())
    )["output"]
    told: Any = serving.ports.telemetry
    ((_, said),) = [event for event in told.events if event[0] == "admin_command"]
    assert (said["command"], said["claimed_by"], said["organization"]) == (
        "keys-create",
        "arn:aws:iam::1:user/eve",
        "acme",
    )
    assert made["key"] not in str(told.events)


def test_missing_vectors_are_filled_in_slices_for_the_organization_that_is_named() -> None:
    services = container()
    services.ports.store.insert([row(f"fact {n}", vectors=False) for n in range(120)])
    services.ports.store.insert([row("theirs", vectors=False, org_id="other")])
    answers = in_slices(services, "backfill", organization="acme")
    assert len(answers) > 1
    assert answers[-1]["progress"] == {"done": 120, "cut": 0, "failed": 0}
    assert services.backfill.organizations() == ["other"]
    assert in_slices(services, "backfill")[-1]["progress"]["done"] == 1
    assert in_slices(services, "backfill")[-1]["progress"]["done"] == 0


def test_rows_of_before_are_migrated_in_slices_and_what_was_left_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chalicelib.write.migration.run.BATCH", 2)
    ports = in_memory_ports()
    olds = [{"_id": f"r{n}", "orgId": "acme", "userId": "ana", "content": f"fact {n}"} for n in range(7)]
    olds[0]["userId"] = olds[3]["userId"] = None  # type: ignore[assignment]
    services = container(store=ports.store, old_rows=InMemoryOldRows(ports.store, olds))
    tried = in_slices(services, "migrate", dryRun=True)[-1]
    assert (tried["progress"]["migrated"], len(tried["progress"]["problems"])) == (5, 2)
    assert services.ports.store.rows_of_scope("acme/user/ana") == []
    answers = in_slices(services, "migrate")
    assert len(answers) > 2
    last = answers[-1]
    assert (last["failed"], last["progress"]["migrated"], last["progress"]["left"]) == (True, 5, 0)
    assert sorted(last["progress"]["problems"]) == ["r0: userId: is missing", "r3: userId: is missing"]
    assert len(services.ports.store.rows_of_scope("acme/user/ana")) == 5


def test_a_reindex_goes_on_where_the_last_slice_or_a_killed_run_ended() -> None:
    services = container()
    services.ports.store.insert([row("x", org_id="acme", scope_id=f"u{n}", user_id=f"u{n}") for n in range(4)])
    services.ports.store.insert([row("x", org_id="other")])
    said = AppendRequest.model_validate({"messages": [{"id": "m", "role": "user", "text": "x"}], "extract": "off"})
    services.conversation.sessions.append(caller("acme"), "s1", said)
    answers = in_slices(services, "reindex", organization="acme")
    assert len(answers) > 1
    assert answers[-1]["progress"] == {"rows": 5, "failed": 0, "scopes": 5, "ofScopes": 5}
    first = performed(services, request_of({"command": "reindex"}), lambda: True)
    assert first["progress"] == {"rows": 1, "failed": 0, "scopes": 1, "ofScopes": 6}
    again = performed(
        services, request_of({"command": "reindex"}), lambda: False
    )  # the cursor was lost with who held it
    assert again["progress"]["rows"] == 5
    anew = performed(services, request_of({"command": "reindex", "arguments": {"restart": True}}), lambda: False)
    assert anew["progress"]["rows"] == 6


def test_a_dry_run_that_has_no_time_to_look_at_all_fails_instead_of_beginning_anew_forever() -> None:
    services = container()
    answer = performed(services, request_of({"command": "purge", "arguments": {"dryRun": True}}), lambda: True)
    assert (answer["finished"], answer["failed"], answer["progress"]["finished"]) == (True, True, False)
    real = performed(services, request_of({"command": "purge"}), lambda: True)
    assert (real["finished"], real["failed"]) == (False, False)


def test_without_a_queue_or_redis_a_command_that_needs_it_says_so() -> None:
    bare = container(queue=None, hot=None, cache=None)
    for command in ("queue", "queue-dead", "queue-redrive", "reindex"):
        with pytest.raises(Misconfigured, match="configured"):
            COMMANDS[command].run(bare, COMMANDS[command].arguments(), Turn())


def test_an_error_of_a_store_is_an_answer_and_is_said(serving: Container, monkeypatch: pytest.MonkeyPatch) -> None:
    def down() -> Any:
        raise StoreUnavailable("sqs", "no answer")

    monkeypatch.setattr(serving.ports.queue, "probe", down)
    assert asked("queue")["error"]["code"] == "store_unavailable"
    told: Any = serving.ports.telemetry
    assert [name for name, _ in told.events] == ["admin_command", "job_failing", "admin_refused"]


@pytest.mark.usefixtures("serving")
@pytest.mark.parametrize("command", NOTHING_TO_DO)
def test_a_command_with_nothing_to_do_is_finished_and_well(command: str) -> None:
    answer = asked(command)
    assert (answer["finished"], answer["failed"], answer["cursor"]) == (True, False, None)


def test_every_command_says_what_it_does_and_what_each_argument_is() -> None:
    for command in COMMANDS.values():
        assert command.does.endswith(".")
        assert all(field.description for field in command.arguments.model_fields.values()), command.name


def test_a_person_is_given_out_and_erased_in_slices_and_another_of_that_name_stays() -> None:
    clock = TestClock()
    services = container(clock=clock)
    for org in ("acme", "other"):
        services.remember.remember(caller(org, "ana"), [{"content": "Ana lives in Porto"}], key=None, single=True)
    whose = {"organization": "acme", "user": "ana"}
    lines = [line for answer in in_slices(services, "export-user", **whose) for line in answer["output"]]
    assert [line["memory"]["content"] for line in lines if line["type"] == "memory"] == ["Ana lives in Porto"]
    looked = [answer["progress"]["state"] for answer in _moving(clock, services, "erase", **whose)]
    assert "settling" in looked
    assert looked[-1] == "finished"
    (checked,) = in_slices(services, "erase", **whose, check=True)
    assert (checked["progress"]["left"], checked["failed"]) == (0, False)
    assert checked["output"][0]["pseudonym"].startswith("erased-")
    assert services.personal.check.left(Person("other", "ana"), None, lambda: False).total > 0


def _moving(clock: TestClock, services: Container, command: str, **arguments: Any) -> Iterator[dict[str, Any]]:
    """Every answer of a command, with a minute between two slices."""
    cursor = None
    while True:
        payload = {"command": command, "arguments": arguments, "cursor": cursor}
        answer = performed(services, request_of(payload), _after_one(iter(range(10_000))))
        yield answer
        if answer["finished"]:
            return
        cursor = answer["cursor"]
        services.after_response.settle()
        clock.forward(minutes=1)


def test_documents_are_exported_in_slices_to_the_target_of_the_settings() -> None:
    docs = InMemoryDocsTarget()
    services = container(docs_target=docs)
    for org in ("acme", "other"):
        services.remember.remember(
            caller(org, "root", Role.ADMIN),
            [{"content": "We ship on Fridays", "scope": "organization"}],
            key=None,
            single=True,
        )
    answers = in_slices(services, "export-docs", organization="acme")
    assert answers[-1]["progress"]["memories"] == 1
    assert set(docs.files) == {"acme"}
    with pytest.raises(Conflict):
        in_slices(container(), "export-docs", organization="acme")
