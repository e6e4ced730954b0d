"""Isolation begins here: keys that cannot reach into one another, chains that nothing widens, roles that hold."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import MAX_ID_BYTES, checked_id, key, new_id
from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.errors import Forbidden, InvalidInput, NotFound
from tests.building import caller

AWKWARD = (
    "a/b",
    "a:b",
    "{a}",
    "a%2Fb",
    "a#b",
    "a b",
    "é",
    "e\u0301",
    "東京",
    "🎂",
    "..",
    "*",
    "a,b",
    "$a",
    "a>b",
)
ids = st.one_of(
    st.text(alphabet="ab/:{}%#.2F", min_size=1, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(AWKWARD),
)
tuples_of_ids = st.lists(ids, min_size=1, max_size=4).map(tuple)
names = st.lists(ids, max_size=4).map(tuple)


@given(tuples_of_ids, tuples_of_ids)
def test_two_different_tuples_of_ids_never_have_one_key(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    assert (key(*left) == key(*right)) is (left == right)


@given(ids, ids)
def test_no_id_reaches_into_the_place_of_another(left: str, right: str) -> None:
    joined = f"{left}/{right}"
    assert key("acme", left, right) != key("acme", joined)
    assert key("acme", left, right) != key(f"acme/{left}", right)


@given(tuples_of_ids)
def test_a_key_holds_nothing_that_a_store_reads_as_syntax(parts: tuple[str, ...]) -> None:
    allowed = set(string.ascii_letters + string.digits + "_.-~%/")
    assert set(key(*parts)) <= allowed
    assert key(*parts).count("/") == len(parts) - 1


@given(ids, st.sampled_from(list(Scope)), ids)
def test_a_scope_is_read_back_from_its_key(org: str, scope: Scope, scope_id: str) -> None:
    ref = ScopeRef(org, scope, scope_id)
    assert ScopeRef.from_key(ref.key) == ref


def test_a_key_starts_with_the_organization() -> None:
    assert ScopeRef("acme", Scope.USER, "ana").key == "acme/user/ana"
    assert ScopeRef("ac/me", Scope.USER, "ana").key == "ac%2Fme/user/ana"


def test_new_ids_differ_and_sort_by_the_time_they_were_made() -> None:
    made = [new_id("mem") for _ in range(1000)]
    assert len(set(made)) == len(made)
    prefixes = [one[: len("mem_") + 9] for one in made]  # 9 characters hold nothing but milliseconds
    assert prefixes == sorted(prefixes)


@pytest.mark.parametrize("value", ["a", "a" * MAX_ID_BYTES, "é" * (MAX_ID_BYTES // 2), *AWKWARD])
def test_an_id_within_128_bytes_is_accepted_as_it_is(value: str) -> None:
    assert checked_id(value, "userId") == value


@pytest.mark.parametrize(
    "value", ["", " ", "\t\n", "a" * (MAX_ID_BYTES + 1), "é" * (MAX_ID_BYTES // 2 + 1), "東" * 43, "a\ud800"]
)
def test_an_id_that_is_blank_too_long_or_no_unicode_is_refused_by_its_field(value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_id(value, "userId")
    assert refused.value.field == "userId"


def test_the_limit_is_named_where_an_id_is_too_long() -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_id("a" * 129, "userId")
    assert refused.value.details["limit"] == MAX_ID_BYTES


def test_a_caller_sees_its_organization_its_spaces_its_universes_and_itself() -> None:
    chain = caller("acme", "ana", spaces=("red", "blue"), universes=("mars",)).chain
    assert chain.keys == (
        "acme/organization/acme",
        "acme/space/red",
        "acme/space/blue",
        "acme/universe/mars",
        "acme/user/ana",
    )


def test_a_grant_given_twice_counts_once() -> None:
    assert len(caller(spaces=("red", "red"), universes=("mars", "mars")).chain.scopes) == 4


@given(ids, ids, names, names)
def test_a_chain_never_leaves_its_organization(
    org: str, user: str, spaces: tuple[str, ...], universes: tuple[str, ...]
) -> None:
    chain = caller(org, user, spaces=spaces, universes=universes).chain
    assert {ref.org_id for ref in chain.scopes} == {org}
    assert all(one.startswith(key(org) + "/") for one in chain.keys)


@given(ids, ids, ids, ids)
def test_callers_of_two_organizations_share_no_scope(org: str, other: str, user: str, space: str) -> None:
    left, right = caller(org, user, spaces=(space,)).chain, caller(other, user, spaces=(space,)).chain
    assert bool(set(left.keys) & set(right.keys)) is (org == other)


def test_a_chain_of_two_organizations_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="one organization"):
        Chain("acme", (ScopeRef("acme", Scope.USER, "ana"), ScopeRef("rival", Scope.USER, "ana")))


@given(
    names,
    names,
    st.none() | st.lists(st.sampled_from(list(Scope)), min_size=1, max_size=4),
    st.none() | st.lists(ids | st.sampled_from(["acme", "ana"]), min_size=1, max_size=3),
)
def test_narrowing_never_widens_a_chain(
    spaces: tuple[str, ...], universes: tuple[str, ...], scopes: list[Scope] | None, scope_ids: list[str] | None
) -> None:
    chain = caller(spaces=spaces, universes=universes).chain
    try:
        narrowed = chain.narrow(scopes, scope_ids)
    except NotFound:
        assert scope_ids is not None
        assert set(scope_ids) - {ref.scope_id for ref in chain.scopes if scopes is None or ref.scope in scopes}
        return
    assert set(narrowed.keys) <= set(chain.keys)
    assert all(scopes is None or ref.scope in scopes for ref in narrowed.scopes)
    assert all(scope_ids is None or ref.scope_id in scope_ids for ref in narrowed.scopes)


def test_narrowing_by_nothing_leaves_the_chain_as_it_is() -> None:
    chain = caller(spaces=("red",)).chain
    assert chain.narrow(None, None) == chain


@pytest.mark.parametrize("foreign", ["bob", "green", "rival", "acme/user/ana", "ANA", "ana ", "*", ""])
def test_a_foreign_scope_id_is_not_found_even_beside_an_own_one(foreign: str) -> None:
    chain = caller("acme", "ana", spaces=("red",)).chain
    with pytest.raises(NotFound):
        chain.narrow(None, ["ana", foreign])


def test_an_own_id_of_another_kind_is_not_found_where_the_kind_is_named() -> None:
    with pytest.raises(NotFound):
        caller(spaces=("red",)).chain.narrow([Scope.USER], ["red"])


def test_scopes_are_ordered_from_broad_to_narrow() -> None:
    assert sorted(Scope, key=lambda scope: scope.breadth) == [
        Scope.ORGANIZATION,
        Scope.SPACE,
        Scope.UNIVERSE,
        Scope.USER,
    ]


HELD = {
    (Role.OBSERVER,): {Role.OBSERVER},
    (Role.MEMBER,): {Role.MEMBER},
    (Role.REVIEWER,): {Role.MEMBER, Role.REVIEWER},
    (Role.ADMIN,): {Role.MEMBER, Role.REVIEWER, Role.ADMIN},
    (Role.OBSERVER, Role.MEMBER): {Role.OBSERVER},
    (Role.OBSERVER, Role.ADMIN): {Role.OBSERVER},
}


@pytest.mark.parametrize("roles", HELD, ids=str)
@pytest.mark.parametrize("needed", list(Role))
def test_a_role_allows_what_it_includes_and_nothing_more(roles: tuple[Role, ...], needed: Role) -> None:
    who = caller("acme", "ana", *roles)
    if needed in HELD[roles]:
        who.require(needed)
        return
    with pytest.raises(Forbidden) as refused:
        who.require(needed)
    assert refused.value.details["needs"] == [needed]


@pytest.mark.parametrize("needed", list(Role))
def test_a_caller_without_roles_may_do_nothing(needed: Role) -> None:
    with pytest.raises(Forbidden):
        Caller("acme", "ana", frozenset()).require(needed)


def test_one_of_several_roles_is_enough() -> None:
    caller("acme", "ana", Role.REVIEWER).require(Role.ADMIN, Role.REVIEWER)


def test_an_observer_is_neither_admin_nor_reviewer_whatever_else_it_is() -> None:
    who = caller("acme", "ana", Role.ADMIN, Role.REVIEWER, Role.OBSERVER)
    assert not who.is_admin
    assert not who.is_reviewer
    assert who.is_observer


def test_a_member_writes_to_itself_its_spaces_and_its_universes() -> None:
    ana = caller("acme", "ana", spaces=("red",), universes=("mars",))
    assert ana.writable(Scope.USER, None, "scopeId").key == "acme/user/ana"
    assert ana.writable(Scope.USER, "ana", "scopeId").key == "acme/user/ana"
    assert ana.writable(Scope.SPACE, "red", "scopeId").key == "acme/space/red"
    assert ana.writable(Scope.UNIVERSE, "mars", "scopeId").key == "acme/universe/mars"


@pytest.mark.parametrize(
    ("scope", "scope_id"),
    [
        (Scope.USER, "bob"),
        (Scope.SPACE, "green"),
        (Scope.UNIVERSE, "red"),
        (Scope.ORGANIZATION, "rival"),
        (Scope.USER, ""),
    ],
)
@pytest.mark.parametrize("role", [Role.MEMBER, Role.ADMIN])
def test_a_scope_outside_the_chain_is_not_found_for_writing(scope: Scope, scope_id: str | None, role: Role) -> None:
    with pytest.raises(NotFound) as refused:
        caller("acme", "ana", role, spaces=("red",)).writable(scope, scope_id, "scopeId")
    assert refused.value.details["field"] == "scopeId"


@pytest.mark.parametrize("scope", [Scope.SPACE, Scope.UNIVERSE])
def test_a_scope_of_which_there_may_be_several_is_named(scope: Scope) -> None:
    with pytest.raises(InvalidInput, match="is needed") as refused:
        caller("acme", "ana", spaces=("red",)).writable(scope, None, "scopeId")
    assert refused.value.details["field"] == "scopeId"


@pytest.mark.parametrize("role", [Role.MEMBER, Role.REVIEWER])
def test_organization_scope_takes_an_admin(role: Role) -> None:
    with pytest.raises(Forbidden):
        caller("acme", "ana", role).writable(Scope.ORGANIZATION, None, "scopeId")
    assert (
        caller("acme", "ana", Role.ADMIN).writable(Scope.ORGANIZATION, None, "scopeId").key == "acme/organization/acme"
    )
