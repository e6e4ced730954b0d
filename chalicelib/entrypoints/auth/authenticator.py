"""The one door: headers in, caller out, or Unauthenticated. No identity is ever read from a body or a query."""

from collections.abc import Mapping

from chalicelib.domain.caller import Caller
from chalicelib.entrypoints.auth.api_keys import PREFIX, ApiKeyVerifier
from chalicelib.entrypoints.auth.tokens import TokenVerifier
from chalicelib.errors import Unauthenticated

_SCHEME = "bearer"
_MOST_CREDENTIAL = 16_384


class Authenticator:
    """Tells API keys and tokens apart and has them verified."""

    def __init__(self, keys: ApiKeyVerifier, tokens: TokenVerifier) -> None:
        self._keys = keys
        self._tokens = tokens

    def caller(self, headers: Mapping[str, str]) -> Caller:
        """The caller of a request by its lower-case `headers`. A credential that does not hold is refused also where none
        would be needed."""
        scheme, _, credential = headers.get("authorization", "").partition(" ")
        credential = credential.strip()
        if scheme.lower() != _SCHEME or not credential or len(credential) > _MOST_CREDENTIAL:
            raise Unauthenticated("an Authorization header with a Bearer API key or token is needed")
        acting_for = headers.get("vitto-user")
        if credential.startswith(PREFIX):
            return self._keys.verify(credential, acting_for)
        if acting_for is not None:
            raise Unauthenticated("Vitto-User needs an API key that may act for users")
        return self._tokens.verify(credential)

    def caller_if_any(self, headers: Mapping[str, str]) -> Caller | None:
        """The caller where a credential is given; None without one."""
        return self.caller(headers) if "authorization" in headers else None
