"""A token is believed where a configured issuer signed it for one of its organizations, and never otherwise."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from chalicelib.domain.caller import Role
from chalicelib.domain.query import RecallQuery
from chalicelib.entrypoints.auth.tokens import REFETCH_SECONDS, Issuer, TokenVerifier, issuers
from chalicelib.errors import Forbidden, Misconfigured, Unauthenticated
from tests.building import container
from tests.unit.tokens_served import AUDIENCE, ISSUER, Served, claims, ec_key, jwk, jwks_server, rsa_key, token


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """The server of the issuer's keys."""
    with jwks_server() as served:
        yield served


@pytest.fixture
def served(server: Served) -> Served:
    """The issuer's keys: one of each kind, not yet fetched."""
    server.keys = [jwk("rsa", rsa_key("rsa")), jwk("ec", ec_key("ec")), jwk("p384", ec_key("p384", ec.SECP384R1))]
    server.fetches, server.status = 0, 200
    return server


@pytest.fixture
def verifier(served: Served) -> TokenVerifier:
    """A verifier that trusts that issuer for acme alone."""
    return TokenVerifier((issuer(served),))


def issuer(served: Served, **changes: Any) -> Issuer:
    """The issuer as it is configured."""
    whole = {"issuer": ISSUER, "audience": AUDIENCE, "jwks_url": served.url, "organizations": ("acme",)}
    return Issuer(**whole | changes)


def compact(header: dict[str, Any], payload: dict[str, Any], secret: bytes | None = None) -> str:
    """A token put together by hand, as no library would make it."""

    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    payload = payload | {"exp": int(payload["exp"].timestamp())}
    signed = f"{part(json.dumps(header).encode())}.{part(json.dumps(payload).encode())}"
    signature = hmac.new(secret, signed.encode(), hashlib.sha256).digest() if secret is not None else b""
    return f"{signed}.{part(signature)}"


@pytest.mark.parametrize(("algorithm", "kid"), [("RS256", "rsa"), ("ES256", "ec")])
def test_a_token_of_a_configured_issuer_gives_its_caller(verifier: TokenVerifier, algorithm: str, kid: str) -> None:
    key = rsa_key(kid) if kid == "rsa" else ec_key(kid)
    who = verifier.verify(token(key, algorithm, kid, roles=["member", "reviewer"]))
    assert (who.org_id, who.user_id) == ("acme", "ana")
    assert who.roles == frozenset({Role.MEMBER, Role.REVIEWER})
    assert (who.spaces, who.universes, who.on_behalf_by) == (("red",), ("mars",), None)
    assert who.credential == f"jwt:{ISSUER}"


def test_an_audience_among_several_holds(verifier: TokenVerifier) -> None:
    assert verifier.verify(token(rsa_key("rsa"), aud=["other", AUDIENCE])).user_id == "ana"


def test_claims_that_are_not_ours_are_ignored(verifier: TokenVerifier) -> None:
    assert verifier.verify(token(rsa_key("rsa"), email="ana@example.com", scope="openid")).user_id == "ana"


PAST = datetime.now(UTC) - timedelta(hours=1)
WRONG: dict[str, dict[str, Any]] = {
    "no exp": {"exp": None},
    "expired": {"exp": PAST},
    "exp that is no time": {"exp": "soon"},
    "not yet valid": {"nbf": datetime.now(UTC) + timedelta(hours=1)},
    "no audience": {"aud": None},
    "another audience": {"aud": "other"},
    "no issuer": {"iss": None},
    "another issuer": {"iss": "https://evil.example"},
    "an issuer that is a list": {"iss": [ISSUER]},
    "no subject": {"sub": None},
    "blank subject": {"sub": " "},
    "long subject": {"sub": "a" * 129},
    "no organization": {"org": None},
    "another organization": {"org": "rival"},
    "every organization": {"org": "*"},
    "no roles": {"roles": None},
    "unknown role": {"roles": ["root"]},
    "roles that are text": {"roles": "admin"},
    "blank space": {"spaces": [""]},
    "spaces that are text": {"spaces": "red"},
    "no kid": {"kid": None},
    "unknown kid": {"kid": "other"},
    "kid of a key of another kind": {"kid": "ec"},
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=list(WRONG))
def test_a_token_in_which_anything_is_wrong_is_refused(verifier: TokenVerifier, changes: dict[str, Any]) -> None:
    assert verifier.verify(token(rsa_key("rsa")))
    with pytest.raises(Unauthenticated) as refused:
        verifier.verify(token(rsa_key("rsa"), **changes))
    assert refused.value.message == "the token is not valid"
    assert refused.value.details == {}


def test_a_token_signed_by_another_key_is_refused(verifier: TokenVerifier) -> None:
    for forged in (token(rsa_key("stolen")), token(ec_key("stolen"), "ES256", "ec")):
        with pytest.raises(Unauthenticated):
            verifier.verify(forged)


def test_a_token_whose_payload_was_changed_is_refused(verifier: TokenVerifier) -> None:
    header, _, signature = token(rsa_key("rsa")).split(".")
    _, payload, _ = token(rsa_key("stolen"), roles=["admin"]).split(".")
    with pytest.raises(Unauthenticated):
        verifier.verify(f"{header}.{payload}.{signature}")


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE"])
@pytest.mark.parametrize("kid", ["rsa", "ec", None])
def test_a_token_without_a_signature_is_refused(verifier: TokenVerifier, algorithm: str, kid: str | None) -> None:
    with pytest.raises(Unauthenticated):
        verifier.verify(compact({"alg": algorithm, "typ": "JWT", "kid": kid}, claims()))


def public_forms() -> list[bytes]:
    """What an attacker has of the public key, in every form it may be taken for a shared secret."""
    public = rsa_key("rsa").public_key()
    forms = [(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), (Encoding.PEM, PublicFormat.PKCS1)]
    forms += [(Encoding.DER, PublicFormat.SubjectPublicKeyInfo), (Encoding.DER, PublicFormat.PKCS1)]
    return [public.public_bytes(*form) for form in forms] + [json.dumps(jwk("rsa", rsa_key("rsa"))).encode(), b""]


@pytest.mark.parametrize("alg", ["HS256", "RS256"])
def test_the_public_key_is_never_taken_for_a_shared_secret(verifier: TokenVerifier, alg: str) -> None:
    for secret in public_forms():
        with pytest.raises(Unauthenticated):
            verifier.verify(compact({"alg": alg, "typ": "JWT", "kid": "rsa"}, claims(), secret))


def test_a_symmetric_key_that_the_issuer_serves_is_not_used(verifier: TokenVerifier, served: Served) -> None:
    secret = b"s" * 32
    served.keys.append({"kty": "oct", "kid": "oct", "k": base64.urlsafe_b64encode(secret).rstrip(b"=").decode()})
    with pytest.raises(Unauthenticated):
        verifier.verify(compact({"alg": "HS256", "typ": "JWT", "kid": "oct"}, claims(), secret))
    assert verifier.verify(token(rsa_key("rsa")))


@pytest.mark.parametrize(
    ("algorithm", "kid"), [("RS384", "rsa"), ("RS512", "rsa"), ("PS256", "rsa"), ("ES384", "p384")]
)
def test_an_algorithm_that_is_not_fixed_is_refused(verifier: TokenVerifier, algorithm: str, kid: str) -> None:
    key = rsa_key("rsa") if kid == "rsa" else ec_key("p384", ec.SECP384R1)
    with pytest.raises(Unauthenticated):
        verifier.verify(token(key, algorithm, kid))


@pytest.mark.parametrize(
    "header", [{"jku": "https://evil.example/jwks"}, {"x5u": "https://evil.example"}, {"crit": ["b64"], "b64": False}]
)
def test_nothing_in_the_header_says_where_keys_come_from(verifier: TokenVerifier, header: dict[str, Any]) -> None:
    evil = rsa_key("stolen")
    forged = jwt.encode(claims(), evil, "RS256", headers={"kid": "rsa", "jwk": jwk("rsa", evil)} | header)
    with pytest.raises(Unauthenticated):
        verifier.verify(forged)


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a.b.c", "a.b", "é.é.é", "eyJhbGciOiJSUzI1NiJ9..", "\ud800", "a" * 5000]
)
def test_what_is_no_token_is_refused(verifier: TokenVerifier, text: str) -> None:
    with pytest.raises(Unauthenticated):
        verifier.verify(text)


def test_a_caller_whose_token_gives_no_role_reads_nothing(verifier: TokenVerifier) -> None:
    services = container()
    with pytest.raises((Unauthenticated, Forbidden)):
        services.recall.recall(verifier.verify(token(rsa_key("rsa"), roles=[])), RecallQuery(query="anything"))


def test_an_issuer_speaks_for_its_organizations_alone(served: Served) -> None:
    second = issuer(served, issuer="https://second.example", organizations=("rival",))
    both = TokenVerifier((issuer(served), second))
    assert both.verify(token(rsa_key("rsa"), iss="https://second.example", org="rival")).org_id == "rival"
    for iss, org in ((ISSUER, "rival"), ("https://second.example", "acme")):
        with pytest.raises(Unauthenticated):
            both.verify(token(rsa_key("rsa"), iss=iss, org=org))


def test_an_issuer_of_all_organizations_speaks_for_any(served: Served) -> None:
    everywhere = TokenVerifier((issuer(served, organizations=("*",)),))
    assert everywhere.verify(token(rsa_key("rsa"), org="rival")).org_id == "rival"


def test_without_issuers_no_token_is_accepted() -> None:
    with pytest.raises(Unauthenticated):
        TokenVerifier(()).verify(token(rsa_key("rsa")))


class Time:
    """A monotonic clock that stands until it is moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("chalicelib.entrypoints.auth.tokens.time", SimpleNamespace(monotonic=lambda: self.now))


def test_keys_are_fetched_once_for_many_tokens(verifier: TokenVerifier, served: Served) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: verifier.verify(token(rsa_key("rsa"))), range(16)))
    assert served.fetches == 1


def test_unknown_kids_fetch_at_most_once_a_minute(
    verifier: TokenVerifier, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)
    verifier.verify(token(rsa_key("rsa")))
    for i in range(5):
        with pytest.raises(Unauthenticated):
            verifier.verify(token(rsa_key("rsa"), kid=f"unknown-{i}"))
    assert served.fetches == 1
    time.now += REFETCH_SECONDS
    for i in range(5):
        with pytest.raises(Unauthenticated):
            verifier.verify(token(rsa_key("rsa"), kid=f"unknown-{i}"))
    assert served.fetches == 2


def test_a_key_that_was_added_works_within_a_minute_and_one_that_was_removed_stops(
    verifier: TokenVerifier, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)
    verifier.verify(token(rsa_key("rsa")))
    served.keys = [jwk("new", rsa_key("new"))]
    time.now += REFETCH_SECONDS
    assert verifier.verify(token(rsa_key("new"), kid="new"))
    with pytest.raises(Unauthenticated):
        verifier.verify(token(rsa_key("rsa")))


@pytest.mark.parametrize("status", [500, 404])
def test_keys_that_were_known_outlive_a_failing_server(
    verifier: TokenVerifier, served: Served, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    time = Time(monkeypatch)
    verifier.verify(token(rsa_key("rsa")))
    served.status = status
    time.now += REFETCH_SECONDS
    with pytest.raises(Unauthenticated):
        verifier.verify(token(rsa_key("rsa"), kid="unknown"))
    assert verifier.verify(token(rsa_key("rsa")))


def test_no_keys_are_fetched_for_a_token_of_an_unknown_issuer(verifier: TokenVerifier, served: Served) -> None:
    with pytest.raises(Unauthenticated):
        verifier.verify(token(rsa_key("rsa"), iss="https://evil.example"))
    assert served.fetches == 0


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "{}",
        '[{"issuer": "i"}]',
        '[{"issuer": "i", "audience": "a", "jwksUrl": "http://issuer.example/jwks", "organizations": ["acme"]}]',
        '[{"issuer": "i", "audience": "a", "jwksUrl": "file:///etc/passwd", "organizations": ["acme"]}]',
        '[{"issuer": "i", "audience": "a", "jwksUrl": "https://i/jwks", "organizations": []}]',
        '[{"issuer": "i", "audience": "a", "jwksUrl": "https://i/jwks", "organizations": ["a"], "alg": "none"}]',
        '[{"issuer": "i", "audience": "a", "jwksUrl": "http://127.0.0.1.evil.example/", "organizations": ["a"]}]',
    ],
)
def test_issuers_that_are_configured_wrong_are_refused_by_the_setting(text: str) -> None:
    with pytest.raises(Misconfigured, match="VITTO_AUTH_ISSUERS"):
        issuers(text)


def test_issuers_are_read_from_the_setting() -> None:
    text = '[{"issuer": "i", "audience": "a", "jwksUrl": "https://i/jwks", "organizations": ["acme"]}]'
    assert [one.organizations for one in issuers(text)] == [("acme",)]
    assert issuers("[]") == ()
