"""An API key is shown once, verified by its hash, and stops when it is revoked or expires."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from chalicelib.adapters.memory.administration import InMemoryKeyStore
from chalicelib.domain.caller import Role
from chalicelib.entrypoints.auth.api_keys import ApiKeyVerifier, mint
from chalicelib.entrypoints.auth.authenticator import Authenticator
from chalicelib.entrypoints.auth.tokens import TokenVerifier
from chalicelib.errors import Forbidden, InvalidInput, Unauthenticated
from tests.building import NOW, TestClock

CACHE_SECONDS = 60.0


class Door:
    """An authenticator with a store of keys behind it."""

    def __init__(self, cache_seconds: float = CACHE_SECONDS) -> None:
        self.clock = TestClock()
        self.store = InMemoryKeyStore()
        self.authenticator = Authenticator(ApiKeyVerifier(self.store, self.clock, cache_seconds), TokenVerifier(()))

    def key(self, **changes: Any) -> str:
        """A new key of ana's as it is shown."""
        fields: dict[str, Any] = {"org_id": "acme", "name": "laptop", "user_id": "ana", "roles": (Role.MEMBER,)}
        stored, shown = mint(**fields | {"now": NOW, "created_by": "root"} | changes)
        self.store.add(stored)
        return shown

    def enter(self, key: str, **headers: str) -> Any:
        """The caller of a request with that key."""
        return self.authenticator.caller({"authorization": f"Bearer {key}"} | headers)


@pytest.fixture
def door() -> Door:
    """A door with the usual cache."""
    return Door()


def id_of(key: str) -> str:
    """The id in a key as it is shown."""
    return key.split("_")[1]


def test_a_key_gives_the_caller_it_was_made_for(door: Door) -> None:
    key = door.key(roles=(Role.MEMBER, Role.REVIEWER), spaces=("red",), universes=("mars",))
    who = door.enter(key)
    assert (who.org_id, who.user_id) == ("acme", "ana")
    assert who.roles == {Role.MEMBER, Role.REVIEWER}
    assert (who.spaces, who.universes) == (("red",), ("mars",))
    assert (who.credential, who.on_behalf_by) == (f"key:{id_of(key)}", None)


def test_a_key_is_stored_as_a_hash_and_never_shown_again(door: Door) -> None:
    key = door.key()
    stored = door.store.get(id_of(key))
    assert stored is not None
    secret = key.split("_", 2)[2]
    assert secret not in repr(stored)
    assert stored.secret_hash not in stored.model_dump_json(by_alias=True)


def test_no_two_keys_are_alike(door: Door) -> None:
    keys = {door.key() for _ in range(50)}
    assert len(keys) == 50
    assert all(len(key.split("_", 2)[2]) >= 43 for key in keys)


def test_a_key_with_a_wrong_secret_is_refused(door: Door) -> None:
    key, other = door.key(), door.key()
    id_, secret = id_of(key), key.split("_", 2)[2]
    door.enter(key)
    for wrong in (
        f"vk_{id_}_{secret[:-1]}",
        f"vk_{id_}_{secret}x",
        f"vk_{id_}_",
        f"vk_{id_}",
        f"vk_{id_of(other)}_{secret}",
        f"vk_none_{secret}",
        f"vk__{secret}",
        "vk_",
        f"vk_{id_.upper()}_{secret}",
        f"vk_{id_}_{secret}\udcff",
        f"vk_{{$ne:1}}_{secret}",
    ):
        with pytest.raises(Unauthenticated) as refused:
            door.enter(wrong)
        assert refused.value.message == "the API key is not valid"


def test_a_key_that_expired_is_refused_also_while_it_is_cached(door: Door) -> None:
    key = door.key(expires_at=NOW + timedelta(seconds=10))
    assert door.enter(key)
    door.clock.forward(seconds=10)
    with pytest.raises(Unauthenticated):
        door.enter(key)


def test_a_key_that_was_revoked_is_refused_once_the_cache_has_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("chalicelib.entrypoints.auth.api_keys.time", SimpleNamespace(monotonic=lambda: now[0]))
    door = Door()
    key = door.key()
    assert door.enter(key)
    assert door.store.revoke("acme", id_of(key), NOW)
    now[0] += CACHE_SECONDS - 1
    assert door.enter(key)
    now[0] += 1
    with pytest.raises(Unauthenticated):
        door.enter(key)


def test_a_key_that_was_revoked_before_its_first_use_is_refused(door: Door) -> None:
    key = door.key()
    door.store.revoke("acme", id_of(key), NOW)
    with pytest.raises(Unauthenticated):
        door.enter(key)


def test_without_a_cache_revoking_holds_at_once() -> None:
    door = Door(cache_seconds=0)
    key = door.key()
    assert door.enter(key)
    door.store.revoke("acme", id_of(key), NOW)
    with pytest.raises(Unauthenticated):
        door.enter(key)


def test_a_key_is_revoked_by_its_own_organization_alone(door: Door) -> None:
    key = door.key()
    assert not door.store.revoke("rival", id_of(key), NOW)
    assert door.enter(key)


def test_a_key_that_was_unknown_works_as_soon_as_it_is_stored(door: Door) -> None:
    stored, shown = mint(org_id="acme", name="n", user_id="ana", roles=(Role.MEMBER,), now=NOW, created_by="root")
    with pytest.raises(Unauthenticated):
        door.enter(shown)
    door.store.add(stored)
    assert door.enter(shown)


def test_a_verified_key_is_not_looked_up_again_within_its_minute() -> None:
    class Counting(InMemoryKeyStore):
        reads = 0

        def get(self, id_: str) -> Any:
            self.reads += 1
            return super().get(id_)

    door = Door()
    door.store = Counting()
    door.authenticator = Authenticator(ApiKeyVerifier(door.store, door.clock, CACHE_SECONDS), TokenVerifier(()))
    key = door.key()
    for _ in range(5):
        door.enter(key)
    assert door.store.reads == 1


def test_an_assistants_key_acts_for_the_user_that_is_named(door: Door) -> None:
    key = door.key(user_id="bot", act_as=True, spaces=("red",), universes=("mars",))
    who = door.enter(key, **{"vitto-user": "bob"})
    assert (who.org_id, who.user_id, who.on_behalf_by) == ("acme", "bob", id_of(key))
    assert (who.spaces, who.universes) == (("red",), ("mars",))
    assert door.enter(key).user_id == "bot"


@pytest.mark.parametrize(
    ("roles", "left"),
    [
        ((Role.ADMIN,), {Role.MEMBER}),
        ((Role.ADMIN, Role.REVIEWER, Role.MEMBER), {Role.MEMBER}),
        ((Role.REVIEWER,), {Role.MEMBER}),
        ((Role.OBSERVER,), {Role.OBSERVER}),
        ((Role.OBSERVER, Role.ADMIN), {Role.OBSERVER}),
    ],
    ids=str,
)
def test_a_user_gets_no_administration_through_an_assistant(
    door: Door, roles: tuple[Role, ...], left: set[Role]
) -> None:
    who = door.enter(door.key(roles=roles, act_as=True), **{"vitto-user": "bob"})
    assert who.roles == left
    with pytest.raises(Forbidden):
        who.require(Role.ADMIN)


@pytest.mark.parametrize("user", ["bob", "ana", "", " "])
def test_a_key_that_may_not_act_for_others_is_refused_with_a_vitto_user(door: Door, user: str) -> None:
    with pytest.raises(Unauthenticated):
        door.enter(door.key(), **{"vitto-user": user})


@pytest.mark.parametrize("user", ["", " ", "a" * 129, "\ud800"], ids=["empty", "blank", "long", "surrogate"])
def test_a_vitto_user_that_is_no_id_is_refused(door: Door, user: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        door.enter(door.key(act_as=True), **{"vitto-user": user})
    assert refused.value.field == "Vitto-User"


def test_a_token_with_a_vitto_user_is_refused(door: Door) -> None:
    with pytest.raises(Unauthenticated, match="Vitto-User"):
        door.enter("some.jwt.token", **{"vitto-user": "bob"})


def test_the_scheme_is_read_in_any_case(door: Door) -> None:
    key = door.key()
    assert door.authenticator.caller({"authorization": f"bearer {key}"}).user_id == "ana"
    assert door.authenticator.caller({"authorization": f"BEARER  {key} "}).user_id == "ana"


@pytest.mark.parametrize(
    "value",
    ["", "Bearer", "Bearer ", "Basic {}", "{}", "Token {}", "Bearer x{}", "Bearer {} {}", "Bearer " + "a" * 20_000],
)
def test_a_header_that_is_no_bearer_credential_is_refused_where_one_is_needed_and_where_none_is(
    door: Door, value: str
) -> None:
    headers = {"authorization": value.replace("{}", door.key())}
    with pytest.raises(Unauthenticated):
        door.authenticator.caller(headers)
    with pytest.raises(Unauthenticated):
        door.authenticator.caller_if_any(headers)


def test_no_credential_is_nobody_where_none_is_needed_and_refused_elsewhere(door: Door) -> None:
    assert door.authenticator.caller_if_any({}) is None
    for headers in ({}, {"x-api-key": door.key()}, {"cookie": "session=1"}):
        with pytest.raises(Unauthenticated):
            door.authenticator.caller(headers)


def test_a_credential_that_does_not_hold_is_never_taken_for_none(door: Door) -> None:
    with pytest.raises(Unauthenticated):
        door.authenticator.caller_if_any({"authorization": "Bearer vk_none_none"})


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("orgId", {"org_id": ""}),
        ("userId", {"user_id": "a" * 129}),
        ("spaces", {"spaces": ("red", " ")}),
        ("universes", {"universes": ("\ud800",)}),
    ],
)
def test_no_key_is_made_for_what_is_no_id(door: Door, field: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        door.key(**changes)
    assert refused.value.field == field
