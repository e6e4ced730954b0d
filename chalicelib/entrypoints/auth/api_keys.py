"""API keys: made, shown once, stored as a hash, verified, revoked.

A key is `vk_<id>_<secret>`. The secret has 256 random bits, so one round of SHA-256 is enough to store it; a slow hash
protects words that people choose.
"""

import hashlib
import hmac
import secrets
import threading
import time
from datetime import datetime

from chalicelib.domain.administration import ApiKey
from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import checked_id, new_id
from chalicelib.errors import Unauthenticated
from chalicelib.ports import Clock, KeyStore

PREFIX = "vk_"
_SECRET_BYTES = 32
_MOST_CACHED = 10_000


def mint(
    *,
    org_id: str,
    name: str,
    user_id: str,
    roles: tuple[Role, ...],
    now: datetime,
    created_by: str,
    spaces: tuple[str, ...] = (),
    universes: tuple[str, ...] = (),
    act_as: bool = False,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key as it is stored, and as it is shown once. InvalidInput for an id that is none."""
    for field, value in (("orgId", org_id), ("userId", user_id)):
        checked_id(value, field)
    for field, values in (("spaces", spaces), ("universes", universes)):
        for value in values:
            checked_id(value, field)
    id_, secret = new_id("key").removeprefix("key_"), secrets.token_urlsafe(_SECRET_BYTES)
    stored = ApiKey(
        id=id_,
        org_id=org_id,
        name=name,
        secret_hash=_hash(secret),
        user_id=user_id,
        roles=roles,
        spaces=spaces,
        universes=universes,
        act_as=act_as,
        created_at=now,
        created_by=created_by,
        expires_at=expires_at,
    )
    return stored, f"{PREFIX}{id_}_{secret}"


class ApiKeyVerifier:
    """Verifies keys against the store and trusts what it verified for up to a minute, the time that revoking takes."""

    def __init__(self, store: KeyStore, clock: Clock, cache_seconds: float) -> None:
        self._store = store
        self._clock = clock
        self._cache_seconds = cache_seconds
        self._lock = threading.Lock()
        self._cache: dict[str, tuple[ApiKey, float]] = {}

    def verify(self, presented: str, acting_for: str | None) -> Caller:
        """The caller of a key. Unauthenticated where it is unknown, wrong, expired or revoked, or may not act for others."""
        id_, _, secret = presented.removeprefix(PREFIX).partition("_")
        key = self._find(id_)
        if key is None or not hmac.compare_digest(key.secret_hash, _hash(secret)) or not self._holds(key):
            raise Unauthenticated("the API key is not valid")
        if acting_for is None:
            return _caller(key, key.user_id, None)
        if not key.act_as:
            raise Unauthenticated("this API key may not act for a user")
        return _caller(key, checked_id(acting_for, "Vitto-User"), key.id)

    def _find(self, id_: str) -> ApiKey | None:
        now = time.monotonic()
        with self._lock:
            key, until = self._cache.get(id_, (None, 0.0))
        if key is not None and now < until:
            return key
        key = self._store.get(id_) if id_.isalnum() else None
        with self._lock:
            if len(self._cache) >= _MOST_CACHED:
                self._cache.clear()
            if key is not None:
                self._cache[id_] = key, now + self._cache_seconds
            else:
                self._cache.pop(id_, None)
        return key

    def _holds(self, key: ApiKey) -> bool:
        return key.revoked_at is None and (key.expires_at is None or key.expires_at > self._clock())


def _caller(key: ApiKey, user_id: str, on_behalf_by: str | None) -> Caller:
    roles = frozenset(key.roles)
    if on_behalf_by is not None:  # a user gets no administration through an assistant
        roles = (roles & {Role.OBSERVER}) or frozenset({Role.MEMBER})
    return Caller(key.org_id, user_id, roles, key.spaces, key.universes, f"key:{key.id}", on_behalf_by)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
