"""Bearer JWTs: fixed algorithms, keys and issuers from settings alone, each issuer bound to its organizations."""

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any

from pydantic import Field, TypeAdapter, ValidationError

from chalicelib.domain.caller import Caller, Role
from chalicelib.domain.keys import checked_id
from chalicelib.domain.wire import Wire
from chalicelib.errors import Misconfigured, Unauthenticated, VittoError

if TYPE_CHECKING:
    from jwt import PyJWK

ALGORITHMS = ("RS256", "ES256")  # spec/api.md "Auth"
REFETCH_SECONDS = 60
MOST_AGE_SECONDS = 600
FETCH_TIMEOUT_SECONDS = 2
LEEWAY_SECONDS = 30
_MOST_KEYS_BYTES = 1 << 20


class Issuer(Wire):
    """Who may sign tokens, for whom, and for which organizations; `*` stands for all."""

    issuer: str
    audience: str
    jwks_url: str = Field(pattern=r"^https://|^http://(127\.0\.0\.1|localhost)[:/]")
    organizations: tuple[str, ...] = Field(min_length=1)


class _Claims(Wire, extra="ignore"):
    sub: str
    org: str
    roles: tuple[Role, ...] = Field(min_length=1)
    spaces: tuple[str, ...] = ()
    universes: tuple[str, ...] = ()


def issuers(text: str) -> tuple[Issuer, ...]:
    """The issuers of the setting VITTO_AUTH_ISSUERS."""
    try:
        return tuple(TypeAdapter(list[Issuer]).validate_json(text))
    except ValidationError as error:
        raise Misconfigured(f"VITTO_AUTH_ISSUERS: {error.errors()[0]['loc']}: {error.errors()[0]['msg']}") from None


class KeySet:
    """The public keys of one issuer. They are fetched when a token names one that is not known, and when they are old, so
    that a withdrawn key ends; at most once a minute, and by one request while the others go on with what is known."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._keys: dict[str, PyJWK] = {}
        self._tried = self._fetched = -math.inf

    def get(self, kid: str) -> "PyJWK | None":
        """The key of that id."""
        wanted = kid not in self._keys or time.monotonic() - self._fetched > MOST_AGE_SECONDS
        # the first keys are waited for; after that, one request fetches and the others go on with what is known
        if wanted and self._lock.acquire(blocking=not self._keys):
            try:
                self._refresh()
            finally:
                self._lock.release()
        return self._keys.get(kid)

    def _refresh(self) -> None:
        if time.monotonic() - self._tried < REFETCH_SECONDS:
            return
        self._tried = time.monotonic()
        if found := self._fetch():
            self._keys, self._fetched = found, self._tried

    def _fetch(self) -> "dict[str, PyJWK]":
        from urllib.request import urlopen  # noqa: PLC0415 - it brings an HTTP client

        from jwt import PyJWKSet  # noqa: PLC0415 - only where tokens are in use

        try:
            with urlopen(self._url, timeout=FETCH_TIMEOUT_SECONDS) as reply:  # noqa: S310 - checked by Issuer
                found = PyJWKSet.from_dict(json.loads(reply.read(_MOST_KEYS_BYTES)))
        except Exception:  # noqa: BLE001 - whatever a foreign server says, it must not end our request
            return {}
        return {key.key_id: key for key in found.keys if key.key_id}


class TokenVerifier:
    """Verifies tokens of the configured issuers."""

    def __init__(self, configured: tuple[Issuer, ...]) -> None:
        self._issuers = {issuer.issuer: (issuer, KeySet(issuer.jwks_url)) for issuer in configured}

    def verify(self, token: str) -> Caller:
        """The caller of a token. Unauthenticated for whatever is wrong with it."""
        import jwt  # noqa: PLC0415 - only where tokens are in use

        try:
            issuer, claims = self._claims(jwt, token)
            return self._caller(issuer, claims)
        except (jwt.PyJWTError, ValidationError, VittoError, ValueError, TypeError):
            raise Unauthenticated("the token is not valid") from None

    def _claims(self, jwt: Any, token: str) -> tuple[Issuer, dict[str, Any]]:
        unverified = jwt.decode(token, options={"verify_signature": False})
        issuer, keys = (
            self._issuers[str(unverified.get("iss"))] if unverified.get("iss") in self._issuers else (None, None)
        )
        header = jwt.get_unverified_header(token)
        key = keys.get(header["kid"]) if keys and isinstance(header.get("kid"), str) else None
        if issuer is None or key is None or header.get("alg") not in ALGORITHMS:
            raise Unauthenticated("unknown issuer, key or algorithm")
        claims = jwt.decode(
            token,
            key.key,
            algorithms=[header["alg"]] if _fits(key, header["alg"]) else [],
            audience=issuer.audience,
            issuer=issuer.issuer,
            leeway=LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", "sub"]},
        )
        return issuer, claims

    def _caller(self, issuer: Issuer, values: dict[str, Any]) -> Caller:
        claims = _Claims.model_validate(values)
        if claims.org not in issuer.organizations and "*" not in issuer.organizations:
            raise Unauthenticated("the issuer does not speak for this organization")
        for value in (claims.org, claims.sub, *claims.spaces, *claims.universes):
            checked_id(value, "claim")
        return Caller(
            claims.org, claims.sub, frozenset(claims.roles), claims.spaces, claims.universes, f"jwt:{issuer.issuer}"
        )


def _fits(key: "PyJWK", algorithm: str) -> bool:
    return (key.key_type, algorithm) in {("RSA", "RS256"), ("EC", "ES256")}
