"""Review over HTTP and real stores: a quarantined memory is let in, put back, refused; two revisions are compared."""

from typing import Any

import pytest

from chalicelib.domain.caller import Role
from chalicelib.domain.memory import Status
from chalicelib.domain.query import StoredMemory
from chalicelib.domain.scope import Scope
from tests.building import row
from tests.e2e.client import Api, Reply, User
from tests.e2e.stores import Stores

RUMOUR = "the zeppelin leaves for Porto on Friday"


def held(api: Api, content: str = RUMOUR, **fields: Any) -> str:
    """The id of a quarantined row of alice's in the space `red`."""
    where = {"org_id": api.org, "scope": Scope.SPACE, "scope_id": "red", "user_id": "alice"}
    stored: StoredMemory = row(content, **where | {"status": Status.QUARANTINED, "quarantine_reason": "score"} | fields)
    api.services.ports.store.insert([stored])
    return stored.memory.id


def decide(user: User, id_: str, decision: str, revision: int | None = None) -> Reply:
    """Ask for a decision."""
    headers = None if revision is None else {"If-Match": f'"{revision}"'}
    return user.post(f"/engine/memories/{id_}/{decision}", headers=headers)


@pytest.fixture
def rita(api: Api) -> User:
    """A reviewer of the space."""
    return api.user("rita", Role.REVIEWER, spaces=("red",))


@pytest.fixture
def bob(api: Api) -> User:
    """A member of the space."""
    return api.user("bob", spaces=("red",))


def test_a_memory_is_let_in_put_back_and_refused(api: Api, rita: User, bob: User, stores: Stores) -> None:
    id_ = held(api)
    assert bob.recalled("when does the zeppelin leave?") == []
    assert bob.get(f"/engine/memories/{id_}").status == 404
    assert bob.get("/engine/memories", "status=quarantined").status == 403
    assert rita.listed("status=quarantined") == [RUMOUR]

    promoted = decide(rita, id_, "promote", 1)
    assert (promoted.status, promoted.headers["etag"], promoted.json["promotedBy"]) == (200, '"2"', "rita")
    assert promoted.json["index"]["state"] == "indexed"
    assert bob.recalled("when does the zeppelin leave?") == [RUMOUR]
    assert bob.recalled("when does the zeppelin leave?") == [RUMOUR]

    assert decide(rita, id_, "undo-promote", 2).json["status"] == "quarantined"
    assert bob.recalled("when does the zeppelin leave?") == []

    rejected = decide(rita, id_, "reject", 3)
    assert rejected.json == {"id": id_, "rejected": True, "index": {"state": "indexed"}}
    assert rita.get(f"/engine/memories/{id_}").status == 404
    assert stores.places_of("zeppelin leaves") == []
    root = api.user("root", Role.ADMIN)
    told = [(event["action"], event["actor"], event["target"]) for event in root.get("/engine/audit").json["events"]]
    assert told == [(action, "rita", id_) for action in ("reject", "undo_promote", "promote")]


def test_who_may_not_decide_is_told_so(api: Api, rita: User, bob: User) -> None:
    id_ = held(api)
    for decision in ("promote", "reject", "undo-promote"):
        assert decide(bob, id_, decision).refusal == (403, "forbidden")
        assert decide(api.user("eve", Role.REVIEWER, spaces=("blue",)), id_, decision).refusal == (404, "not_found")
    own = held(api, "what rita wrote", user_id="rita")
    assert decide(rita, own, "promote").refusal == (403, "forbidden")
    assert decide(api.user("rita", Role.ADMIN, spaces=("red",)), own, "promote").status == 200
    acting = api.user("root", Role.ADMIN, spaces=("red",), act_as=True).acting_for("rita")
    assert decide(acting, id_, "promote").refusal == (403, "forbidden")


def test_what_cannot_be_decided_says_why(api: Api, rita: User) -> None:
    id_ = held(api)
    assert decide(rita, id_, "undo-promote").refusal == (409, "conflict")
    assert decide(rita, id_, "promote", 7).refusal == (412, "stale_revision")
    assert rita.post(f"/engine/memories/{id_}/promote", headers={"If-Match": "x"}).field == "If-Match"
    assert decide(rita, id_, "promote").status == 200
    for decision in ("promote", "reject"):
        refused = decide(rita, id_, decision)
        assert refused.refusal == (409, "conflict")
        assert refused.error["details"]["status"] == "active"


def test_two_revisions_are_compared(api: Api) -> None:
    ana = api.user()
    id_ = ana.remember("Ana lives in Porto", tags=["home"])
    ana.patch(id_, {"content": "Ana lives in Lisbon", "tags": ["home", "new"], "summary": "a move"}, 1)
    ana.patch(id_, {"importance": 0.9}, 2)
    found = ana.get(f"/engine/memories/{id_}/diff", "from=1&to=2").json
    assert (found["from"], found["to"]) == (1, 2)
    assert found["content"] == {
        "before": "Ana lives in Porto",
        "after": "Ana lives in Lisbon",
        "changed": True,
        "parts": [
            {"kind": "same", "text": "Ana lives in "},
            {"kind": "removed", "text": "Porto"},
            {"kind": "added", "text": "Lisbon"},
        ],
    }
    assert found["summary"] == {"after": "a move", "changed": True, "parts": [{"kind": "added", "text": "a move"}]}
    assert (found["tags"]["added"], found["tags"]["removed"]) == (["new"], [])
    backwards = ana.get(f"/engine/memories/{id_}/diff", "from=3&to=1").json
    assert (backwards["content"]["before"], backwards["content"]["after"]) == (
        "Ana lives in Lisbon",
        "Ana lives in Porto",
    )
    assert ana.get(f"/engine/memories/{id_}/diff", "from=1").json["to"] == 3


@pytest.mark.parametrize(
    ("query", "field"), [("", "from"), ("to=1", "from"), ("from=x", "from"), ("from=1&to=0", "to"), ("from=1&t=2", "t")]
)
def test_a_comparison_that_names_no_revisions_is_refused_by_its_field(api: Api, query: str, field: str) -> None:
    ana = api.user()
    assert ana.get(f"/engine/memories/{ana.remember('Ana lives in Porto')}/diff", query).field == field


def test_a_revision_that_never_was_is_not_found(api: Api) -> None:
    ana = api.user()
    id_ = ana.remember("Ana lives in Porto")
    for query in ("from=1&to=2", "from=2&to=1"):
        assert ana.get(f"/engine/memories/{id_}/diff", query).refusal == (404, "not_found")


def test_a_quarantined_memory_is_compared_by_its_author_and_reviewers_alone(api: Api, rita: User, bob: User) -> None:
    id_ = held(api)
    asked = f"/engine/memories/{id_}/diff", "from=1&to=1"
    assert bob.get(*asked).status == 404
    assert rita.get(*asked).json["content"]["changed"] is False
    assert api.user("alice", spaces=("red",)).get(*asked).status == 200


@pytest.mark.parametrize(
    ("query", "field"), [("status=gone", "status"), ("q=%20", "q"), ("x=1", "x"), ("limit=0", "limit")]
)
def test_a_wrong_filter_of_the_organizations_list_is_refused(api: Api, query: str, field: str) -> None:
    assert api.user("root", Role.ADMIN).get("/engine/admin/memories", query).field == field
