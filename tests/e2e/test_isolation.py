"""The promise of the product, at its front door: without a credential nothing, and with one only what it grants."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest

from app import app
from chalicelib.bootstrap import system_clock
from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from tests.building import AWKWARD_IDS
from tests.conversing import said
from tests.e2e.client import Api, Reply, User, absent
from tests.e2e.surface import OPEN, ROUTES, WITH_ID, Ask, path_of

QUESTION = "what is the pin of the vault of Alice and when does the red team meet?"


@dataclass(frozen=True)
class Owner:
    """Alice, what she stored, and a key of her organization."""

    user: User
    ids: dict[str, str]


@pytest.fixture
def alice(api: Api) -> Owner:
    """A member of the space `red` with a memory of two revisions, a shared one, a forgotten one, a recall, and a session."""
    user = api.user("alice", spaces=("red",))
    memory = user.remember("the pin of the vault of Alice is 4921")
    assert user.patch(memory, {"summary": "a pin"}, 1).status == 200
    shared = user.remember("the red team meets at noon in the vault", scope="space", scopeId="red")
    assert user.patch(shared, {"summary": "a time"}, 1).status == 200
    forgotten = user.remember("the old pin of the vault of Alice was 1111")
    assert user.forget(forgotten).status == 200
    recall = user.answer(QUESTION)["recallId"]
    key = api.key("alice").split("_")[1]
    session = new_id("ses")
    begun = {"messages": [{"id": "m1", "role": "user", "text": "the pin is 4921"}], "spaceId": "red", "extract": "off"}
    assert user.post(f"/engine/session/{session}/messages", begun).status == 200
    api.services.user_genomes.merge(api.org, "alice", "s1", [said("The pin of my vault is 4921.", author="alice")])
    ids = {"memory": memory, "shared": shared, "forgotten": forgotten, "recall": recall, "key": key, "session": session}
    return Owner(user, ids | {"user": "alice"})


def outsider(api: Api, kind: str, role: Role) -> User:
    """Somebody whom Alice granted nothing."""
    if kind == "another user":
        return api.user("bob", role, spaces=("blue",))
    if kind == "the same name as a space":
        return api.user("red", role, universes=("red", "alice"))
    return api.user("alice", role, org=new_id("org"), spaces=("red",))


OUTSIDERS = ("another user", "the same name as a space", "another organization")


def ask(user: User | Api, method: str, pattern: str, asked: Ask, id_: str = "mem_x") -> Reply:
    """Ask a route as `surface` says."""
    return user.send(method, path_of(pattern, id_), asked.body, query=asked.query, headers=asked.headers)


def test_every_route_is_covered_by_these_tests() -> None:
    served = {(method, path) for path, methods in app.routes.items() for method in methods}
    assert served == ROUTES.keys() | OPEN
    assert all(any(a.names for a in asks) == ("{" in path) for (_, path), asks in ROUTES.items())


@pytest.mark.parametrize(("method", "pattern"), ROUTES)
def test_a_route_answers_nobody_without_a_credential_that_holds(api: Api, method: str, pattern: str) -> None:
    now = system_clock()
    revoked, expired, valid = (
        api.key("root", Role.ADMIN),
        api.key("root", Role.ADMIN, expires_at=now - timedelta(seconds=1)),
        api.key("root", Role.ADMIN),
    )
    assert api.services.ports.keys.revoke(api.org, revoked.split("_")[1], now)
    unknown = f"vk_{new_id('key').removeprefix('key_')}_{valid.split('_', 2)[2]}"
    keys = [unknown, revoked, expired, valid[:-1], valid + "x", f"vk_{valid.split('_')[1]}_", "vk__", "vk_", valid[3:]]
    asked = ROUTES[method, pattern][0]
    refused = [
        ask(User(api, {"Authorization": f"Bearer {key}", **extra}), method, pattern, asked)
        for key, extra in [*((key, {}) for key in keys), (valid, {"Vitto-User": "root"})]
    ]
    headers: list[dict[str, str]] = [{}, {"Authorization": ""}, {"Authorization": "Bearer "}]
    headers += [{"Authorization": f"{scheme} {valid}"} for scheme in ("Basic", "Key", "")]
    headers += [{"X-Api-Key": valid}, {"Authorization": valid}, {"Authorization": "Bearer " + "x" * 20_000}]
    refused += [ask(User(api, each), method, pattern, asked) for each in headers]
    assert [reply.refusal for reply in refused] == [(401, "unauthenticated")] * len(refused)
    assert len({str(reply.anonymous) for reply in refused[:7]}) == 1, "the answer says what is wrong with a key"
    assert not any(valid.split("_", 2)[2] in reply.body.decode() for reply in refused)


@pytest.mark.parametrize(("method", "pattern"), ROUTES)
def test_an_unsigned_token_opens_nothing(api: Api, method: str, pattern: str) -> None:
    token = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290Iiwib3JnIjoiYWNtZSIsInJvbGVzIjpbImFkbWluIl19."
    for credential in (token, token + "c2lnbmVk", "a.b.c", "\u540d"):
        refused = ask(User(api, {"Authorization": f"Bearer {credential}"}), method, pattern, ROUTES[method, pattern][0])
        assert refused.refusal == (401, "unauthenticated")


def test_a_route_that_needs_no_credential_refuses_one_that_does_not_hold(api: Api) -> None:
    for method, path in OPEN:
        assert api.send(method, path).status == 200
        assert api.send(method, path, headers={"Authorization": "Bearer vk_1_2"}).refusal == (401, "unauthenticated")


@pytest.mark.parametrize("kind", OUTSIDERS)
def test_a_foreign_id_is_answered_as_one_that_does_not_exist(api: Api, alice: Owner, kind: str) -> None:
    before = [alice.user.read(alice.ids[name]) for name in ("memory", "shared")]
    for method, pattern, asked in WITH_ID:
        is_an_admins = asked.names in {"key", "user"} and asked.role is Role.ADMIN
        if kind != "another organization" and is_an_admins:
            continue  # an admin of the organization may revoke the key, and read the genome
        who = outsider(api, kind, asked.role)
        names = ("memory", "shared") if asked.names == "memory" else (asked.names,)
        for id_ in (alice.ids[str(name)] for name in names):
            foreign = ask(who, method, pattern, asked, id_)
            if (asked.begins or asked.own) and kind == "another organization":
                assert foreign.status == 200, "the same id there is another session, or somebody else"
                continue
            assert foreign.refusal == (404, "not_found"), (method, pattern, asked)
            if not asked.begins:
                missing = ask(who, method, pattern, asked, absent(id_.split("_")[0]))
                assert foreign.anonymous == missing.anonymous, (method, pattern, asked)
    assert [alice.user.read(alice.ids[name]) for name in ("memory", "shared")] == before
    said = alice.user.get(f"/engine/session/{alice.ids['session']}/messages").json["messages"]
    assert [each["text"] for each in said] == ["the pin is 4921"]
    assert alice.user.post(f"/engine/memories/{alice.ids['forgotten']}/restore").status == 200


@pytest.mark.parametrize("indexed", [False, True], ids=["index incomplete", "index complete"])
@pytest.mark.parametrize("kind", OUTSIDERS)
def test_lists_and_recall_show_nothing_foreign_also_through_the_cache(
    api: Api, alice: Owner, kind: str, indexed: bool
) -> None:
    if indexed:
        api.index(alice.user)
        api.index(outsider(api, kind, Role.MEMBER))
    contents = alice.user.recalled(QUESTION)
    assert len(contents) == 2
    assert alice.user.answer(QUESTION)["cached"]
    who = outsider(api, kind, Role.MEMBER)
    for _ in range(2):
        assert who.recalled(QUESTION) == []
        assert who.recalled(contents[0]) == []
    past = {"include": ["superseded", "merged", "shipped"], "asOf": system_clock().isoformat()}
    for asked in ({"route": "deep"}, past, past | {"route": "deep"}, {"route": "fast"}):
        assert len(alice.user.recalled(QUESTION, **asked)) == 2
        assert who.recalled(QUESTION, **asked) == []
    reviewer = outsider(api, kind, Role.REVIEWER)
    for query in ("", "status=archived", "status=quarantined", "q=vault", "scope=space", "scope=user", "type=fact"):
        assert reviewer.listed(query) == []
    linking = {"links": [{"kind": "relates", "target": alice.ids[name]} for name in ("memory", "shared", "forgotten")]}
    mine = who.remember("the pin of the vault of Alice is none of mine", keyEntities=["Alice", "vault"], **linking)
    assert [hit["memory"]["id"] for hit in who.answer(QUESTION, route="deep")["hits"]] == [mine]


def test_an_admin_of_another_organization_sees_nothing_of_this_one(api: Api, alice: Owner) -> None:
    root = api.user("alice", Role.ADMIN, org=new_id("org"), spaces=("red",))
    assert [key["userId"] for key in root.get("/engine/keys").json["keys"]] == ["alice"]
    assert root.get("/engine/audit").json["events"] == []
    assert [root.listed(f"status={status}") for status in ("active", "archived", "quarantined")] == [[], [], []]
    assert root.recalled(QUESTION) == []
    own = api.user("root", Role.ADMIN)
    assert {key["orgId"] for key in own.get("/engine/keys").json["keys"]} == {api.org}
    assert {event["orgId"] for event in own.get("/engine/audit").json["events"]} == {api.org}


def test_only_an_admin_lists_a_whole_organization_and_its_look_is_in_the_audit(api: Api, alice: Owner) -> None:
    root = api.user("root", Role.ADMIN)
    listed = {memory["id"] for memory in root.get("/engine/admin/memories").json["memories"]}
    assert listed == {alice.ids["memory"], alice.ids["shared"]}
    (looked,) = root.get("/engine/audit").json["events"][:1]
    assert (looked["action"], looked["actor"], looked["details"]) == ("browse_organization", "root", {"rows": 2})
    for role in (Role.MEMBER, Role.REVIEWER, Role.OBSERVER):
        refused = api.user("alice", role, spaces=("red",)).get("/engine/admin/memories")
        assert refused.refusal == (403, "forbidden")
    acting = api.user("root", Role.ADMIN, act_as=True).acting_for("alice")
    assert acting.get("/engine/admin/memories").status == 403
    stranger = api.user("root", Role.ADMIN, org=new_id("org"), spaces=("red",))
    for query in ("", "scope=space&scopeId=red", "scopeId=alice", "q=vault", f"scopeId={api.org}"):
        assert stranger.get("/engine/admin/memories", query).json["memories"] == []
    cursor = root.get("/engine/admin/memories", "limit=1").json["cursor"]
    assert stranger.get("/engine/admin/memories", f"cursor={quote(cursor)}").json["memories"] == []


def test_an_admin_reads_no_private_memory_of_its_organization(api: Api, alice: Owner) -> None:
    root = api.user("root", Role.ADMIN)
    assert root.get(f"/engine/memories/{alice.ids['memory']}").status == 404
    assert root.recalled(QUESTION) == []
    explained = root.get(f"/engine/recalls/{alice.ids['recall']}").json
    assert explained["query"] == ""
    assert "4921" not in str(explained)


AWKWARD = {
    "an id with more around it": (
        "{}%2F",
        "%2F{}",
        "..%2F{}",
        "x%2F..%2F{}",
        "{}%00",
        "{}%20",
        "%20{}",
        "{}%3Fx",
        "{}%23",
    ),
    "an id with path parameters": ("{};x", "{};", ";", ";x"),
    "no UTF-8": ("%FF", "%ED%A0%80", "%C0%AF"),
    "patterns": ("{}%25", "%", "%zz", ".", "..", "*", ".*", "$ne", quote('{"$ne": null}'), "\u540d"),
    "what means something somewhere": tuple(quote(id_, safe="") for id_ in AWKWARD_IDS),
}


@pytest.mark.parametrize("awkward", AWKWARD.values(), ids=list(AWKWARD))
def test_an_awkward_id_in_a_path_finds_nothing(api: Api, alice: Owner, awkward: tuple[str, ...]) -> None:
    users = {role: api.user("alice", role, spaces=("red",)) for role in (Role.MEMBER, Role.ADMIN)}
    routes = {(method, pattern, asked.query): asked for method, pattern, asked in reversed(WITH_ID) if not asked.begins}
    for (method, pattern, _), asked in routes.items():
        target = alice.ids[str(asked.names)]
        for id_ in [each.replace("{}", target) for each in (*awkward, f"{api.org}%2Fmemory%2F{{}}")]:
            reply = ask(users[asked.role], method, pattern, asked, id_)
            assert reply.refusal == (404, "not_found"), (method, id_, reply.body)
    assert alice.user.read(alice.ids["memory"])["content"] == "the pin of the vault of Alice is 4921"


def test_an_encoded_id_is_decoded_once(api: Api, alice: Owner) -> None:
    id_ = alice.ids["memory"]
    assert alice.user.get(f"/engine/memories/{id_.replace('_', '%5F')}").status == 200
    assert alice.user.get(f"/engine/memories/{id_.replace('_', '%255F')}").status == 404


@pytest.mark.parametrize("foreign", ["blue", "bob", "", "red/x", "%2e", "*"])
def test_narrowing_to_a_scope_that_is_not_granted_is_not_found(api: Api, alice: Owner, foreign: str) -> None:
    api.user("bob", spaces=("blue",)).remember("blue is the vault", scope="space", scopeId="blue")

    def without_the_name(reply: Reply) -> str:
        return str(reply.anonymous).replace(repr(foreign), "NAME").replace("'nowhere'", "NAME")

    for ids in ([foreign], ["red", foreign]):
        asked = {"query": QUESTION, "scopeIds": ids}
        reply = alice.user.post("/engine/memories/recall", asked)
        assert reply.refusal == (404, "not_found")
        missing = [id_ if id_ == "red" else "nowhere" for id_ in ids]
        unknown = alice.user.post("/engine/memories/recall", asked | {"scopeIds": missing})
        assert without_the_name(reply) == without_the_name(unknown)
    assert alice.user.get("/engine/memories", f"scopeId={quote(foreign, safe='')}").refusal == (404, "not_found")
    assert alice.user.recalled(QUESTION, scopeIds=["red"]) == ["the red team meets at noon in the vault"]


def test_a_scope_id_of_one_kind_grants_no_scope_of_another(api: Api, alice: Owner) -> None:
    universe = api.user("carol", universes=("red",))
    asked: list[dict[str, Any]] = [{}, {"scopes": ["space"]}, {"scopeIds": ["red"]}, {"scopes": ["universe"]}]
    assert [universe.recalled(QUESTION, **each) for each in asked] == [[], [], [], []]
    foreign = {"query": QUESTION, "scopes": ["space"], "scopeIds": ["red"]}
    assert universe.post("/engine/memories/recall", foreign).status == 404


def test_writing_into_a_scope_that_is_not_granted_is_not_found(api: Api, alice: Owner) -> None:
    bob = api.user("bob", spaces=("blue",))
    for scope, scope_id in (("space", "red"), ("user", "alice"), ("universe", "blue"), ("space", ""), ("space", None)):
        reply = bob.post("/engine/memories", {"content": "planted", "scope": scope, "scopeId": scope_id})
        assert reply.status in {404, 422}, reply.body
    assert alice.user.listed("q=planted") == []


def test_the_same_content_and_scope_id_in_two_organizations_are_two_rows(api: Api) -> None:
    other = new_id("org")
    mine, theirs = (api.user("ana", org=org, spaces=("red",)) for org in (api.org, other))
    item = {"scope": "space", "scopeId": "red"}
    first, second = (user.receipt("the release is on Friday", **item) for user in (mine, theirs))
    assert (first["outcome"], second["outcome"]) == ("stored", "stored")
    assert first["id"] != second["id"]
    assert mine.patch(first["id"], {"content": "the release is on Monday"}, 1).status == 200
    assert theirs.recalled("when is the release?") == ["the release is on Friday"]
    assert theirs.get(f"/engine/memories/{first['id']}").status == 404


@pytest.mark.parametrize("shape", ["{org}/user", "{org}%2Fuser", "{org}:user", "{{{org}}}", "{org}/space/red"])
def test_an_organization_that_looks_like_a_key_reaches_into_no_other(api: Api, alice: Owner, shape: str) -> None:
    odd = api.user("alice", Role.ADMIN, org=shape.format(org=api.org), spaces=("red", f"../{api.org}/space/red"))
    assert odd.recalled(QUESTION) == []
    assert odd.listed() == []
    assert odd.get(f"/engine/memories/{alice.ids['memory']}").status == 404
    assert odd.remember("the pin of the vault of Alice is planted") not in alice.ids.values()
    assert "planted" not in str(alice.user.answer(QUESTION))


def test_a_grant_that_was_taken_away_takes_its_memories_along(api: Api, alice: Owner) -> None:
    assert len(alice.user.recalled(QUESTION)) == 2
    narrower = api.user("alice")
    assert narrower.recalled(QUESTION) == ["the pin of the vault of Alice is 4921"]
    assert narrower.get(f"/engine/memories/{alice.ids['shared']}").status == 404


@pytest.mark.parametrize("named", ["orgId", "userId", "user", "org", "roles", "spaces", "actAs", "layer"])
def test_a_body_or_a_query_names_no_identity(api: Api, named: str) -> None:
    ana = api.user()
    assert ana.post("/engine/memories", {"content": "x", named: "alice"}).field == named
    if named != "layer":  # recall takes it from callers of before
        assert ana.post("/engine/memories/recall", {"query": "x", named: "alice"}).field == named
    assert ana.get("/engine/memories", f"{named}=alice").field == named


def test_however_many_of_another_reader_are_nearer_a_reader_gets_its_own(api: Api) -> None:
    bob, alice = api.user("bob"), api.user("alice")
    crowd = [{"content": f"the tea house recipe for green tea, number {i}"} for i in range(100)]
    assert bob.post("/engine/memories", {"memories": crowd}).status == 200
    own = ["a recipe with tea", "my tea is green", "tea at four"]
    for content in own:
        alice.remember(content)
    assert sorted(alice.recalled("the tea house recipe for green tea")) == own
