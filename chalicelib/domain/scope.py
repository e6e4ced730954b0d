"""The four scopes, and the chain of them that a reader sees."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from urllib.parse import unquote

from chalicelib.domain.keys import key
from chalicelib.errors import NotFound


class Scope(StrEnum):
    """From broad to narrow. `breadth` orders them: 0 is the broadest."""

    ORGANIZATION = "organization"
    SPACE = "space"
    UNIVERSE = "universe"
    USER = "user"

    @property
    def breadth(self) -> int:
        """0 for organization to 3 for user."""
        return list(Scope).index(self)


@dataclass(frozen=True)
class ScopeRef:
    """One scope of one organization: where a memory lives."""

    org_id: str
    scope: Scope
    scope_id: str

    @classmethod
    def from_key(cls, scope_key: str) -> "ScopeRef":
        """The scope of a key that `key` made."""
        org_id, scope, scope_id = (unquote(part) for part in scope_key.split("/"))
        return cls(org_id, Scope(scope), scope_id)

    @cached_property
    def key(self) -> str:
        """The scope's key, which starts with the organization: `acme/user/ana`."""
        return key(self.org_id, self.scope.value, self.scope_id)


@dataclass(frozen=True)
class Chain:
    """The scopes that a verified credential grants. Only `Caller.chain` makes the first one; `narrow` the rest.

    Every store, tier and cache takes a chain, never bare scope ids, so that there is one place where a reader could
    see too much, and it is here.
    """

    org_id: str
    scopes: tuple[ScopeRef, ...]

    def __post_init__(self) -> None:
        if any(ref.org_id != self.org_id for ref in self.scopes):
            raise ValueError("a chain holds scopes of one organization")

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The scopes' keys, broad to narrow."""
        return tuple(ref.key for ref in self.scopes)

    def holds(self, scope_key: str) -> bool:
        """Whether the scope of that key is in the chain."""
        return scope_key in self.keys

    def narrow(self, scopes: Iterable[Scope] | None, scope_ids: Iterable[str] | None) -> "Chain":
        """The part of the chain of those kinds and ids; None leaves that side as it is.

        An id that the chain does not hold raises NotFound, whether or not such a scope exists.
        """
        refs = self.scopes
        if scopes is not None:
            wanted = set(scopes)
            refs = tuple(ref for ref in refs if ref.scope in wanted)
        if scope_ids is not None:
            ids = set(scope_ids)
            if foreign := ids - {ref.scope_id for ref in refs}:
                raise NotFound("no such scope for this reader", field="scopeIds", scopeIds=sorted(foreign))
            refs = tuple(ref for ref in refs if ref.scope_id in ids)
        return Chain(self.org_id, refs)

    def only(self, scope_keys: Container[str]) -> "Chain":
        """The part of the chain of those keys."""
        return Chain(self.org_id, tuple(ref for ref in self.scopes if ref.key in scope_keys))
