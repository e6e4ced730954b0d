"""A person who asks to be erased: nothing of them is left in any store, and nobody else loses anything."""

from typing import Any

import pytest

from chalicelib.domain.caller import Role
from chalicelib.domain.keys import new_id
from chalicelib.entrypoints.jobs import JOBS, Rota
from chalicelib.settings import ErasureSettings, RecallSettings, Settings
from tests.e2e.client import Api, User
from tests.e2e.conftest import Serve
from tests.e2e.stores import Stores

AT_ONCE = Settings(recall=RecallSettings(seconds=28), erasure=ErasureSettings(grace_seconds=0))


@pytest.fixture
def api(serve: Serve) -> Api:
    """The application, with no time between the two looks of an erasure."""
    return serve(AT_ONCE)


@pytest.fixture
def name() -> str:
    """A user's id that stands nowhere else."""
    return f"zelda{new_id('u')[-10:]}"


@pytest.fixture
def word() -> str:
    """A word that stands in what that user says, and nowhere else."""
    return f"quux{new_id('w')[-10:]}"


def messages(session: str, user: User, *texts: str, **more: Any) -> None:
    sent = [{"id": f"{session}-{new_id('m')}", "role": "user", "text": text} for text in texts]
    reply = user.post(f"/engine/session/{session}/messages", {"messages": sent, **more})
    assert reply.status == 200, reply.body


def everywhere(api: Api, user: User, word: str) -> tuple[str, str]:
    """Have the user leave something in every store; the ids of a shared memory, and of a shared session."""
    user.remember(f"my {word} stands in Porto")
    gone = user.remember(f"the {word} of before was red")
    assert user.patch(gone, {"content": f"the {word} of before was blue"}, 1).status == 200
    assert user.forget(gone).status == 200
    user.remember(f"{word} is my favourite thing in the garden")
    user.receipt("hi")
    shared = user.remember(f"the red team meets at noon, says {word}", scope="space", scopeId="red")
    key = {"Idempotency-Key": new_id("idem")}
    assert user.post("/engine/memories", {"content": f"{word} likes tea"}, key).status == 200
    user.recalled(f"where is {word}?")
    user.recalled(f"where is {word}?")
    alone, together = new_id("ses"), new_id("ses")
    messages(alone, user, f"I keep {word} in the shed", f"and {word} is mine")
    messages(together, user, f"our {word} is late", spaceId="red")
    return shared, together


def lasting(places: list[str]) -> list[str]:
    """Without what a search leaves behind for five seconds, under a random name."""
    return [place for place in places if not place.startswith("redis:vm:t:")]


def worked(api: Api) -> None:
    """Have the worker do all that is due."""
    for _ in range(3):
        Rota(api.services, JOBS).once()


def test_nothing_of_an_erased_user_is_left_in_any_store_and_others_lose_nothing(
    api: Api, stores: Stores, name: str, word: str
) -> None:
    user, bob = api.user(name, spaces=("red",)), api.user("bob", Role.ADMIN, spaces=("red",))
    foreign = api.user(name, Role.MEMBER, org=new_id("org"))
    shared, together = everywhere(api, user, word)
    theirs = foreign.remember("the same id in another organization")
    messages(together, bob, "bob answers politely")
    worked(api)
    assert bob.get(f"/engine/users/{name}/genome").status in {200, 404}
    before = stores.places_of(word)
    assert {place.split(":")[1] for place in before} >= {"memories", "messages", "questions", "recalls", "vm"}, before

    erased = bob.send("DELETE", f"/engine/users/{name}", query="shared=delete")
    assert erased.status == 200, erased.body
    receipt = erased.json
    assert (receipt["state"], receipt["shared"], receipt["requestedBy"]) == ("finished", "delete", "bob")
    counts = {kind: one["removed"] + one["changed"] for kind, one in receipt["counts"].items()}
    for kind in ("keys", "sessions", "memories", "shared_memories", "receipts", "recalls", "index", "audit"):
        assert counts[kind] > 0, (kind, counts)

    for _ in range(2):
        assert lasting([d for d in stores.documents(api.org) if name in d or word in d]) == []
        assert lasting(stores.places_of(word)) == []
        worked(api)

    checked = bob.get(f"/engine/users/{name}/erasure")
    assert (checked.status, checked.json["leftTotal"], checked.json["cursor"]) == (200, 0, None)
    assert checked.json["receipt"]["pseudonym"].startswith("erased-")
    again = bob.send("DELETE", f"/engine/users/{name}")
    assert again.json["state"] == "finished"
    assert again.json["id"] != receipt["id"]
    assert sum(one["removed"] + one["changed"] for one in again.json["counts"].values()) == 0

    assert foreign.read(theirs)["content"] == "the same id in another organization"
    said = bob.get(f"/engine/session/{together}/messages").json["messages"]
    assert [one["text"] for one in said][-1] == "bob answers politely"
    assert bob.get(f"/engine/memories/{shared}").status == 404
