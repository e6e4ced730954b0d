"""An issuer of tokens for tests: keys made here, served as a JWKS by a server on loopback."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER = "https://issuer.example"
AUDIENCE = "vitto"
PrivateKey = RSAPrivateKey | EllipticCurvePrivateKey


@cache
def rsa_key(name: str) -> RSAPrivateKey:
    """A key of that name, the same one each time."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@cache
def ec_key(name: str, curve: type[ec.EllipticCurve] = ec.SECP256R1) -> EllipticCurvePrivateKey:
    """A key of that name, the same one each time."""
    return ec.generate_private_key(curve())


def jwk(kid: str, key: PrivateKey) -> dict[str, Any]:
    """The public half of a key as a JWKS lists it."""
    public = key.public_key()
    text = RSAAlgorithm.to_jwk(public) if isinstance(public, rsa.RSAPublicKey) else ECAlgorithm.to_jwk(public)
    listed: dict[str, Any] = json.loads(text)
    return listed | {"kid": kid}


def claims(**changes: Any) -> dict[str, Any]:
    """Claims that hold; a change to None takes a claim away."""
    whole = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": datetime.now(UTC) + timedelta(minutes=5),
        "sub": "ana",
        "org": "acme",
        "roles": ["member"],
        "spaces": ["red"],
        "universes": ["mars"],
    }
    return {name: value for name, value in (whole | changes).items() if value is not None}


def token(key: PrivateKey | str, algorithm: str = "RS256", kid: str | None = "rsa", **changes: Any) -> str:
    """A token signed by `key`, also where no library would sign such claims."""
    payload = {
        name: int(value.timestamp()) if isinstance(value, datetime) else value
        for name, value in claims(**changes).items()
    }
    headers = {} if kid is None else {"kid": kid}
    return jwt.PyJWS().encode(json.dumps(payload).encode(), key, algorithm, headers)


class Served:
    """A JWKS and how often it was fetched."""

    def __init__(self) -> None:
        self.keys: list[dict[str, Any]] = []
        self.fetches = 0
        self.status = 200
        self.url = ""


@contextmanager
def jwks_server() -> Iterator[Served]:
    """A server on loopback that answers the keys of what it yields."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.fetches += 1
            body = json.dumps({"keys": served.keys}).encode()
            self.send_response(served.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/jwks"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()
