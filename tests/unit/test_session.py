"""Who may see a session, and what keeps it apart from all else."""

import pytest

from chalicelib.domain.scope import Chain, ScopeRef
from chalicelib.domain.session import is_member, is_session_key, may_join, session_key
from tests.building import AWKWARD_IDS, caller, chain
from tests.sessioning import session

SHARED = session(space_id="red", universe_id="sky", members=("bob",))


def test_members_are_the_owner_and_those_who_appended() -> None:
    assert is_member(SHARED, caller(user="ana"))
    assert is_member(SHARED, caller(user="bob"))
    assert not is_member(SHARED, caller(user="eve", spaces=("red",), universes=("sky",)))


@pytest.mark.parametrize("user", ["ana", "bob"])
def test_nobody_of_another_organization_is_a_member(user: str) -> None:
    assert not is_member(SHARED, caller("other", user, spaces=("red",)))
    assert not may_join(SHARED, caller("other", user, spaces=("red",)))


def test_a_credential_of_the_space_or_the_universe_lets_a_user_join() -> None:
    assert may_join(SHARED, caller(user="eve", spaces=("blue", "red")))
    assert may_join(SHARED, caller(user="eve", universes=("sky",)))
    assert not may_join(SHARED, caller(user="eve", spaces=("sky",), universes=("red",)))
    assert not may_join(session(), caller(user="eve", spaces=("red",), universes=("sky",)))


@pytest.mark.parametrize("id_", AWKWARD_IDS)
def test_a_session_is_told_from_every_scope(id_: str) -> None:
    assert is_session_key(session_key(id_, id_))
    assert not any(is_session_key(key) for key in chain(id_, id_, spaces=("session",), universes=(id_,)).keys)


def test_no_chain_of_a_caller_finds_a_message_and_no_chain_of_a_session_a_memory() -> None:
    one = session()
    assert one.chain.keys == (one.key,)
    assert one.chain.scopes == ()
    assert not one.chain.holds(caller().chain.keys[0])
    assert not set(one.chain.keys) & set(caller().chain.keys)
    assert isinstance(one.chain, Chain)
    with pytest.raises(ValueError, match="session"):
        ScopeRef.from_key(one.key)
