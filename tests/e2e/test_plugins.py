"""Plugins over HTTP: an admin lists and switches those of its own organization, and answers name what went wrong."""

import time

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from tests.e2e.client import Api, User

PLUGINS = "/engine/plugins"


def states(user: User) -> dict[str, bool]:
    """Which plugins are on."""
    return {plugin["name"]: plugin["on"] for plugin in user.get(PLUGINS).json["plugins"]}


def test_an_admin_sees_what_there_is_and_switches_it(api: Api) -> None:
    root = api.user("root", Role.ADMIN)
    listed = root.get(PLUGINS).json["plugins"]
    assert {"memory_versioning", "preference_learning", "emotional_context"} <= {each["name"] for each in listed}
    for each in listed:
        assert each["description"]
        assert each["hooks"]
        assert (each["origin"], each["on"], each["default"]) == ("built_in", True, True)
    reply = root.send("PUT", PLUGINS, {"plugins": {"emotional_context": False, "memory_versioning": False}})
    assert reply.status == 200
    assert {each["name"]: each["on"] for each in reply.json["plugins"]} == states(root)
    assert [name for name, on in states(root).items() if not on] == ["memory_versioning", "emotional_context"]
    events = root.get("/engine/audit").json["events"]
    assert {(e["action"], e["actor"], e["target"], e["details"]["on"]) for e in events} == {
        ("switch_plugin", "root", "emotional_context", False),
        ("switch_plugin", "root", "memory_versioning", False),
    }


def test_a_switch_of_one_organization_is_none_of_another(api: Api) -> None:
    root, other = api.user("root", Role.ADMIN), api.user("root", Role.ADMIN, org=new_id("org"))
    assert root.send("PUT", PLUGINS, {"plugins": {"memory_versioning": False}}).status == 200
    assert all(states(other).values())
    assert other.get("/engine/audit").json["events"] == []
    mine, theirs = api.user("ana"), api.user("ana", org=other.get("/engine/keys").json["keys"][0]["orgId"])
    histories = []
    for user in (mine, theirs):
        id_ = user.remember("the vault opens at noon")
        changed = user.patch(id_, {"content": "the vault opens at one"}, 1)
        listed = user.get("/engine/memories").json["memories"][0]
        histories.append([len(each["history"]) for each in (changed.json, user.read(id_), listed)])
        revision = user.get(f"/engine/memories/{id_}/revisions/1").status
        histories[-1].append(revision)
    assert histories == [[0, 0, 0, 404], [1, 1, 1, 200]]


def test_only_an_admin_sees_or_switches_plugins(api: Api) -> None:
    for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER):
        user = api.user("ana", role)
        assert user.get(PLUGINS).refusal == (403, "forbidden")
        assert user.send("PUT", PLUGINS, {"plugins": {"memory_versioning": False}}).refusal == (403, "forbidden")
    assert all(states(api.user("root", Role.ADMIN)).values())


def test_a_name_that_there_is_not_and_what_is_no_switch_are_named(api: Api) -> None:
    root = api.user("root", Role.ADMIN)
    for body, field in (
        ({"plugins": {"memory_versioning": False, "nope": True}}, "plugins.nope"),
        ({"plugins": {"a.b": True}}, "plugins.a.b"),
        ({"plugins": {"$set": True}}, "plugins.$set"),
        ({"plugins": {"memory_versioning": "off"}}, "plugins.memory_versioning"),
        ({"plugins": {"memory_versioning": None}}, "plugins.memory_versioning"),
        ({"plugins": {}}, "plugins"),
        ({"plugins": []}, "plugins"),
        ({}, "plugins"),
        ({"plugin": {"memory_versioning": False}}, "plugin"),
    ):
        reply = root.send("PUT", PLUGINS, body)
        assert reply.refusal == (422, "invalid_input"), body
        assert field in [problem["field"] for problem in reply.json["error"]["details"].get("problems", [])] + [
            reply.json["error"]["details"]["field"]
        ]
    assert all(states(root).values())


def test_a_wish_that_is_remembered_is_recalled_as_a_preference(api: Api) -> None:
    ana = api.user("ana")
    ana.remember("No, shorter answers please", origin={"speaker": "user", "messageId": "msg_1"})
    until = time.monotonic() + 20  # on a busy machine the plugin is cut off, and sends its task all the same
    while not (preferences := ana.get("/engine/memories", "type=preference").json["memories"]):
        assert time.monotonic() < until
        assert api.services.consumer.drain().failed == 0
        time.sleep(0.1)
    assert [each["links"] for each in preferences] == [[{"kind": "evidence", "target": "msg_1"}]]
    assert api.user("bob").listed("type=preference") == []
