"""What a recall did can be explained afterwards: by the audit, and by `vitto recall explain`, to who asked."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from chalicelib.bootstrap import Container
from chalicelib.domain.memory import LinkKind
from chalicelib.domain.query import RecallRecord
from chalicelib.domain.scope import Scope
from tests.building import NOW, row
from tests.unit.recalling import ANA, claims, fillers, holding, linked, recall
from vitto_tools.cli import memories, recalls
from vitto_tools.cli.__main__ import app

RESIDENCE = claims(("Acme", "residence", "Porto")), claims(("Acme", "residence", "Lisbon"))
SECRET_WORD = "lighthouse"


def served() -> Container:
    """A policy, what it overrides, what it leads to, and what has nothing to do with it."""
    policy = row(
        f"The office of Acme is in Porto by the {SECRET_WORD}",
        id="mem_policy",
        scope=Scope.ORGANIZATION,
        scope_id="acme",
        overridable=False,
        claims=RESIDENCE[0],
    )
    mine = row("The office of Acme is in Lisbon", id="mem_mine", claims=RESIDENCE[1])
    near = row("Sum for the office: 4", id="mem_near", links=linked("mem_policy", LinkKind.EVIDENCE))
    services = holding(policy, mine, near, *fillers(4), row("The office of Acme is closed", id="mem_gone"))
    services.ports.store.purge(ANA.chain, "mem_gone")  # the index has not heard of its end
    services.ports.store.insert([row("The office of Acme is closed", id="mem_gone", expires_at=NOW)])
    return services


def explained(services: Container, **asked: Any) -> RecallRecord:
    """The audit of a recall."""
    answer = recall(services, "in which city is the office of Acme?", route="deep", **asked)
    return services.recall_audit.read(ANA, answer["recallId"])


def test_the_audit_says_what_was_found_left_out_and_by_which_rule() -> None:
    record = explained(served(), limit=2, min_score=0.1)
    assert record.route
    assert record.conditions == {"route": "deep", "limit": 2, "minScore": 0.1}
    out = {one.id: one for one in record.left_out}
    assert (out["mem_mine"].rule, out["mem_mine"].by, out["mem_mine"].override) == (
        "overridden",
        "mem_policy",
        "policy",
    )
    assert out["mem_gone"].rule == "not_active"
    assert "below_floor" in {one.rule.value for one in record.left_out}
    assert "below_min_score" in {one.rule.value for one in explained(served(), min_score=0.95).left_out}
    (first, *_) = record.hits
    assert first["id"] == "mem_policy"
    assert first["overrode"] == [{"id": "mem_mine", "rule": "policy"}]
    assert {"id": "mem_policy", "over": "evidence"} in [hit.get("via") for hit in record.hits]
    assert {one.id for one in record.candidates} >= {"mem_policy", "mem_mine", "mem_gone"}
    fused = [one.fused for one in record.candidates]
    assert fused == sorted(fused, reverse=True)


def test_what_a_limit_cuts_and_what_is_not_near_is_said() -> None:
    services = served()
    assert "beyond_limit" in {one.rule for one in explained(services, limit=1).left_out}
    answer = recall(services, "quarterly revenue forecast spreadsheet")
    assert answer["hits"] == []
    record = services.recall_audit.read(ANA, answer["recallId"])
    assert {one.rule.value for one in record.left_out} <= {"nothing_near", "below_floor", "not_active"}
    assert record.left_out


def test_the_audit_keeps_no_content_and_no_tag_and_is_bounded() -> None:
    services = served()
    services.ports.store.insert([row(f"The office of Acme number {i}") for i in range(200)])
    for scope in ANA.chain.keys:
        services.maintenance.rebuild(scope)
    record = explained(services, limit=100)
    said = record.model_dump_json()
    assert SECRET_WORD not in said
    assert "Lisbon" not in said
    assert len(record.candidates) <= 25
    assert len(record.left_out) <= 50
    assert explained(services, tags=("private",)).conditions == {"route": "deep"}


def test_a_served_answer_is_explained_as_the_one_that_was_kept() -> None:
    services = holding(row("The office of Acme is in Porto"), caches=True)
    first, second = explained(services), explained(services)
    assert (first.cached, second.cached) == (False, True)
    assert first.candidates
    assert (second.candidates, second.left_out) == (first.candidates, first.left_out)


class Api:
    """An API that answers with an audit, or with an answer."""

    def __init__(self, record: RecallRecord) -> None:
        self.record = record
        self.calls: list[tuple[str, str, Any]] = []

    def call(self, method: str, path: str, **options: Any) -> Any:
        """What was asked for."""
        self.calls.append((method, path, options.get("json")))
        if method == "POST":
            route = {"name": "standard"}
            missing = [{"part": "cold", "message": "[red]no answer[/red]"}]
            return {
                "hits": [],
                "tiers": [],
                "degraded": missing,
                "cached": False,
                "recallId": "rcl_1",
                "tookMs": 1.0,
            } | {"route": route}
        return json.loads(self.record.model_dump_json(by_alias=True))


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API that the command speaks to."""
    made = Api(explained(served(), limit=1, min_score=0.1))
    for module in (memories, recalls):
        monkeypatch.setattr(module, "api", lambda: made)
    monkeypatch.setattr(memories.console, "_width", 250)
    return made


def run(*arguments: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("command", [("recall", "explain", "rcl_1"), ("explain", "rcl_1")], ids=str)
def test_the_command_prints_query_route_tiers_candidates_and_rules(api: Api, command: tuple[str, ...]) -> None:
    said = run(*command)
    assert api.calls == [("GET", "/engine/recalls/rcl_1", None)]
    for expected in (
        "in which city is the office",
        "deep (forced",
        "redis_vectors",
        "mem_policy",
        "overridden",
        "policy",
    ):
        assert expected in said
    assert json.loads(run(*command, "--json"))["recallId"] == api.record.recall_id


def test_an_admin_is_told_that_the_query_is_its_readers_own(api: Api) -> None:
    api.record = api.record.model_copy(update={"query": ""})
    assert "its reader's own" in run("recall", "explain", "rcl_1")


@pytest.mark.parametrize(
    "words", [("explain this to me",), ("explain", "this"), ("explain", "rcl_1", "please")], ids=str
)
def test_a_query_that_begins_so_is_a_query(api: Api, words: tuple[str, ...]) -> None:
    said = run("recall", *words, "--route", "deep", "--include", "superseded", "--as-of", "2026-01-01T00:00:00Z")
    ((method, path, body),) = api.calls
    assert (method, path) == ("POST", "/engine/memories/recall")
    assert body == {
        "query": " ".join(words),
        "tags": [],
        "route": "deep",
        "include": ["superseded"],
        "asOf": "2026-01-01T00:00:00Z",
    }
    assert "cold: [red]no answer[/red]" in said, "what a store says is shown and not obeyed"
