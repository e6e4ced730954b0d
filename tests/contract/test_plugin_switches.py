"""`ports.PluginSwitches`."""

from functools import partial

import pytest

from chalicelib.adapters.memory.plugins import InMemoryPluginSwitches
from chalicelib.adapters.mongo.plugins import MongoPluginSwitches
from chalicelib.domain.keys import new_id
from chalicelib.ports import PluginSwitches
from tests.building import AWKWARD_IDS
from tests.contract.racing import at_once


@pytest.fixture(params=["twin", "mongo"])
def switches(request: pytest.FixtureRequest) -> PluginSwitches:
    """Plugin switches."""
    if request.param == "twin":
        return InMemoryPluginSwitches()
    return MongoPluginSwitches(request.getfixturevalue("mongo"))


def test_an_organization_that_switched_nothing_has_nothing_switched(switches: PluginSwitches, org: str) -> None:
    assert switches.get(org) == {}
    assert switches.put(org, {}) == {}


def test_what_is_switched_stays_and_the_rest_is_left_as_it_was(switches: PluginSwitches, org: str) -> None:
    assert switches.put(org, {"one": False, "two": True}) == {"one": False, "two": True}
    assert switches.put(org, {"two": False, "three": True}) == {"one": False, "two": False, "three": True}
    assert switches.put(org, {"one": True}) == {"one": True, "two": False, "three": True}
    assert switches.get(org) == {"one": True, "two": False, "three": True}


def test_an_organization_switches_for_itself_alone(switches: PluginSwitches, org: str) -> None:
    names = [org, new_id("org"), f"{org}/plugins", *(f"{org}{name}" for name in AWKWARD_IDS)]
    for i, name in enumerate(names):
        switches.put(name, {"one": bool(i % 2), f"p{i}": True})
    assert [switches.get(name) for name in names] == [{"one": bool(i % 2), f"p{i}": True} for i in range(len(names))]


def test_what_is_given_out_cannot_be_changed_through(switches: PluginSwitches, org: str) -> None:
    switches.put(org, {"one": False})["one"] = True
    switches.get(org)["one"] = True
    assert switches.get(org) == {"one": False}


def test_admins_who_switch_different_plugins_at_once_all_have_their_way(switches: PluginSwitches, org: str) -> None:
    switches.put(org, {"p0": False})
    at_once(*(partial(switches.put, org, {f"p{i}": True}) for i in range(8)))
    assert switches.get(org) == {f"p{i}": True for i in range(8)}
