"""The erasure of a person: whom it is about, how far it is, and the receipt that stays of it.

The receipt names nobody. The person is in it as a keyed hash, whose key stands beside it: who has the id can find the
receipt by it, and who has the receipt can find no id, save by trying ids with the key.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal
from urllib.parse import unquote

from pydantic import Field

from chalicelib.domain.keys import key
from chalicelib.domain.scope import Scope, ScopeRef
from chalicelib.domain.wire import UtcTime, Wire

ERASED_TEXT = "[…]"  # an ellipsis: no word of any language, so that nothing is found or learnt by it
Shared = Literal["keep", "delete"]
_OWN_KEYS, _ACTED_KEYS = "self", "acting"  # what an idempotency key's caller begins with


@dataclass(frozen=True)
class Person:
    """A user of one organization."""

    org_id: str
    user_id: str

    @property
    def scope_key(self) -> str:
        """The key of their own scope."""
        return ScopeRef(self.org_id, Scope.USER, self.user_id).key

    def is_caller(self, caller: str) -> bool:
        """Whether that caller of an idempotency key is them, by themselves or through a key that acts for them."""
        kind, *parts = (unquote(part) for part in caller.split("/"))
        return kind in {_OWN_KEYS, _ACTED_KEYS} and bool(parts) and parts[-1] == self.user_id

    def digest(self, salt: str) -> str:
        """The keyed hash that stands for them where their id may not."""
        return hmac.new(salt.encode(), key(self.org_id, self.user_id).encode(), hashlib.sha256).hexdigest()


def new_pseudonym() -> str:
    """A name that says nothing: random, so that no one finds their way back from it."""
    return f"erased-{secrets.token_hex(8)}"


def new_salt() -> str:
    """A key for the digests of one organization."""
    return secrets.token_hex(32)


class ErasureState(StrEnum):
    """`erasing`: something may be left. `settling`: all is gone, and what was under way when it began may still arrive, for
    which a second look follows. `finished`: the second look was taken."""

    ERASING = "erasing"
    SETTLING = "settling"
    FINISHED = "finished"


class Erased(Wire):
    """How many things of one kind were removed, and how many had the person replaced by the pseudonym."""

    removed: int = 0
    changed: int = 0

    def plus(self, removed: int, changed: int) -> "Erased":
        """With so many more."""
        return Erased(removed=self.removed + removed, changed=self.changed + changed)


class Erasure(Wire):
    """The receipt of one erasure. `requestedBy` is who asked, the pseudonym where they asked for themselves, `onBehalfBy`
    the key that did it for them; `counts` has every kind of thing that was looked at."""

    id: str
    org_id: str
    pseudonym: str
    state: ErasureState = ErasureState.ERASING
    shared: Shared = Field(
        description="what became of what they wrote into shared scopes: kept under the pseudonym, or deleted"
    )
    requested_by: str
    on_behalf_by: str | None = None
    requested_at: UtcTime
    settles_at: UtcTime = Field(description="from when on the second look may be taken")
    finished_at: UtcTime | None = None
    counts: Mapping[str, Erased] = Field(default_factory=dict)

    @property
    def total(self) -> int:
        """How many things it changed or removed."""
        return sum(one.removed + one.changed for one in self.counts.values())


class ErasureRecord(Wire):
    """What is kept of a person's erasures: the latest receipt and those before it, and the hash that the person is found by.
    `user_id`, `stage` and `after` are there only until the latest one is finished, for whoever goes on with it."""

    receipt: Erasure
    salt: str
    digest: str
    earlier: tuple[Erasure, ...] = ()
    user_id: str | None = None
    passes: int = Field(default=0, description="how often all stores were gone through")
    stage: int = 0
    after: str | None = None
    changed_at: UtcTime
    version: int = 1

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to be done."""
        return self.receipt.state is ErasureState.FINISHED

    @property
    def last_finished(self) -> "ErasureRecord | None":
        """The record as the last erasure that was finished had left it, which names nobody; None where none was."""
        if self.is_finished:
            return self
        if not self.earlier:
            return None
        *before, receipt = self.earlier
        ended = {"receipt": receipt, "earlier": tuple(before), "changed_at": receipt.finished_at or self.changed_at}
        return self.model_copy(update=ended | {"user_id": None, "stage": 0, "after": None})

    @property
    def person(self) -> Person | None:
        """Whom it is about; None once it is finished."""
        return Person(self.receipt.org_id, self.user_id) if self.user_id is not None else None

    @property
    def tombstone(self) -> "Tombstone":
        """What of it concerns work that arrives late."""
        return Tombstone(self.receipt.org_id, self.salt, self.digest, self.is_finished, self.changed_at)


@dataclass(frozen=True)
class Tombstone:
    """That a person was erased, or is being erased where it is not `finished`."""

    org_id: str
    salt: str
    digest: str
    finished: bool
    changed_at: datetime

    def is_of(self, person: Person) -> bool:
        """Whether it is that person's."""
        return person.org_id == self.org_id and hmac.compare_digest(person.digest(self.salt), self.digest)


@dataclass(frozen=True)
class Step:
    """What one step did, and from where the next goes on; None where that kind of thing is done with. `also` has
    what went with it, by kind. In a count, `removed` is how many there are."""

    removed: int = 0
    changed: int = 0
    after: str | None = None
    also: Mapping[str, Erased] = field(default_factory=dict)
