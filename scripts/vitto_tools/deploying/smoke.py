"""Whether what was deployed works, asked at its front door: its health, and a memory remembered, recalled and forgotten."""

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import requests

from vitto_tools.deploying.errors import DeployFailed
from vitto_tools.deploying.invoking import Invoker, follow

ORGANIZATION = "vitto-smoke-test"
"""An organization of its own: its key opens no other, and its readers see nothing of it."""
TIMEOUT_SECONDS = 35  # the gateway gives up after 29
TRIES = 5
PAUSE_SECONDS = 3.0
_OK = (200, 201)
Say = Callable[[str], None]


def health(url: str, say: Say, wait: Callable[[float], None] = time.sleep) -> None:
    """Ask `/health` until it answers well, a few times: a fresh gateway takes a moment. DeployFailed with what it said."""
    said = ""
    for number in range(TRIES):
        if number:
            wait(PAUSE_SECONDS)
        try:
            reply = requests.get(f"{url.rstrip('/')}/health", timeout=TIMEOUT_SECONDS)
        except requests.RequestException as error:
            said = type(error).__name__
            continue
        said = f"HTTP {reply.status_code} {reply.text[:500]}"
        if reply.status_code in _OK:
            stores = reply.json()["stores"]
            say("health: " + ", ".join(f"{name} {'up' if one['up'] else 'DOWN'}" for name, one in stores.items()))
            return
    raise DeployFailed(f"{url} is deployed and does not answer well: {said}")


def round_trip(url: str, invoker: Invoker, say: Say) -> None:
    """Remember, recall, purge, recall, with a key that is made for it and revoked again. DeployFailed names the step."""
    wanted = {"organization": ORGANIZATION, "user": "deploy", "role": ["admin"], "days": 1, "name": "smoke test"}
    (made,) = _last(invoker, "keys-create", wanted)["output"]
    try:
        _asked(_Caller(url, made["key"]))
    finally:
        _last(invoker, "keys-revoke", {"organization": ORGANIZATION, "id": made["id"]})
    say("remembered, recalled and forgot a memory")


def _asked(caller: "_Caller") -> None:
    text = f"The smoke test {uuid4().hex[:12]} of this deployment was green"
    body = {"memories": [{"content": text}], "trusted": True}
    (receipt,) = caller.call("remember", "POST", "/engine/memories", body)["receipts"]
    if receipt["outcome"] != "stored":
        raise DeployFailed(f"smoke test: remember answered {receipt['outcome']}: {receipt.get('reason', '')}")
    if receipt["id"] not in caller.recalled(text):
        raise DeployFailed("smoke test: what was remembered is not recalled")
    caller.call("forget", "DELETE", f"/engine/memories/{receipt['id']}?purge=true")
    if receipt["id"] in caller.recalled(text):
        raise DeployFailed("smoke test: what was forgotten is recalled")


class _Caller:
    def __init__(self, url: str, key: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"}

    def call(self, step: str, method: str, path: str, body: Any = None) -> Any:
        try:
            reply = requests.request(
                method, self._url + path, json=body, headers=self._headers, timeout=TIMEOUT_SECONDS
            )
        except requests.RequestException as error:
            raise DeployFailed(f"smoke test: {step} got no answer ({type(error).__name__})") from error
        if reply.status_code not in _OK:
            raise DeployFailed(f"smoke test: {step} got HTTP {reply.status_code} {reply.text[:500]}")
        return reply.json()

    def recalled(self, query: str) -> list[str]:
        """The ids of the hits."""
        found = self.call("recall", "POST", "/engine/memories/recall", {"query": query})
        return [hit["memory"]["id"] for hit in found["hits"]]


def _last(invoker: Invoker, command: str, arguments: dict[str, Any]) -> dict[str, Any]:
    *_, answer = follow(invoker, command, arguments)
    return answer
