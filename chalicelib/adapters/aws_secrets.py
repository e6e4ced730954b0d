"""Settings by reference: a variable that carries a secret may name where the secret is kept, instead of holding it.

    secretsmanager:NAME        the text of a secret (a name or an ARN)
    secretsmanager:NAME#key    the string under a key of a secret that is a JSON object
    ssm:/path                  a parameter, decrypted

boto3, which Lambda's runtime has, is imported where there is a reference, and not before.
"""

import functools
import json
from collections.abc import Collection, Mapping
from typing import Any

from chalicelib.errors import Misconfigured

_SECRET, _PARAMETER = "secretsmanager:", "ssm:"
_PREFIX = "VITTO_"
_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 2, 3, 3  # a cold start waits for it


def with_secrets(environment: Mapping[str, str], secret: Collection[str]) -> dict[str, str]:
    """`environment` with every reference in a variable of `secret` replaced by what it refers to.

    Misconfigured names the variable and no value: the secret cannot be had, or a variable that carries none has a reference.
    """
    return {name: _resolved(name, value, secret) for name, value in environment.items()}


def _resolved(name: str, value: str, secret: Collection[str]) -> str:
    if not (name.startswith(_PREFIX) and value.startswith((_SECRET, _PARAMETER))):
        return value
    if name not in secret:
        raise Misconfigured(f"{name}: carries no secret, so it takes a value and no reference")
    return _secret(name, value) if value.startswith(_SECRET) else _parameter(name, value)


def _secret(variable: str, reference: str) -> str:
    name, _, key = reference.removeprefix(_SECRET).partition("#")
    text = _fetched(variable, name, lambda: _providers()[0].get(name))
    if not key:
        return text
    try:
        held = json.loads(text)
    except ValueError:
        raise Misconfigured(f"{variable}: the secret is not the JSON object that a key is looked up in") from None
    value = held.get(key) if isinstance(held, dict) else None
    if not (isinstance(value, str) and value):
        raise Misconfigured(f"{variable}: the secret has no text under that key")
    return value


def _parameter(variable: str, reference: str) -> str:
    path = reference.removeprefix(_PARAMETER)
    return _fetched(variable, path, lambda: _providers()[1].get(path, decrypt=True))


def _fetched(variable: str, name: str, fetch: Any) -> str:
    if not name:
        raise Misconfigured(f"{variable}: the reference names nothing")
    try:
        value = fetch()
    except ImportError as error:
        raise Misconfigured(f"{variable}: is a reference, and {error.name} is not installed to follow it") from None
    except Exception as error:  # noqa: BLE001 - boto3's errors, of which there are many, wrapped by the client library
        raise Misconfigured(f"{variable}: what it refers to could not be read: {_cause(error)}") from None
    if not (isinstance(value, str) and value):
        raise Misconfigured(f"{variable}: what it refers to holds no text")
    return value


def _cause(error: Exception) -> str:
    """AWS's code of an error, such as AccessDeniedException; the kind of any other."""
    cause = error.__cause__ or error.__context__ or error
    response = getattr(cause, "response", {})
    return str(response.get("Error", {}).get("Code") or type(cause).__name__)


@functools.cache
def _providers() -> tuple[Any, Any]:
    from aws_lambda_powertools.utilities.parameters import SecretsProvider, SSMProvider  # noqa: PLC0415 - see the module
    from botocore.config import Config  # noqa: PLC0415 - see the module

    config = Config(
        connect_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS, retries={"total_max_attempts": _ATTEMPTS}
    )
    return SecretsProvider(boto_config=config), SSMProvider(boto_config=config)
