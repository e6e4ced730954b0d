"""API keys and the audit over HTTP: made by admins, shown once, revoked, and acting for users with what they may."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.bootstrap import system_clock
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.settings import AuthSettings, Settings
from tests.e2e.client import Api, User, absent
from tests.e2e.conftest import Serve
from tests.e2e.stores import Stores

BODY: dict[str, Any] = {"name": "laptop", "userId": "bob", "roles": ["member"]}
ADMIN_ROUTES = [
    ("GET", "/engine/keys"),
    ("POST", "/engine/keys"),
    ("DELETE", "/engine/keys/x"),
    ("GET", "/engine/audit"),
]


@pytest.fixture
def root(api: Api) -> User:
    """An admin."""
    return api.user("root", Role.ADMIN)


def bearer(api: Api, key: str) -> User:
    """Whoever holds a key."""
    return User(api, {"Authorization": f"Bearer {key}"})


def audited(root: User, action: str) -> list[dict[str, Any]]:
    """The events of one kind."""
    return [event for event in root.get("/engine/audit", "limit=200").json["events"] if event["action"] == action]


def test_a_key_is_made_shown_once_and_works(api: Api, root: User) -> None:
    wanted = BODY | {"spaces": ["red"], "universes": ["sol"], "expiresAt": "2999-01-01T00:00:00Z"}
    made = root.post("/engine/keys", wanted)
    assert made.status == 201
    shown = made.json["key"]
    assert shown.startswith(f"vk_{made.json['id']}_")
    assert {name: made.json[name] for name in BODY} == BODY
    assert (made.json["orgId"], made.json["createdBy"], made.json["actAs"]) == (api.org, "root", False)
    bob = bearer(api, shown)
    bob.remember("the red team meets at noon", scope="space", scopeId="red")
    bob.remember("the sol universe has nine planets", scope="universe", scopeId="sol")
    assert bob.read(bob.remember("Bob likes tea"))["userId"] == "bob"
    listed = root.get("/engine/keys")
    assert {key["id"] for key in listed.json["keys"]} >= {made.json["id"]}
    secret = shown.split("_", 2)[2]
    assert secret not in listed.body.decode()
    assert not any("hash" in name.lower() or name == "key" for key in listed.json["keys"] for name in key)


def test_nothing_of_a_key_is_stored_but_its_hash(api: Api, root: User, stores: Stores) -> None:
    shown = root.post("/engine/keys", BODY).json["key"]
    bob = bearer(api, shown)
    bob.remember(f"my key is {shown}")
    bob.answer(f"is {shown} my key?")
    bob.post("/engine/memories", {"content": "x"}, {"Idempotency-Key": "k1"})
    assert stores.places_of(shown.split("_", 2)[2]) == []


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": "x" * 129}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"userId": ""}, "userId"),
        ({"userId": "  "}, "userId"),
        ({"userId": "a\nb"}, "userId"),
        ({"userId": "名" * 43}, "userId"),
        ({"userId": "\ud800"}, "userId"),
        ({"roles": []}, "roles"),
        ({"roles": ["root"]}, "roles.0"),
        ({"roles": "admin"}, "roles"),
        ({"spaces": [""]}, "spaces.0"),
        ({"spaces": "red"}, "spaces"),
        ({"spaces": [f"s{i}" for i in range(101)]}, "spaces"),
        ({"universes": ["a\x00"]}, "universes"),
        ({"actAs": "perhaps"}, "actAs"),
        ({"expiresAt": "2020-01-01T00:00:00Z"}, "expiresAt"),
        ({"expiresAt": "2999-01-01"}, "expiresAt"),
        ({"expiresAt": "9999-12-31T23:59:59-14:00"}, "expiresAt"),
        ({"orgId": "rival"}, "orgId"),
        ({"secretHash": "00"}, "secretHash"),
        ({"createdBy": "bob"}, "createdBy"),
        ({"act_as": True}, "act_as"),
    ],
)
def test_a_key_that_cannot_be_is_named_and_not_made(root: User, changes: dict[str, Any], field: str) -> None:
    before = root.get("/engine/keys").json["keys"]
    assert root.post("/engine/keys", BODY | changes).field == field
    assert root.get("/engine/keys").json["keys"] == before


@pytest.mark.parametrize("user", ["a/b", "a%2Fb", "名前", "a:b{c}", "a b", "$ne", "x" * 128])
def test_a_user_may_have_any_id(api: Api, root: User, user: str) -> None:
    someone = bearer(api, root.post("/engine/keys", BODY | {"userId": user}).json["key"])
    id_ = someone.remember("the tea is green")
    assert someone.read(id_)["scopeId"] == user
    assert someone.recalled("green tea") == ["the tea is green"]
    assert someone.recalled("green tea", scopeIds=[user]) == ["the tea is green"]
    assert someone.get("/engine/memories", f"scopeId={quote(user, safe='')}").json["memories"]


@pytest.mark.parametrize(("method", "path"), ADMIN_ROUTES)
def test_administration_takes_an_admin(api: Api, method: str, path: str) -> None:
    callers = [api.user("ana", *roles) for roles in ((Role.MEMBER,), (Role.REVIEWER,), (Role.OBSERVER, Role.ADMIN))]
    callers.append(api.user("robot", Role.ADMIN, act_as=True).acting_for("root"))
    for caller in callers:
        refused = caller.send(method, path, BODY if method == "POST" else None)
        assert refused.refusal == (403, "forbidden")
        assert refused.error["details"]["needs"] == ["admin"]


def test_a_revoked_key_is_refused_at_once_where_keys_are_not_trusted(serve: Serve) -> None:
    api = serve(Settings(auth=AuthSettings(key_cache_seconds=0)))
    root = api.user("root", Role.ADMIN)
    made = root.post("/engine/keys", BODY).json
    bob, path = bearer(api, made["key"]), f"/engine/keys/{made['id']}"
    assert bob.get("/engine/memories").status == 200
    assert root.send("DELETE", path).json == {"id": made["id"], "revoked": True}
    assert bob.get("/engine/memories").refusal == (401, "unauthenticated")
    first = next(key for key in root.get("/engine/keys").json["keys"] if key["id"] == made["id"])["revokedAt"]
    assert root.send("DELETE", path).status == 200
    assert next(key for key in root.get("/engine/keys").json["keys"] if key["id"] == made["id"])["revokedAt"] == first
    assert root.send("DELETE", f"/engine/keys/{absent('key')}").refusal == (404, "not_found")


def test_a_key_ends_when_it_expires_though_it_is_trusted(api: Api) -> None:
    expires = system_clock() + timedelta(seconds=0.5)
    bob = api.user("bob", expires_at=expires)
    assert bob.get("/engine/memories").status == 200
    while system_clock() < expires:
        pass
    assert bob.get("/engine/memories").refusal == (401, "unauthenticated")


def test_pages_of_keys_and_of_events_hold_each_once(api: Api, root: User) -> None:
    made = {root.post("/engine/keys", BODY | {"name": f"k{i}"}).json["id"] for i in range(7)}
    for path, name, mine in (("/engine/keys", "keys", "id"), ("/engine/audit", "events", "target")):
        seen: list[str] = []
        cursor = ""
        while not seen or cursor:
            page = root.get(path, f"limit=3{f'&cursor={quote(cursor)}' if cursor else ''}").json
            seen += [row[mine] for row in page[name]]
            cursor = page["cursor"]
        assert len(seen) == len(set(seen))
        assert made <= set(seen)
        for query, field in (("limit=0", "limit"), ("limit=201", "limit"), ("cursor=x", "cursor"), ("org=x", "org")):
            assert root.get(path, query).field == field


def test_what_is_done_to_keys_and_memories_is_audited(api: Api, root: User) -> None:
    made = root.post("/engine/keys", BODY).json["id"]
    root.send("DELETE", f"/engine/keys/{made}")
    id_ = root.remember("the office is in Porto", scope="organization")
    root.patch(id_, {"content": "the office is in Faro"}, 1)
    root.forget(id_)
    root.post(f"/engine/memories/{id_}/restore")
    root.forget(id_, "purge=true")
    for action, target in [("create_key", made), ("revoke_key", made), *[(a, id_) for a in ("edit", "forget")]]:
        (event,) = audited(root, action)
        assert (event["actor"], event["target"], event["orgId"]) == ("root", target, api.org)
    assert [len(audited(root, action)) for action in ("restore", "purge")] == [1, 1]
    assert "Porto" not in root.get("/engine/audit").body.decode()


def test_an_assistant_acts_for_a_user_and_both_are_on_record(api: Api, root: User) -> None:
    assistant = api.user("robot", act_as=True, spaces=("red",))
    key_id = assistant.headers["Authorization"].split("_")[1]
    for_ana = assistant.acting_for("ana")
    id_ = for_ana.remember("Ana lives in Porto")
    ana = api.user("ana")
    assert ana.read(id_)["userId"] == "ana"
    assert ana.recalled("where does Ana live?") == ["Ana lives in Porto"]
    assert assistant.get(f"/engine/memories/{id_}").status == 404
    assert assistant.acting_for("bob").get(f"/engine/memories/{id_}").status == 404
    assert for_ana.patch(id_, {"content": "Ana lives in Faro"}, 1).status == 200
    assert for_ana.forget(id_).status == 200
    for action in ("remember", "edit", "forget"):
        (event,) = audited(root, action)
        assert (event["actor"], event["onBehalfBy"], event["target"]) == ("ana", key_id, id_)
    recall = for_ana.answer("where does Ana live?")["recallId"]
    found = ana.get(f"/engine/recalls/{recall}").json
    assert (found["userId"], key_id in found["credential"]) == ("ana", True)
    assert assistant.get(f"/engine/recalls/{recall}").status == 404


def test_an_assistant_has_no_more_than_its_grants_and_no_administration(api: Api) -> None:
    api.user("ana", spaces=("red", "blue")).remember("blue meets at noon", scope="space", scopeId="blue")
    for_ana = api.user("robot", Role.ADMIN, Role.REVIEWER, act_as=True, spaces=("red",)).acting_for("ana")
    assert for_ana.recalled("when does blue meet?") == []
    assert for_ana.post("/engine/memories", {"content": "x", "scope": "space", "scopeId": "blue"}).status == 404
    assert for_ana.post("/engine/memories", {"content": "x", "scope": "organization"}).refusal == (403, "forbidden")
    assert for_ana.get("/engine/memories", "status=quarantined").refusal == (403, "forbidden")
    observing = api.user("robot", Role.OBSERVER, act_as=True).acting_for("ana")
    assert observing.post("/engine/memories", {"content": "x"}).refusal == (403, "forbidden")


def test_an_assistant_acts_in_its_own_organization_alone(api: Api) -> None:
    id_ = api.user("ana").remember("Ana lives in Porto")
    foreign = api.user("robot", org=new_id("org"), act_as=True).acting_for("ana")
    assert foreign.get(f"/engine/memories/{id_}").status == 404
    assert foreign.recalled("where does Ana live?") == []


@pytest.mark.parametrize("user", ["", "  ", "x" * 129, "a\tb"])
def test_a_user_that_cannot_be_is_not_acted_for(api: Api, user: str) -> None:
    refused = api.user("robot", act_as=True).acting_for(user).get("/engine/memories")
    assert refused.status in {401, 422}
    assert refused.status == 401 or refused.field == "Vitto-User"


def test_a_user_of_any_script_is_acted_for_as_itself_or_not_at_all(api: Api) -> None:
    api.user("名前").remember("the tea is green")
    reply = api.user("robot", act_as=True).acting_for("名前").get("/engine/memories")
    assert reply.status in {401, 422} or [m["scopeId"] for m in reply.json["memories"]] == ["名前"]
