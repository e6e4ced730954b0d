"""Single memories over HTTP: listed, read, edited against a revision, forgotten and brought back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.domain.caller import Role
from tests.e2e.client import Api, Reply, User, absent

RED = {"scope": "space", "scopeId": "red"}


@pytest.fixture
def ana(api: Api) -> User:
    """A member of the space `red`."""
    return api.user(spaces=("red",))


def test_a_memory_is_read_with_its_revision_as_etag(ana: User) -> None:
    id_ = ana.remember("Ana lives in Porto", tags=["home"])
    reply = ana.get(f"/engine/memories/{id_}")
    assert reply.headers["etag"] == '"1"'
    assert (reply.json["id"], reply.json["revision"], reply.json["history"]) == (id_, 1, [])
    assert ana.get(f"/engine/memories/{absent()}").refusal == (404, "not_found")


@pytest.mark.parametrize("if_match", ['"1"', "1", 'W/"1"', ' "1" '])
def test_an_edit_against_the_present_revision_is_kept_with_its_history(ana: User, if_match: str) -> None:
    id_ = ana.remember("Ana lives in Porto", tags=["home"], summary="where")
    reply = ana.patch(id_, {"content": "Ana lives in Faro", "tags": ["home", "sea"]}, if_match)
    assert reply.status == 200
    assert reply.headers["etag"] == '"2"'
    assert reply.json["index"] == {"state": "indexed"}
    memory = ana.read(id_)
    assert (memory["content"], memory["tags"], memory["revision"]) == ("Ana lives in Faro", ["home", "sea"], 2)
    (earlier,) = memory["history"]
    wanted = {"revision": 1, "content": "Ana lives in Porto", "summary": "where", "tags": ["home"], "editedBy": "ana"}
    assert {name: earlier[name] for name in wanted} == wanted
    assert ana.recalled("Ana lives in Faro")[0] == "Ana lives in Faro"


def test_an_edit_without_or_against_an_older_revision_changes_nothing(ana: User) -> None:
    id_ = ana.remember("Ana lives in Porto")
    missing = ana.patch(id_, {"content": "x"})
    assert missing.refusal == (428, "revision_required")
    assert missing.error["details"]["revision"] == 1
    assert ana.patch(id_, {"importance": 0.9}, 1).status == 200
    stale = ana.patch(id_, {"content": "x"}, 1)
    assert stale.refusal == (412, "stale_revision")
    assert stale.error["details"]["revision"] == 2
    assert ana.patch(id_, {"content": "x"}, 3).refusal == (412, "stale_revision")
    assert ana.read(id_)["content"] == "Ana lives in Porto"


@pytest.mark.parametrize("if_match", ["*", '"x"', "", '"1', "-1", "1.0", "٣", "1, 2", "9" * 30])
def test_an_if_match_that_is_no_revision_is_named(ana: User, if_match: str) -> None:
    id_ = ana.remember("Ana lives in Porto")
    reply = ana.patch(id_, {"content": "x"}, if_match)
    if if_match == '"1':  # a missing quote is forgiven
        assert reply.status == 200
    else:
        assert reply.field == "If-Match"


def test_of_edits_at_once_against_one_revision_exactly_one_is_kept(ana: User) -> None:
    id_, barrier = ana.remember("Ana lives in Porto"), Barrier(12)

    def edit(i: int) -> Reply:
        barrier.wait(timeout=20)
        return ana.patch(id_, {"content": f"Ana lives in house {i}"}, 1)

    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(edit, range(12)))
    kept = [reply.json["content"] for reply in replies if reply.status == 200]
    assert len(kept) == 1
    assert {reply.refusal for reply in replies if reply.status != 200} == {(412, "stale_revision")}
    memory = ana.read(id_)
    assert (memory["content"], memory["revision"], len(memory["history"])) == (kept[0], 2, 1)
    assert ana.recalled("Ana lives in house") == kept


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({}, "body"),
        ({"colour": "red"}, "colour"),
        ({"scope": "space"}, "scope"),
        ({"status": "active"}, "status"),
        ({"userId": "bob"}, "userId"),
        ({"revision": 9}, "revision"),
        ({"key_entities": []}, "key_entities"),
        ({"type": "gossip"}, "type"),
        ({"importance": 2}, "importance"),
        ({"content": ""}, "content"),
        ({"content": "\u200b"}, "content"),
        ({"content": "x" * (16 * 1024 + 1)}, "content"),
        ({"content": "vitto:recalled x"}, "content"),
        ({"tags": [" "]}, "tags.0"),
        ({"eventTime": "soon"}, "eventTime"),
        ({"eventTime": "0001-01-01T00:00:00+14:00"}, "eventTime"),
    ],
)
def test_a_wrong_change_is_named_and_changes_nothing(ana: User, changes: dict[str, Any], field: str) -> None:
    id_ = ana.remember("Ana lives in Porto")
    assert ana.patch(id_, changes, 1).field == field
    assert ana.read(id_)["revision"] == 1


@pytest.mark.parametrize("name", ["content", "tags", "type", "importance", "eventTime"])
def test_null_clears_only_what_can_be_absent(ana: User, name: str) -> None:
    id_ = ana.remember("Ana lives in Porto", summary="s", outcome="o", expiresAt="2999-01-01T00:00:00Z")
    assert ana.patch(id_, {name: None}, 1).field == name
    assert ana.patch(id_, {"summary": None, "outcome": None, "expiresAt": None}, 1).status == 200
    assert not {"summary", "outcome", "expiresAt"} & ana.read(id_).keys()


def test_an_edit_into_content_that_is_there_already_is_a_conflict(ana: User) -> None:
    ana.remember("Ana lives in Porto")
    id_ = ana.remember("Bob lives in Faro")
    assert ana.patch(id_, {"content": " Ana lives  in Porto"}, 1).refusal == (409, "duplicate_content")
    assert ana.read(id_)["content"] == "Bob lives in Faro"


def test_others_read_a_shared_memory_and_only_its_author_or_an_admin_changes_it(api: Api, ana: User) -> None:
    id_ = ana.remember("the red team meets at noon", **RED)
    bob, reviewer = (api.user("bob", role, spaces=("red",)) for role in (Role.MEMBER, Role.REVIEWER))
    for other in (bob, reviewer, api.user("ana", Role.OBSERVER, spaces=("red",))):
        assert other.read(id_)["content"] == "the red team meets at noon"
        assert other.patch(id_, {"content": "x"}, 1).refusal == (403, "forbidden")
        assert other.forget(id_).refusal == (403, "forbidden")
        assert other.post(f"/engine/memories/{id_}/restore", {"revision": 1}).refusal == (403, "forbidden")
        assert other.forget(id_, "purge=true").refusal == (403, "forbidden")
    root = api.user("root", Role.ADMIN, spaces=("red",))
    assert root.patch(id_, {"overridable": False}, 1).status == 200
    assert ana.patch(id_, {"overridable": True}, 2).refusal == (403, "forbidden")
    assert ana.patch(id_, {"content": "the red team meets at one"}, 2).status == 200


def test_any_revision_is_read_and_restored(ana: User) -> None:
    id_ = ana.remember("first", tags=["a"])
    ana.patch(id_, {"content": "second", "tags": ["b"]}, 1)
    ana.patch(id_, {"summary": "s"}, 2)
    path = f"/engine/memories/{id_}"
    said = [ana.get(f"{path}/revisions/{n}").json for n in (1, 2, 3)]
    assert [each["content"] for each in said] == ["first", "second", "second"]
    assert [each["revision"] for each in said] == [1, 2, 3]
    assert ana.get(f"{path}/revisions/4").refusal == (404, "not_found")
    assert ana.post(f"{path}/restore", {"revision": 9}).refusal == (404, "not_found")
    assert ana.post(f"{path}/restore", {"revision": 1}, {"If-Match": '"2"'}).refusal == (412, "stale_revision")
    restored = ana.post(f"{path}/restore", {"revision": 1}, {"If-Match": '"3"'})
    assert restored.headers["etag"] == '"4"'
    memory = ana.read(id_)
    assert (memory["content"], memory["tags"], "summary" in memory) == ("first", ["a"], False)
    assert [earlier["revision"] for earlier in memory["history"]] == [1, 2, 3]
    assert ana.recalled("first") == ["first"]


@pytest.mark.parametrize("number", ["0", "x", "-1", "1.0", "%D9%A1", "1%20", "9" * 20, "9" * 5000])
def test_a_revision_that_cannot_be_is_refused(ana: User, number: str) -> None:
    id_ = ana.remember("Ana lives in Porto")
    assert ana.get(f"/engine/memories/{id_}/revisions/{number}").status in {404, 422}


@pytest.mark.parametrize("body", [{"revision": 0}, {"revision": "x"}, {"revision": 1.5}, {"number": 1}])
def test_a_wrong_restore_is_named(ana: User, body: dict[str, Any]) -> None:
    id_ = ana.remember("Ana lives in Porto")
    assert ana.post(f"/engine/memories/{id_}/restore", body).field == next(iter(body))


def test_a_forgotten_memory_is_nowhere_until_it_is_restored_whole(ana: User) -> None:
    id_ = ana.remember("Ana lives in Porto", tags=["home"])
    before, path = ana.read(id_), f"/engine/memories/{id_}"
    forgotten = ana.forget(id_)
    said = {"id": id_, "status": "archived", "restorableDays": 7, "index": {"state": "indexed"}}
    assert (forgotten.status, forgotten.json) == (200, said)
    gone = [ana.get(path), ana.get(f"{path}/revisions/1"), ana.patch(id_, {"content": "x"}, 2), ana.forget(id_)]
    gone += [ana.post(f"{path}/restore", {"revision": 1})]
    assert [reply.refusal for reply in gone] == [(404, "not_found")] * 5
    assert [ana.listed(f"status={status}") for status in ("active", "archived")] == [[], []]
    assert ana.recalled("where does Ana live?") == []
    assert ana.post(f"{path}/restore").status == 200
    after = ana.read(id_)
    assert {name for name in before if before[name] != after[name]} == {"revision", "updatedAt"}
    assert ana.recalled("where does Ana live?") == ["Ana lives in Porto"]
    assert ana.post(f"{path}/restore").refusal == (409, "conflict")


def test_what_was_stored_again_since_stands_in_the_way_of_a_restore(ana: User) -> None:
    id_ = ana.remember("Ana lives in Porto")
    ana.forget(id_)
    again = ana.remember("Ana lives in Porto")
    assert ana.post(f"/engine/memories/{id_}/restore").refusal == (409, "duplicate_content")
    assert [m["id"] for m in ana.get("/engine/memories").json["memories"]] == [again]


@pytest.mark.parametrize("query", ["purge=maybe", "purge=", "force=true", "purge=true&purge=false", "Purge=true"])
def test_a_wrong_way_to_forget_is_named_and_forgets_nothing(api: Api, ana: User, query: str) -> None:
    id_ = ana.remember("Ana lives in Porto")
    root = api.user("ana", Role.ADMIN)
    assert root.forget(id_, query).field == query.partition("=")[0]
    assert ana.listed() == ["Ana lives in Porto"]


def test_pages_hold_every_memory_once_newest_first_also_while_more_arrive(ana: User) -> None:
    contents = [f"fact number {i}" for i in range(23)]
    for start in range(0, 23, 6):  # rows of one batch have one time
        ana.post("/engine/memories", {"memories": [{"content": c} for c in contents[start : start + 6]]})
    seen: list[dict[str, Any]] = []
    cursor, pages = None, 0
    while pages == 0 or cursor:
        page = ana.get("/engine/memories", f"limit=5{f'&cursor={quote(cursor)}' if cursor else ''}").json
        seen += page["memories"]
        cursor, pages = page["cursor"], pages + 1
        ana.remember(f"later {pages}")
    assert sorted(memory["content"] for memory in seen) == sorted(contents)
    times = [memory["createdAt"] for memory in seen]
    assert times == sorted(times, reverse=True)
    assert pages == 5


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"Ana lives in Porto", "the red team meets at noon", "東京に住んでいます"}),
        ("type=fact&tag=home", {"Ana lives in Porto"}),
        ("tag=%E5%AE%B6", {"東京に住んでいます"}),
        ("tag=hom", set()),
        ("type=event", {"the red team meets at noon"}),
        ("scope=space", {"the red team meets at noon"}),
        ("scope=space&scopeId=red", {"the red team meets at noon"}),
        ("scopeId=ana", {"Ana lives in Porto", "東京に住んでいます"}),
        ("scope=universe", set()),
        ("q=porto", {"Ana lives in Porto"}),
        ("q=living+Porto", {"Ana lives in Porto"}),
        ("q=porto+noon", set()),
        ("q=%E6%9D%B1%E4%BA%AC", {"東京に住んでいます"}),
        ("status=archived", set()),
    ],
)
def test_browsing_filters(ana: User, query: str, expected: set[str]) -> None:
    ana.remember("Ana lives in Porto", tags=["home"])
    ana.remember("the red team meets at noon", type="event", **RED)
    ana.remember("東京に住んでいます", tags=["家"])
    assert set(ana.listed(query)) == expected


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("scope=galaxy", "scope"),
        ("status=forgotten", "status"),
        ("type=gossip", "type"),
        ("types=fact", "types"),
        ("tag=", "tag"),
        ("q=", "q"),
        ("q=%3F%3F", "q"),
        ("q=%E2%80%8B", "q"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=x", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=%F0%9F%98%80", "cursor"),
        ("cursor=WyIwMDAxLTAxLTAxVDAwOjAwOjAwKzE0OjAwIiwgIngiXQ==", "cursor"),
        ("limit=5&limit=6", "limit"),
        ("type[$ne]=fact", "type[$ne]"),
    ],
)
def test_a_wrong_filter_is_named(ana: User, query: str, field: str) -> None:
    assert ana.get("/engine/memories", query).field == field


def test_what_is_quarantined_is_listed_for_reviewers_alone(api: Api, ana: User) -> None:
    assert ana.get("/engine/memories", "status=quarantined").refusal == (403, "forbidden")
    assert api.user("eve", Role.OBSERVER).get("/engine/memories", "status=quarantined").refusal == (403, "forbidden")
    for role in (Role.REVIEWER, Role.ADMIN):
        assert api.user("rev", role).listed("status=quarantined") == []
