"""What a command acts on: the HTTP API of a running product, or its stores by their own credentials."""

import hashlib
import os
import time
from typing import Any, NoReturn
from urllib.parse import quote

import requests
import typer

from chalicelib.bootstrap import Container, build_ports, settings_of
from chalicelib.errors import Misconfigured
from chalicelib.settings import Settings
from vitto_tools.local.home import local_environment, read_serve_file

TIMEOUT_SECONDS = 120
ATTEMPTS, LONGEST_WAIT = 40, 30  # a killed run's last request may still be worked on when the next one begins
_FIRST_ERROR = 400


class Api:
    """The HTTP API of one product, as one caller; `identity` tells one such from another."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self.identity = hashlib.sha256(f"{self._url} {key}".encode()).hexdigest()[:16]
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {key}"

    def call(self, method: str, path: str, *, headers: dict[str, str] | None = None, **options: Any) -> Any:
        """The JSON answer. A failure ends the command with what the API said; a request with an Idempotency-Key is repeated
        for a while where the API says when to come again."""
        left = ATTEMPTS if headers and "Idempotency-Key" in headers else 1
        while (reply := self._asked(method, path, headers=headers, **options)).status_code >= _FIRST_ERROR:
            left -= 1
            wait = reply.headers.get("Retry-After", "")
            if not left or not wait.isdecimal():
                fail(_told(reply))
            time.sleep(min(int(wait), LONGEST_WAIT))
        return reply.json()

    def _asked(self, method: str, path: str, **options: Any) -> requests.Response:
        try:
            return self._session.request(method, self._url + path, timeout=TIMEOUT_SECONDS, **options)
        except requests.RequestException as error:
            fail(f"{self._url} does not answer ({type(error).__name__}); is scripts/serve running?")


def _told(reply: requests.Response) -> str:
    try:
        error = reply.json()["error"]
    except (ValueError, KeyError, TypeError):
        return f"HTTP {reply.status_code}"
    return f"HTTP {reply.status_code} {error['code']}: {error['message']}"


def api() -> Api:
    """The API of VITTO_URL and VITTO_API_KEY, or of the running scripts/serve."""
    said = read_serve_file() or {}
    url = os.environ.get("VITTO_URL") or said.get("url")
    key = os.environ.get("VITTO_API_KEY") or (said.get("apiKey") if url == said.get("url") else None)
    if not url or not key:
        fail("nothing to talk to: start scripts/serve, or set VITTO_URL and VITTO_API_KEY")
    return Api(url, key)


def settings() -> Settings:
    """The settings of the environment; what it leaves out is the running scripts/serve's."""
    environment = dict(os.environ)
    if "VITTO_MONGO_URI" not in environment and (said := read_serve_file()):
        environment = local_environment(said) | environment
    return settings_of(environment)


def services() -> Container:
    """The services over the stores that the settings name."""
    try:
        found = settings()
        return Container(found, build_ports(found))
    except Misconfigured as error:
        fail(f"{error.message}; set it, or start scripts/serve")


def fail(message: str) -> NoReturn:
    """End the command with a message on stderr and exit code 1."""
    typer.secho(message, err=True, fg=typer.colors.RED)
    raise typer.Exit(1)


def path_part(value: str) -> str:
    """An id as part of a path."""
    return quote(value, safe="")
