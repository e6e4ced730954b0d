"""Who calls: the identity that a verified credential gives, its roles, and what these allow."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from chalicelib.domain.scope import Chain, Scope, ScopeRef
from chalicelib.errors import Forbidden, InvalidInput, NotFound


class Role(StrEnum):
    """What a caller may do. Reviewers and admins are members too; an observer reads and changes nothing."""

    MEMBER = "member"
    REVIEWER = "reviewer"
    ADMIN = "admin"
    OBSERVER = "observer"


@dataclass(frozen=True)
class Caller:
    """A verified caller. `credential` is the key's id or `jwt:<issuer>`; `on_behalf_by` is the key that acts for a user."""

    org_id: str
    user_id: str
    roles: frozenset[Role]
    spaces: tuple[str, ...] = ()
    universes: tuple[str, ...] = ()
    credential: str = ""
    on_behalf_by: str | None = None

    @cached_property
    def chain(self) -> Chain:
        """The scopes this caller sees: its organization, its spaces, its universes, itself."""
        org = self.org_id
        return Chain(
            org,
            (
                ScopeRef(org, Scope.ORGANIZATION, org),
                *(ScopeRef(org, Scope.SPACE, name) for name in dict.fromkeys(self.spaces)),
                *(ScopeRef(org, Scope.UNIVERSE, name) for name in dict.fromkeys(self.universes)),
                ScopeRef(org, Scope.USER, self.user_id),
            ),
        )

    @property
    def is_admin(self) -> bool:
        """Whether the caller may administer its organization."""
        return Role.ADMIN in self.roles and not self.is_observer

    @property
    def is_reviewer(self) -> bool:
        """Whether the caller sees quarantined rows of its chain."""
        return bool(self.roles & {Role.REVIEWER, Role.ADMIN}) and not self.is_observer

    @property
    def is_observer(self) -> bool:
        """Whether the caller changes nothing, whatever else it is."""
        return Role.OBSERVER in self.roles

    def require(self, *roles: Role) -> None:
        """Raise Forbidden unless the caller has one of `roles`, counting what a broader role includes."""
        held = set(self.roles)
        if not self.is_observer and held & {Role.ADMIN, Role.REVIEWER}:
            held.add(Role.MEMBER)
        if not self.is_observer and Role.ADMIN in held:
            held.add(Role.REVIEWER)
        if not held & set(roles) or (self.is_observer and Role.OBSERVER not in roles):
            raise Forbidden(f"this needs one of the roles: {', '.join(roles)}", needs=sorted(roles))

    def writable(self, scope: Scope, scope_id: str | None, field: str) -> ScopeRef:
        """The scope to write to, where this caller may; `scope_id` may be left out where there is but one.

        InvalidInput where it must not be, NotFound for a scope outside the chain, Forbidden for the organization's without
        the admin role.
        """
        own = {Scope.ORGANIZATION: self.org_id, Scope.USER: self.user_id}
        if scope_id is None and scope not in own:
            raise InvalidInput(field, f"is needed in the scope {scope.value}")
        ref = ScopeRef(self.org_id, scope, scope_id if scope_id is not None else own.get(scope, ""))
        if not self.chain.holds(ref.key):
            raise NotFound(f"{field}: no such scope for this caller", field=field)
        if scope is Scope.ORGANIZATION and not self.is_admin:
            raise Forbidden("writing to organization scope takes an admin", field="scope")
        return ref
