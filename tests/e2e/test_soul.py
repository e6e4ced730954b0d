"""The Soul over HTTP: members read it, admins set it up, and each organization has its own."""

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from tests.e2e.client import Api
from tests.unit.fake_secrets import AWS_KEY

SOUL = "/engine/soul"
VITTO = {"name": "Vitto", "character": "warm", "values": ["honesty"], "mood": "calm", "persona": "a colleague"}
EMPTY = {"name": "", "character": "", "values": [], "mood": "", "persona": ""}


def test_an_admin_sets_it_up_and_every_member_reads_it_with_its_brief(api: Api) -> None:
    root = api.user("root", Role.ADMIN)
    before = root.get(SOUL).json
    assert (before["soul"], before["brief"], before["briefTokens"]) == (EMPTY, "", 0)
    assert "updatedBy" not in before
    put = root.send("PUT", SOUL, VITTO)
    assert (put.status, put.json["soul"], put.json["updatedBy"], put.json["redacted"]) == (200, VITTO, "root", [])
    for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER, Role.ADMIN):
        read = api.user("ana", role).get(SOUL).json
        assert read == {name: value for name, value in put.json.items() if name != "redacted"}
    assert "Vitto" in put.json["brief"]
    assert 0 < put.json["briefTokens"] <= 150
    (event,) = root.get("/engine/audit").json["events"]
    assert (event["action"], event["actor"], event["details"]["digest"]) == ("put_soul", "root", put.json["digest"])
    assert root.send("PUT", SOUL, {}).json["soul"] == EMPTY


def test_only_an_admin_sets_it_up(api: Api) -> None:
    for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER):
        assert api.user("ana", role).send("PUT", SOUL, VITTO).refusal == (403, "forbidden")
    acting = api.user("root", Role.ADMIN, act_as=True).acting_for("ana")
    assert acting.send("PUT", SOUL, VITTO).refusal == (403, "forbidden")
    assert api.user("ana").get(SOUL).json["soul"] == EMPTY


def test_one_organization_neither_sees_nor_changes_anothers(api: Api) -> None:
    other = api.user("root", Role.ADMIN, org=new_id("org"))
    assert api.user("root", Role.ADMIN).send("PUT", SOUL, VITTO).status == 200
    assert other.get(SOUL).json["soul"] == EMPTY
    assert other.send("PUT", SOUL, {"name": "Otto"}).status == 200
    assert other.get("/engine/audit").json["events"][0]["actor"] == "root"
    assert api.user("ana").get(SOUL).json["soul"] == VITTO


def test_what_is_wrong_is_named_and_secrets_are_not_kept(api: Api) -> None:
    root = api.user("root", Role.ADMIN)
    for body, field in (
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"name": " "}, "name"),
        ({"values": "honesty"}, "values"),
        ({"values": ["honesty", ""]}, "values.1"),
        ({"values": [str(i) for i in range(21)]}, "values"),
        ({"persona": "x" * 4001}, "persona"),
        ({"values": ["x", "a\ud800"]}, "values.1"),
        ({"soul": VITTO}, "soul"),
        ({"orgId": "other"}, "orgId"),
    ):
        reply = root.send("PUT", SOUL, body)
        assert (reply.refusal, reply.field) == ((422, "invalid_input"), field)
    assert root.get(SOUL).json["soul"] == EMPTY
    put = root.send("PUT", SOUL, {"persona": f"knows {AWS_KEY}"})
    assert put.json["redacted"] == ["aws_access_key"]
    assert AWS_KEY not in str((put.json, root.get(SOUL).json, root.get("/engine/audit").json))
