"""`ports.SoulStore`."""

from datetime import timedelta
from functools import partial

import pytest

from chalicelib.adapters.memory.identity import InMemorySoulStore
from chalicelib.adapters.mongo.identity import MongoSoulStore
from chalicelib.domain.keys import new_id
from chalicelib.domain.soul import Soul, StoredSoul
from chalicelib.ports import SoulStore
from tests.building import AWKWARD_IDS, NOW
from tests.contract.racing import at_once


@pytest.fixture(params=["twin", "mongo"])
def souls(request: pytest.FixtureRequest) -> SoulStore:
    """Every store of Souls."""
    if request.param == "twin":
        return InMemorySoulStore()
    return MongoSoulStore(request.getfixturevalue("mongo"))


def kept(name: str, **fields: object) -> StoredSoul:
    """A Soul that root set up."""
    soul = Soul.model_validate({"name": name, "character": "warm 😀", "values": ("a.b", "$c"), "persona": "x\ny"})
    return StoredSoul(soul=soul.model_copy(update=fields), updated_at=NOW, updated_by="root")


def test_an_organization_has_no_soul_until_one_is_set_up(souls: SoulStore, org: str) -> None:
    assert souls.get(org) is None


def test_a_soul_comes_back_as_it_was_put_and_the_next_replaces_all_of_it(souls: SoulStore, org: str) -> None:
    souls.put(org, kept("Vitto"))
    assert souls.get(org) == kept("Vitto")
    bare = StoredSoul(soul=Soul(mood="calm"), updated_at=NOW + timedelta(hours=1), updated_by="zoe")
    souls.put(org, bare)
    assert souls.get(org) == bare
    souls.put(org, bare.model_copy(update={"soul": Soul()}))
    assert (found := souls.get(org)) is not None
    assert found.soul.is_empty


def test_an_organization_has_its_own_soul_alone(souls: SoulStore, org: str) -> None:
    names = [org, new_id("org"), f"{org}/soul", *(f"{org}{name}" for name in AWKWARD_IDS)]
    for i, name in enumerate(names):
        souls.put(name, kept(f"soul {i}"))
    assert [souls.get(name) for name in names] == [kept(f"soul {i}") for i in range(len(names))]
    assert souls.get(f"{org}x") is None


def test_of_many_at_once_one_stands_whole(souls: SoulStore, org: str) -> None:
    put = [kept(f"soul {i}", mood=f"mood {i}") for i in range(8)]
    at_once(*(partial(souls.put, org, one) for one in put))
    assert souls.get(org) in put
