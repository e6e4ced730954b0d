"""The user genome over HTTP: one's own, an admin's look is in the audit, and for everybody else there is none."""

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from tests.conversing import talk
from tests.e2e.client import Api

GENOME = "/engine/users/ana/genome"


def test_a_user_reads_their_own_and_an_admins_look_is_in_the_audit(api: Api) -> None:
    assert api.user("ana").get(GENOME).refusal == (404, "not_found")
    said = talk("My name is Ana Silva.", "We decided to use Postgres for billing.", "I need to call the bank.")
    api.services.user_genomes.merge(api.org, "ana", "s1", said)
    own = api.user("ana").get(GENOME).json
    assert [fact["content"] for fact in own["facts"]] == ["My name is Ana Silva."]
    assert (own["userId"], own["merges"], own["version"]) == ("ana", 1, 1)
    assert 0 < own["tokenCount"] <= 1000
    assert "sessions" not in own
    root = api.user("root", Role.ADMIN)
    assert root.get("/engine/audit").json["events"] == []
    assert root.get(GENOME).json == own
    (event,) = root.get("/engine/audit").json["events"]
    assert (event["action"], event["actor"], event["target"]) == ("read_user_genome", "root", "ana")
    assert "Silva" not in str(event)
    assert api.user("root", Role.ADMIN, act_as=True).acting_for("ana").get(GENOME).json == own


def test_for_everybody_else_there_is_none(api: Api) -> None:
    api.services.user_genomes.merge(api.org, "ana", "s1", talk("My name is Ana Silva."))
    other = new_id("org")
    for stranger in (
        api.user("bob"),
        api.user("bob", Role.REVIEWER),
        api.user("bob", Role.OBSERVER),
        api.user("ana", org=other),
        api.user("root", Role.ADMIN, org=other),
    ):
        refused, missing = stranger.get(GENOME), stranger.get("/engine/users/nobody/genome")
        assert refused.refusal == (404, "not_found")
        assert refused.anonymous == missing.anonymous
    assert api.user("root", Role.ADMIN).get("/engine/audit").json["events"] == []
